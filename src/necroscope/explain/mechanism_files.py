"""The hypotheses in force on this node: ours, and those of users' TOML files (docs/add-a-mechanism.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from necroscope.diagnose.hypotheses import Catalogue, Warned, catalogue

DEFAULT = (Path("/etc/necroscope/mechanisms.d"),)
_FILE_BYTES = 1 << 20


def hypotheses_of(folders: Sequence[Path] = DEFAULT) -> Catalogue:
    """Ours, then those of each folder's `*.toml` files by name. What cannot be read is a warning of the catalogue."""
    files: list[tuple[str, bytes]] = []
    unread: list[Warned] = []
    for folder in folders:
        try:
            paths = sorted(path for path in folder.glob("*.toml") if path.is_file()) if folder.is_dir() else []
        except OSError as error:
            unread.append(Warned(str(folder), f"cannot be read: {error.strerror}", "make it readable"))
            continue
        _read(paths, files, unread)
    return catalogue(files, unread)


def _read(paths: Iterable[Path], files: list[tuple[str, bytes]], unread: list[Warned]) -> None:
    for path in paths:
        try:
            with path.open("rb") as file:
                data = file.read(_FILE_BYTES + 1)
        except OSError as error:
            unread.append(Warned(str(path), f"cannot be read: {error.strerror}", "make it readable"))
            continue
        if len(data) > _FILE_BYTES:
            unread.append(Warned(str(path), f"is larger than {_FILE_BYTES:,} bytes", "split it"))
        else:
            files.append((str(path), data))
