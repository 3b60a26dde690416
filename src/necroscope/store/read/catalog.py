"""What a store consists of, known by names alone: no file is opened to know which times it holds.

    STORE/format.json                                       {"store": "necroscope", "version": 3}
    STORE/lock                                              who writes
    STORE/segments/FROM-TO-FIRST-LAST-CHECK/TABLE.parquet   sealed; FROM and TO are UTC nanoseconds, inclusive
    STORE/journal/NUMBER.journal                            not yet sealed
    STORE/rollups/FROM-TO-FIRST-LAST-CHECK/TABLE.parquet    made from segments, see `rollups.py`
    STORE/aside/                                            what is damaged or does not belong there, see `aside.py`

CHECK stands for the manifest (`manifest.py`); names of format version 1 have none. Journals are numbered; a segment
names the journals that went into it, FIRST to LAST. So a journal whose number a segment holds is ignored, and so is a
segment whose numbers a larger one holds (it was merged). Names that begin with a dot are work in progress. Entries
appear and disappear whole, and what replaces an entry appears before it disappears.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from necroscope.errors import BadInput, Unavailable
from necroscope.store.format.journal import SUFFIX
from necroscope.store.format.tables import FORMAT_VERSION
from necroscope.store.private_files import make_folder, write_synced
from necroscope.store.regular_file import read_regular
from necroscope.vocabulary import event

Window = event.Window

_NAME = re.compile(r"([0-9]{19})-([0-9]{19})-([0-9]{8,15})-([0-9]{8,15})(?:-([0-9a-f]{8}))?")
_JOURNAL = re.compile(r"([0-9]{8,15})" + re.escape(SUFFIX))
_LAST_NS = (1 << 63) - 1
_TRIES = 8
_FORMAT_BYTES = 1 << 16
_NO_FILE = (errno.EINVAL, errno.ELOOP, errno.EISDIR)


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """A sealed segment: the journals `first` to `last`, with rows from `from_ns` to `to_ns`."""

    first: int
    last: int
    from_ns: int
    to_ns: int
    path: Path

    @property
    def check(self) -> int | None:
        """Checksum of the manifest; None for one that was sealed before there were manifests."""
        match = _NAME.fullmatch(self.path.name)
        return int(match[5], 16) if match and match[5] else None

    def file(self, table: str) -> Path:
        """Where a table's rows are; a table without rows has no file."""
        return self.path / f"{table}.parquet"

    def overlaps(self, window: Window | None) -> bool:
        """True when the segment may have rows of the window."""
        return window is None or (self.from_ns <= window[1] and self.to_ns >= window[0])

    def holds(self, other: Segment) -> bool:
        """True when the other's rows are all in this one."""
        return self.first <= other.first and other.last <= self.last and self.path != other.path


def segment_name(from_ns: int, to_ns: int, first: int, last: int, check: str = "") -> str:
    """The name of a segment's folder. `check`: what `manifest.write_manifest` says."""
    name = f"{max(0, from_ns):019d}-{max(0, to_ns):019d}-{first:08d}-{last:08d}"
    return f"{name}-{check}" if check else name


def parse_segment(path: Path) -> Segment | None:
    """The segment of a folder; None for whatever else lies around."""
    return _parsed(path.parent, path.name)


@lru_cache(maxsize=1 << 16)
def _parsed(folder: Path, name: str) -> Segment | None:
    """Kept, as whoever looks at windows lists the same thousands of names for each."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    from_ns, to_ns, first, last = map(int, match.groups()[:4])
    if max(from_ns, to_ns) > _LAST_NS:
        return None
    return Segment(first, last, from_ns, to_ns, folder / name)


def all_segments(store: Path) -> list[Segment]:
    """Every segment on disk by number, merged ones too."""
    return entries_by_number(store / "segments")


def entries_by_number(folder: Path) -> list[Segment]:
    """What has a segment's name in a folder, by number."""
    found = (_parsed(folder, name) for name, is_folder in _entries(folder) if is_folder)
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
    folder = store / "journal"
    found = ((journal_number(name), folder / name) for name, is_folder in _entries(folder) if not is_folder)
    return dict(sorted((number, path) for number, path in found if number is not None))


def journal_number(name: str) -> int | None:
    """The number of a journal by its name; None for what is no name of one. Each number has one name."""
    match = _JOURNAL.fullmatch(name)
    return int(match[1]) if match and f"{int(match[1]):08d}" == match[1] else None


def check_format(store: Path) -> None:
    """Refuse what is no store, and a store of a later version."""
    try:
        found = json.loads(read_regular(store / "format.json", _FORMAT_BYTES))
        version = found["version"]
        ours = found.get("store") == "necroscope" or _later(version)
    except FileNotFoundError as error:
        raise BadInput(f"{store} is no store.", "give --store a folder that `necroscope record` wrote") from error
    except NotADirectoryError as error:
        raise _no_folder(store) from error
    except OSError as error:
        if error.errno in _NO_FILE and os.path.lexists(store / "format.json"):
            raise BadInput(f"{store}/format.json is no file.", "the store is damaged, or is none") from error
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
    from necroscope.store.bundle.archive import looks_packed

    if looks_packed(path):
        return BadInput(f"{path} is a bundle, no store.", f"read it with `--bundle {path}`")
    return BadInput(f"{path} is no store: it is no folder.", "give --store a folder that `necroscope record` wrote")


def create(store: Path) -> None:
    """Make the folders of a store where there are none; refuse what `check_format` refuses.

    A store of an earlier version becomes one of this version: earlier programs would not see what is added now.
    """
    for folder in (store, store / "segments", store / "journal"):
        make_folder(folder)
    try:
        check_format(store)
    except BadInput:
        if os.path.lexists(store / "format.json"):
            raise
    else:
        if version_of(store) == FORMAT_VERSION:
            return
    temporary = store / ".format.json"
    write_synced(temporary, json.dumps({"store": "necroscope", "version": FORMAT_VERSION}).encode() + b"\n")
    temporary.rename(store / "format.json")
    sync_path(store)


def version_of(store: Path) -> int:
    """The format version of a store that `check_format` took."""
    version: int = json.loads(read_regular(store / "format.json", _FORMAT_BYTES))["version"]
    return version


def sync_path(path: Path) -> None:
    """Make a file, or the entries of a folder, survive the machine."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _entries(folder: Path) -> list[tuple[str, bool]]:
    """Names, and whether each is a folder; links are none."""
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unavailable(f"{folder} cannot be read: {error.strerror}", "run as root") from error


def _has_hole(found: list[Segment]) -> bool:
    return any(after.first != before.last + 1 for before, after in pairwise(found))
