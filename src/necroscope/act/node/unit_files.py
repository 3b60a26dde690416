"""What lies on disk of a unit: its files and drop-ins, and the links that enable it, in the folders of systemd."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

FOLDERS = ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system")
"""Where unit files are, those that win first."""
ENABLING = ("/etc/systemd/system", "/run/systemd/system")
"""Where links that enable units are made and removed."""
_WANTS = (".wants", ".requires", ".upholds")
_BYTES_MOST = 1 << 20


def unit_files(root: str, names: Sequence[str]) -> dict[str, bytes]:
    """Paths and bytes of the files and drop-ins of these names, with none of other units'."""
    found: dict[str, bytes] = {}
    for folder in FOLDERS:
        for name in names:
            found.update(_read(root, f"{folder}/{name}"))
            for drop_in in sorted(_names(f"{root}{folder}/{name}.d")):
                if drop_in.endswith(".conf"):
                    found.update(_read(root, f"{folder}/{name}.d/{drop_in}"))
    return found


def enabling_links(root: str, names: Sequence[str]) -> list[str]:
    """Links to these names in `*.wants` and the like, and aliases of their files, that a person or preset has made."""
    return sorted({*_wanting(root, names), *_aliases(root, names)})


def _wanting(root: str, names: Sequence[str]) -> Iterator[str]:
    for folder in ENABLING:
        for below in _names(f"{root}{folder}"):
            if below.endswith(_WANTS):
                for name in names:
                    if Path(f"{root}{folder}/{below}/{name}").is_symlink():
                        yield f"{folder}/{below}/{name}"


def _aliases(root: str, names: Sequence[str]) -> Iterator[str]:
    """Links from one name to the file of another of them; a link to a file elsewhere is the unit itself."""
    for folder in ENABLING:
        for name in names:
            path = Path(f"{root}{folder}/{name}")
            if path.is_symlink() and path.readlink().name in {*names} - {name}:
                yield f"{folder}/{name}"


def _read(root: str, path: str) -> Iterator[tuple[str, bytes]]:
    whole = Path(f"{root}{path}")
    try:
        if whole.is_symlink():
            yield path, b"-> " + os.fsencode(whole.readlink())
        elif whole.is_file():
            with whole.open("rb") as file:
                yield path, file.read(_BYTES_MOST)
    except OSError:
        yield path, b"<unreadable>"


def _names(folder: str) -> list[str]:
    try:
        return sorted(path.name for path in Path(folder).iterdir())
    except OSError:
        return []
