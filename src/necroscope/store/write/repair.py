"""A store made fit to be written, whatever lies in its folder: what is in the way is set aside, and reported.

Nothing on disk stops a recorder: not a file where a folder should be, nor a stray name, nor a format file that cannot
be read, nor a recording of a later version, which is set aside as a whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from necroscope.errors import BadInput
from necroscope.store.format.tables import FORMAT_VERSION
from necroscope.store.private_files import make_folder
from necroscope.store.read.catalog import check_format, create, journal_number, parse_segment
from necroscope.store.regular_file import is_regular, read_regular
from necroscope.store.write.set_aside import FOLDER, set_aside

_FOLDERS = ("segments", "journal", "rollups", "inbox", "imported")
_KEPT = ("lost+found",)
_RECORDING = ("segments", "rollups", "journal", "imported", "format.json")


def make_fit(store: Path, at_any_cost: bool = False) -> list[str]:
    """Make the folders of a store and its format file; what was set aside for that, as sentences.

    `BadInput` for a store of a later version or of another program; `at_any_cost`, a later one is set aside. OSError.
    """
    make_folder(store)
    notes = []
    if os.path.lexists(store / FOLDER) and not (store / FOLDER).is_dir():
        (store / FOLDER).rename(store / f"{FOLDER}.file")
        notes.append(f"{FOLDER} was renamed to {FOLDER}.file: it is no folder")
    for name in _FOLDERS:
        if os.path.lexists(store / name) and not (store / name).is_dir():
            notes.append(_moved(store, store / name, "it is no folder"))
    if os.path.lexists(store / "lock") and not is_regular(store / "lock"):
        notes.append(_moved(store, store / "lock", "it is no file"))
    notes += _fit_format(store, at_any_cost)
    create(store)
    return notes


def strays(store: Path) -> list[str]:
    """Set aside what lies among segments, roll-ups and journals and is none; what it was, as sentences."""
    notes = []
    for path, why in [
        *_stray_segments(store / "segments"),
        *_stray_segments(store / "rollups"),
        *_stray_journals(store),
    ]:
        with suppress(OSError):
            notes.append(_moved(store, path, why))
    return notes


def _fit_format(store: Path, at_any_cost: bool) -> Iterator[str]:
    path = store / "format.json"
    if not os.path.lexists(path):
        return
    try:
        check_format(store)
    except BadInput:
        version = _said(path)
        if isinstance(version, int) and version > FORMAT_VERSION:
            if not at_any_cost:
                raise
            for name in _RECORDING:
                if os.path.lexists(store / name):
                    yield _moved(store, store / name, f"it has format version {version}, which is later than ours")
        elif _foreign(path):
            raise
        else:
            yield _moved(store, path, "it cannot be read")


def _said(path: Path) -> object:
    """The version that a format file names, or None."""
    try:
        return json.loads(read_regular(path, 1 << 16))["version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _foreign(path: Path) -> bool:
    """Whether the folder is another program's, which says so."""
    try:
        other = json.loads(read_regular(path, 1 << 16))["store"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return isinstance(other, str) and other != "necroscope"


def _stray_segments(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in _listed(folder):
        segment = parse_segment(path)
        if segment is None:
            yield path, "it has no segment's name"
        elif path.is_symlink() or not path.is_dir():
            yield path, "it is no folder"
        elif segment.check is None and not any(path.iterdir()):
            yield path, "it is empty"


def _stray_journals(store: Path) -> Iterator[tuple[Path, str]]:
    for path in _listed(store / "journal"):
        if journal_number(path.name) is None:
            yield path, "it has no journal's name"
        elif not is_regular(path):
            yield path, "it is no file"


def _listed(folder: Path) -> list[Path]:
    """What is not work in progress."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith(".") and path.name not in _KEPT)
    except OSError:
        return []


def _moved(store: Path, path: Path, why: str) -> str:
    place = set_aside(store, path)
    return f"{path.relative_to(store)} was set aside as {place.relative_to(store)}: {why}"
