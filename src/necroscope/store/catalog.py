"""What a store consists of, told by names alone: no file is opened to know which times it holds.

    STORE/format.json                                       {"store": "necroscope", "version": 1}
    STORE/lock                                              who writes
    STORE/segments/FROM-TO-FIRST-LAST/TABLE.parquet         sealed; FROM and TO are UTC nanoseconds, inclusive
    STORE/journal/NUMBER.journal                            not yet sealed
    STORE/rollups/FROM-TO-FIRST-LAST/TABLE.parquet          made from segments, see `rollups.py`

Journals are numbered; a segment names the journals that went into it, FIRST to LAST. So a journal whose number a
segment holds is ignored, and so is a segment whose numbers a larger one holds (it was merged). Names that begin with a
dot are work in progress. Entries appear and disappear whole, and what replaces an entry appears before it disappears.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from necroscope.errors import BadInput, Unavailable
from necroscope.store.journal import SUFFIX
from necroscope.store.tables import FORMAT_VERSION

Window = tuple[int, int]
"""From and to, UTC nanoseconds, both inclusive."""

_NAME = re.compile(r"(\d{19,20})-(\d{19,20})-(\d{8,})-(\d{8,})")
_TRIES = 8


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """A sealed segment: the journals `first` to `last`, with rows from `from_ns` to `to_ns`."""

    first: int
    last: int
    from_ns: int
    to_ns: int
    path: Path

    def file(self, table: str) -> Path:
        """Where a table's rows are; a table without rows has no file."""
        return self.path / f"{table}.parquet"

    def overlaps(self, window: Window | None) -> bool:
        """True when the segment may have rows of the window."""
        return window is None or (self.from_ns <= window[1] and self.to_ns >= window[0])

    def holds(self, other: Segment) -> bool:
        """True when the other's rows are all in this one."""
        return self.first <= other.first and other.last <= self.last and self.path != other.path


def segment_name(from_ns: int, to_ns: int, first: int, last: int) -> str:
    """The name of a segment's folder."""
    return f"{max(0, from_ns):019d}-{max(0, to_ns):019d}-{first:08d}-{last:08d}"


def parse_segment(path: Path) -> Segment | None:
    """The segment of a folder; None for whatever else lies around."""
    return _parsed(path.parent, path.name)


@lru_cache(maxsize=1 << 16)
def _parsed(folder: Path, name: str) -> Segment | None:
    """Kept, as whoever looks at windows lists the same thousands of names for each."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    from_ns, to_ns, first, last = map(int, match.groups())
    return Segment(first, last, from_ns, to_ns, folder / name)


def all_segments(store: Path) -> list[Segment]:
    """Every segment on disk by number, merged ones too."""
    return entries_by_number(store / "segments")


def entries_by_number(folder: Path) -> list[Segment]:
    """What has a segment's name in a folder, by number."""
    found = (_parsed(folder, name) for name in _names(folder))
    # By a key: thousands are compared for every question.
    return sorted((one for one in found if one is not None), key=lambda one: (one.first, one.last, one.from_ns))


def segments(store: Path) -> list[Segment]:
    """The segments that count, by number.

    A folder that changes while it is listed may show neither a merged segment nor its parts. That would leave a
    hole in the numbers; so would retention, which may. A hole is believed when it is seen twice.
    """
    seen = current(all_segments(store))
    for _ in range(_TRIES):
        if not _has_hole(seen):
            return seen
        again = current(all_segments(store))
        if again == seen:
            return seen
        seen = again
    return seen


def current(found: Iterable[Segment]) -> list[Segment]:
    """Without those that were merged into another. Expects them by number."""
    kept: list[Segment] = []
    for segment in sorted(found, key=lambda one: (one.first, -one.last, one.from_ns, one.to_ns)):
        if not kept or not kept[-1].holds(segment):
            kept.append(segment)
    return kept


def journals(store: Path) -> dict[int, Path]:
    """Journals by number, sealed or not."""
    paths = (path for path in _entries(store / "journal") if path.name.endswith(SUFFIX))
    return dict(sorted((int(path.stem), path) for path in paths if path.stem.isdigit()))


def check_format(store: Path) -> None:
    """Refuse what is no store, and a store of a later version."""
    try:
        found = json.loads((store / "format.json").read_bytes())
        version = found["version"]
        ours = found.get("store") == "necroscope" or _later(version)
    except FileNotFoundError as error:
        raise BadInput(f"{store} is no store.", "give --store a folder that `necroscope record` wrote") from error
    except NotADirectoryError as error:
        raise _no_folder(store) from error
    except OSError as error:
        raise Unavailable(f"{store} cannot be read: {error.strerror}", "run as root") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"{store}/format.json cannot be read.", "the store is damaged, or is none") from error
    if not ours or not isinstance(version, int) or version < 1:
        raise BadInput(f"{store}/format.json names no version.", "the store is damaged, or is none")
    if _later(version):
        raise BadInput(
            f"{store} has format version {version}; this program reads up to {FORMAT_VERSION}.",
            "use a newer necroscope",
        )


def _later(version: object) -> bool:
    """A later version says of itself what it likes; this field stays."""
    return isinstance(version, int) and version > FORMAT_VERSION


def _no_folder(path: Path) -> BadInput:
    from necroscope.store.bundle import looks_packed

    if looks_packed(path):
        return BadInput(f"{path} is a bundle, no store.", f"read it with `--bundle {path}`")
    return BadInput(f"{path} is no store: it is no folder.", "give --store a folder that `necroscope record` wrote")


def create(store: Path) -> None:
    """Make the folders of a store where there are none; refuse what `check_format` refuses."""
    for folder in (store, store / "segments", store / "journal"):
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)
    if not (store / "format.json").exists():
        temporary = store / ".format.json"
        temporary.write_text(json.dumps({"store": "necroscope", "version": FORMAT_VERSION}) + "\n")
        sync_path(temporary)
        temporary.rename(store / "format.json")
        sync_path(store)
    check_format(store)


def sync_path(path: Path) -> None:
    """Make a file, or the entries of a folder, survive the machine."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _entries(folder: Path) -> list[Path]:
    return [folder / name for name in _names(folder)]


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unavailable(f"{folder} cannot be read: {error.strerror}", "run as root") from error


def _has_hole(found: list[Segment]) -> bool:
    return any(after.first != before.last + 1 for before, after in pairwise(found))
