"""Files that users put into a folder of ours to extend a catalogue: all of them that can be read, and what cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FILE_BYTES = 1 << 20


@dataclass(slots=True)
class OwnFiles:
    """Name and bytes of each file in their order; `unread` are where, what is wrong and a hint."""

    files: list[tuple[str, bytes]] = field(default_factory=list)
    unread: list[tuple[str, str, str]] = field(default_factory=list)


def own_files(folders: Sequence[Path]) -> OwnFiles:
    """The `*.toml` files of each folder by name, at most 1 MiB each. A folder that is not there is no fault."""
    found = OwnFiles()
    for folder in folders:
        try:
            paths = sorted(path for path in folder.glob("*.toml") if path.is_file()) if folder.is_dir() else []
        except OSError as error:
            found.unread.append((str(folder), f"cannot be read: {error.strerror}", "make it readable"))
            continue
        _read(paths, found)
    return found


def _read(paths: Iterable[Path], found: OwnFiles) -> None:
    for path in paths:
        try:
            with path.open("rb") as file:
                data = file.read(FILE_BYTES + 1)
        except OSError as error:
            found.unread.append((str(path), f"cannot be read: {error.strerror}", "make it readable"))
            continue
        if len(data) > FILE_BYTES:
            found.unread.append((str(path), f"is larger than {FILE_BYTES:,} bytes", "split it"))
        else:
            found.files.append((str(path), data))
