"""What goes when there is no more room or it is too old: the oldest first, windows around symptoms last.

Whichever limit bites first: bytes (a share of the filesystem, at most a fixed number), age, or a filesystem that
others fill. It runs after every seal, so before the disk is full. Age takes everything; for room, segments
within a few minutes of a symptom are the last to go. Age is counted back from the newest row, not from
now: a recording that is imported, or looked at a year later, is as young as it was. Nor from later than now, as
the keeper of the store knows it: rows of a clock that ran ahead do not make the others old.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from necroscope.clock import NS
from necroscope.store.format.sealed_file import UNREADABLE
from necroscope.store.format.segment import read_table
from necroscope.store.format.tables import SYMPTOM_SOURCES
from necroscope.store.read.catalog import Segment
from necroscope.store.write.set_aside import Part

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Retention:
    """How much a store may hold. `max_bytes` None: `share` of the filesystem, at most `most_bytes`.

    When the filesystem has less than `free_bytes` left, the store shrinks to make room, but not below `least_bytes`.
    """

    max_bytes: int | None = None
    share: float = 0.10
    most_bytes: int = 20 * GIB
    max_age_s: float = 7 * 86_400.0
    free_bytes: int = GIB // 2
    least_bytes: int = 64 << 20
    before_symptom_s: float = 300.0
    after_symptom_s: float = 60.0

    def limit_bytes(self, disk: Disk) -> int:
        """What the store may take on this filesystem."""
        if self.max_bytes is not None:
            return self.max_bytes
        return min(int(self.share * disk.total_bytes), self.most_bytes)


@dataclass(frozen=True, slots=True)
class Disk:
    """A filesystem's size and what is left of it for this process."""

    total_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A segment with what it takes, and whether a symptom is near."""

    segment: Segment
    bytes: int
    near_symptom: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """A segment that has to go, and why."""

    segment: Segment
    bytes: int
    why: str


OLD = "they were too old"
STORE_FULL = "the store was full"
DISK_CROWDED = "the disk had little room left"
DISK_FULL = "the disk was full"


def disk_of(folder: Path) -> Disk:
    """The filesystem of a folder."""
    found = os.statvfs(folder)
    return Disk(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)


def to_remove(kept: Sequence[Kept], rules: Retention, disk: Disk, now_ns: int, others_bytes: int = 0) -> list[Removal]:
    """Segments that have to go, in the order in which they should. `others_bytes`: what else lies in the store."""
    newest_ns = max((one.segment.to_ns for one in kept), default=0)
    oldest_ns = min(now_ns, newest_ns) - int(rules.max_age_s * NS)
    going = [Removal(one.segment, one.bytes, OLD) for one in kept if one.segment.to_ns < oldest_ns]
    staying = sorted(
        (one for one in kept if one.segment.to_ns >= oldest_ns), key=lambda one: (one.near_symptom, one.segment)
    )
    held = sum(one.bytes for one in staying) + others_bytes
    freed = sum(one.bytes for one in going)
    for one in staying:
        full = held > rules.limit_bytes(disk)
        crowded = disk.free_bytes + freed < rules.free_bytes and held > rules.least_bytes
        if not full and not crowded:
            break
        going.append(Removal(one.segment, one.bytes, STORE_FULL if full else DISK_CROWDED))
        held -= one.bytes
        freed += one.bytes
    return going


def aside_to_remove(parts: Sequence[Part], rules: Retention, disk: Disk, now_ns: int) -> list[Part]:
    """What was set aside and has to go: what is too old, and of more than half of the store, the oldest."""
    oldest_ns = now_ns - int(rules.max_age_s * NS)
    held = sum(one.bytes for one in parts)
    going = []
    for one in parts:
        if one.since_ns < oldest_ns or held > rules.limit_bytes(disk) // 2:
            going.append(one)
            held -= one.bytes
    return going


def symptom_times(segment: Segment) -> list[int]:
    """When a segment's symptoms were."""
    try:
        table = read_table(segment, "events", ["at_ns", "source"])
    except UNREADABLE:
        return []
    if table is None:
        return []
    rows = zip(table["at_ns"].to_pylist(), table["source"].to_pylist(), strict=True)
    return [at_ns for at_ns, source in rows if source in SYMPTOM_SOURCES]


def near_symptom(segment: Segment, times_ns: Iterable[int], rules: Retention) -> bool:
    """True when the segment holds what came shortly before or after one of the symptoms."""
    before, after = int(rules.before_symptom_s * NS), int(rules.after_symptom_s * NS)
    return any(segment.overlaps((at_ns - before, at_ns + after)) for at_ns in times_ns)


def hours_held(limit_bytes: int, rules: Retention, bytes_per_s: float) -> float:
    """For how many hours back the store will hold everything, at this rate."""
    by_age = rules.max_age_s / 3600
    return min(by_age, limit_bytes / bytes_per_s / 3600) if bytes_per_s > 0 else by_age
