"""What is damaged, or does not belong where it was: moved out of the way, and deleted by nobody but retention.

    STORE/aside/segments/NAME     a segment, as it lay in STORE; likewise rollups/ and journal/
    STORE/aside/store/NAME        what lay in STORE itself

Readers tell of segments that lie there, as their rows are missing from every answer.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from necroscope.store.private_files import make_folder
from necroscope.store.read.catalog import Segment, entries_by_number

FOLDER = "aside"
_MOST_NAMES = 1_000
_MOST_FILES = 50_000


@dataclass(frozen=True, slots=True)
class Part:
    """Something that was set aside: what it takes, and when it came."""

    path: Path
    bytes: int
    since_ns: int


def set_aside(store: Path, path: Path) -> Path:
    """Move something of a store out of the way; where it is now. Raises OSError."""
    inside = path.relative_to(store)
    place = store / FOLDER / (inside if len(inside.parts) > 1 else Path("store") / inside)
    make_folder(place.parent)
    names = (place if number == 0 else place.with_name(f"{place.name}.{number}") for number in range(_MOST_NAMES))
    free = next((name for name in names if not os.path.lexists(name)), place)
    path.rename(free)
    return free


def segments_aside(store: Path) -> list[Segment]:
    """The segments that were set aside, by number."""
    return entries_by_number(store / FOLDER / "segments")


def parts(store: Path) -> list[Part]:
    """Everything that was set aside, the oldest first."""
    found = []
    for kind in _names(store / FOLDER):
        for path in _names(kind) if kind.is_dir() and not kind.is_symlink() else [kind]:
            with suppress(OSError):
                found.append(Part(path, bytes_below(path), path.lstat().st_ctime_ns))
    return sorted(found, key=lambda one: one.since_ns)


def remove(part: Part) -> None:
    """Delete it for good."""
    if part.path.is_dir() and not part.path.is_symlink():
        shutil.rmtree(part.path, ignore_errors=True)
    else:
        with suppress(OSError):
            part.path.unlink()


def bytes_below(path: Path) -> int:
    """What a file takes, or a folder with everything in it; links are not followed. Of very many files, the first."""
    total = 0
    for number, size in enumerate(_sizes(path)):
        if number >= _MOST_FILES:
            break
        total += size
    return total


def _sizes(path: Path) -> Iterator[int]:
    try:
        yield path.lstat().st_size
    except OSError:
        return
    if path.is_symlink():
        return
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                yield os.lstat(f"{folder}/{name}").st_size


def _names(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
