"""The writer's housekeeping: which segments there are and what they take, merging, retention, making room.

What is removed is recorded: one event for each round, however many segments it took.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from necroscope import clock
from necroscope.clock import NS
from necroscope.quantity import size
from necroscope.store.format.sealed_file import UNREADABLE, damage_of
from necroscope.store.format.segment import size_bytes
from necroscope.store.format.segment_numbers import held_by
from necroscope.store.read.catalog import Segment, all_segments, current
from necroscope.store.read.rollups import Roller, rollups
from necroscope.store.write import compaction
from necroscope.store.write.numbers_file import NumbersFile
from necroscope.store.write.repair import strays
from necroscope.store.write.retention import (
    DISK_FULL,
    OLD,
    Kept,
    Removal,
    Retention,
    aside_to_remove,
    disk_of,
    hours_held,
    near_symptom,
    symptom_times,
    to_remove,
)
from necroscope.store.write.set_aside import Part, bytes_below, parts, remove, set_aside
from necroscope.vocabulary.event import Event

# For how long what was merged stays, for those who were reading it.
GRACE_S = 30.0
_RATE_SEGMENTS = 8


class Housekeeper:
    """Knows the segments of a store and removes those that have to go. Only the store's writer may have one."""

    def __init__(self, store: Path, retention: Retention) -> None:
        self._store = store
        self._folder = store / "segments"
        self._retention = retention
        self._sizes: dict[Segment, int] = {}
        self._symptoms: dict[Segment, list[int]] = {}
        self._superseded: list[tuple[float, Segment]] = []
        self._alone: set[Segment] = set()
        self._gone: list[Removal] = []
        self._news: list[str] = []
        self._began = clock.now()
        self._numbers = NumbersFile(store)
        self._sweep()
        self._roller = Roller(store)

    @property
    def segments(self) -> list[Segment]:
        """Segments that count, by number."""
        return sorted(self._sizes)

    @property
    def highest(self) -> int:
        """The highest number that a segment had, also of those that somebody removed."""
        return max([self._numbers.highest, *(one.last for one in self._sizes)])

    @property
    def bytes(self) -> int:
        """What the segments take."""
        return sum(self._sizes.values())

    def look_again(self) -> None:
        """The store was replaced: forget what is known of it, and look what is there now."""
        self._superseded, self._symptoms, self._alone = [], {}, set()
        self._sweep()
        self._roller = Roller(self._store)

    def take_news(self) -> list[str]:
        """What was found damaged or set aside since the last call, as sentences."""
        news, self._news = self._news, []
        return news

    def added(self, segment: Segment) -> None:
        """A segment was sealed."""
        self._sizes[segment] = size_bytes(segment)

    def tidy(self, patient: bool = True) -> None:
        """Merge what is due, remove what has to go. Impatient, everything small is merged, and goes at once."""
        due = compaction.due if patient else compaction.due_at_the_end
        while parts := due([Kept(one, self._sizes[one]) for one in self.segments if one not in self._alone]):
            try:
                self._merge(parts)
            except UNREADABLE:
                self._leave_alone(parts)
        self._forget_superseded(GRACE_S if patient else 0.0)
        self._limit_aside()
        going = self._removals()
        if self._superseded and any(one.why != OLD for one in going):
            # Before anything that counts goes, what was merged does.
            self._forget_superseded(0.0)
            going = self._removals()
        self._let_go(going)
        self._numbers.write(self.segments)
        self._roller.tidy(self.segments)

    def take_back(self, names: Collection[str]) -> None:
        """Remove segments by name: what an import left that did not come to its end."""
        taken = [segment for segment in self.segments if segment.path.name in names]
        self._numbers.write(one for one in self.segments if one not in taken)
        for segment in taken:
            self._remove(segment)
        self._numbers.write(self.segments)
        self._roller.prune(self.segments)

    def make_room(self) -> bool:
        """The disk is full: remove what was merged, else the segment that may go first. False when there is none."""
        if self._superseded:
            self._forget_superseded(0.0)
            return True
        if aside := parts(self._store):
            self._remove_aside(aside[:1])
            return True
        kept = sorted(self._kept(symptoms=True), key=lambda one: (one.near_symptom, one.segment))
        if not kept:
            return False
        self._let_go([Removal(kept[0].segment, kept[0].bytes, DISK_FULL)])
        self._roller.prune(self.segments)
        return True

    def limit(self, retention: Retention) -> None:
        """Keep so much from now on; what is beyond it goes with the next segment."""
        self._retention = retention

    def unreported(self) -> tuple[list[Event], int]:
        """What was removed and is not reported yet, as one event; and how many segments it covers, for `reported`."""
        gone = self._gone
        # Not later than the rows that are left: an import of last year must not become old by this event.
        newest_ns = max((one.to_ns for one in (*self._sizes, *(one.segment for one in gone))), default=0)
        events = [_removal(gone, min(newest_ns, clock.now().realtime_ns))] if gone else []
        return events, len(gone)

    def reported(self, count: int) -> None:
        """The event about the first `count` removed segments is on the disk."""
        del self._gone[:count]

    def hours_left(self) -> float | None:
        """For how many hours back the store will hold everything at the rate of late; None: not known yet."""
        last = self.segments[-_RATE_SEGMENTS:]
        span_s = _recorded_ns(last) / NS
        if span_s <= 0:
            return None
        rate = sum(self._sizes[one] for one in last) / span_s
        return hours_held(self._retention.limit_bytes(disk_of(self._store)), self._retention, rate)

    def _sweep(self) -> None:
        """Leftovers of a writer that died: half a segment, and parts of a merged one. Strays are set aside."""
        for path in self._folder.glob(".*"):
            shutil.rmtree(path, ignore_errors=True)
        self._news += strays(self._store)
        found = all_segments(self._store)
        self._sizes = {segment: size_bytes(segment) for segment in self._counting(found)}
        self._news += self._numbers.begin(self.segments)
        self._numbers.write(self.segments)
        for segment in found:
            whole = next((one for one in self._sizes if one.holds(segment)), None)
            if whole is not None:
                self._superseded.append((clock.elapsed_s() - _age_s(whole), segment))

    def _counting(self, found: list[Segment]) -> list[Segment]:
        """Those that were not merged into another. One that says so and is damaged is set aside: its parts count."""
        counting = current(found)
        for one in counting:
            if any(one.holds(other) for other in found) and (bad := damage_of(one)):
                with suppress(OSError):
                    place = set_aside(self._store, one.path).relative_to(self._store)
                    self._news.append(f"{one.path.name} is damaged ({', '.join(bad)}), and was set aside as {place}")
                    return self._counting([other for other in found if other is not one])
        return counting

    def _leave_alone(self, segments: list[Segment]) -> None:
        """They could not be merged: those that somebody removed are missed, those that are damaged stay as they are;
        both are reported once; without any, there was no room, and all stay."""
        if gone := [one for one in segments if not one.path.exists()]:
            self._news += self._numbers.miss(held_by(gone))
            for one in gone:
                self._sizes.pop(one, None)
            return
        bad = [one for one in segments if damage_of(one)]
        self._alone.update(bad or segments)
        self._news += [self._damaged(one) for one in bad]

    def _damaged(self, segment: Segment) -> str:
        names = ", ".join(damage_of(segment))
        return f"{segment.path.relative_to(self._store)} is damaged and left as it is ({names}): `necroscope verify`"

    def _removals(self) -> list[Removal]:
        disk = disk_of(self._store)
        return to_remove(self._kept(), self._retention, disk, self._now_ns(), self._others_bytes())

    def _others_bytes(self) -> int:
        """What the store takes beside the segments that count."""
        superseded = sum(size_bytes(one) for _, one in self._superseded)
        rolled = sum(size_bytes(one) for one in rollups(self._store))
        rest = (path for path in self._store.iterdir() if path.name not in ("segments", "rollups"))
        return superseded + rolled + sum(bytes_below(path) for path in rest)

    def _limit_aside(self) -> None:
        self._remove_aside(aside_to_remove(parts(self._store), self._retention, disk_of(self._store), self._now_ns()))

    def _remove_aside(self, going: list[Part]) -> None:
        for one in going:
            remove(one)
            self._news.append(f"{one.path.relative_to(self._store)}, which was set aside, went ({size(one.bytes)})")

    def _merge(self, parts: list[Segment]) -> None:
        merged = compaction.merge(self._folder, parts)
        if merged is not None:
            self.added(merged)
        for part in parts:
            del self._sizes[part]
            self._superseded.append((clock.elapsed_s(), part))

    def _kept(self, symptoms: bool = False) -> list[Kept]:
        """Segments with their sizes; symptoms are looked up only when something has to go for room."""
        plain = [Kept(one, self._sizes[one]) for one in self.segments]
        disk = disk_of(self._store)
        going = to_remove(plain, self._retention, disk, self._now_ns(), self._others_bytes())
        if not going and not symptoms:
            return plain
        for one in self._sizes:
            if one not in self._symptoms:
                self._symptoms[one] = symptom_times(one)
        times = [at_ns for one in self._sizes for at_ns in self._symptoms[one]]
        return [Kept(one.segment, one.bytes, near_symptom(one.segment, times, self._retention)) for one in plain]

    def _forget_superseded(self, grace_s: float) -> None:
        now_s = clock.elapsed_s()
        due = [segment for since_s, segment in self._superseded if now_s - since_s >= grace_s]
        self._superseded = [one for one in self._superseded if one[1] not in due]
        for segment in due:
            self._remove(segment)

    def _let_go(self, going: list[Removal]) -> None:
        self._gone += going
        if gone := {one.segment for one in going}:
            self._numbers.forget(gone)
            self._numbers.write(one for one in self.segments if one not in gone)
        for one in going:
            self._remove(one.segment)

    def _now_ns(self) -> int:
        """Now, unless the wall clock was stepped forward since this keeper began: a step must not make rows old."""
        now = clock.now()
        passed_ns = now.boottime_ns - self._began.boottime_ns
        return min(now.realtime_ns, self._began.realtime_ns + passed_ns)

    def _remove(self, segment: Segment) -> None:
        """First out of sight, then gone: nobody finds half a segment."""
        self._sizes.pop(segment, None)
        self._symptoms.pop(segment, None)
        hidden = segment.path.with_name(f".gone-{segment.path.name}")
        with suppress(OSError):
            segment.path.rename(hidden)
            shutil.rmtree(hidden, ignore_errors=True)


def _age_s(segment: Segment) -> float:
    """For how long a segment has been there; 0 where a clock says nonsense."""
    try:
        return max(0.0, (clock.now().realtime_ns - segment.path.stat().st_mtime_ns) / NS)
    except OSError:
        return 0.0


def _removal(gone: list[Removal], at_ns: int) -> Event:
    from_ns, to_ns = min(one.segment.from_ns for one in gone), max(one.segment.to_ns for one in gone)
    why = " and ".join(dict.fromkeys(one.why for one in gone))
    held = size(sum(one.bytes for one in gone))
    return Event(
        at_ns, "retention", "recorder", "store", held, reason=why, from_ns=from_ns, to_ns=to_ns, count=len(gone)
    )


def _recorded_ns(segments: list[Segment]) -> int:
    """For how long segments were recorded. A line of the log may be much older than the recorder, and the recorder may
    have paused: neither the span of a segment nor the time since the one before is to be believed alone."""
    spans = [one.to_ns - one.from_ns for one in segments[:1]]
    spans += [min(after.to_ns - after.from_ns, abs(after.to_ns - before.to_ns)) for before, after in pairwise(segments)]
    return sum(spans)
