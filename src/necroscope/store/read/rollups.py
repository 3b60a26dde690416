"""Roll-ups over many segments, so that hours are looked at through tens of files and not through thousands.

    STORE/rollups/FROM-TO-FIRST-LAST-CHECK/core_peaks.parquet     the worst look of every ten seconds of each core
    STORE/rollups/FROM-TO-FIRST-LAST-CHECK/symptoms.parquet       the events that tell of trouble
    STORE/rollups/FROM-TO-FIRST-LAST-CHECK/tasks.parquet          samples by thread
    STORE/rollups/FROM-TO-FIRST-LAST-CHECK/flames.parquet         samples by thread name and stack, and stacks.parquet

Names mean what those of segments mean. Everything here can be made again from the segments, and whoever finds no
roll-up reads these. One counts while segments hold all its numbers: after some of them went it is passed over, then
removed. It appears whole: written under a name that begins with a dot, synced, renamed.
"""

from __future__ import annotations

import shutil
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from necroscope.clock import NS
from necroscope.store.format.sealed_file import UNREADABLE
from necroscope.store.format.segment import read_table, stage
from necroscope.store.format.tables import SYMPTOM_SOURCES
from necroscope.store.private_files import make_folder
from necroscope.store.read.catalog import Segment, entries_by_number, sync_path

# A quarter of an hour, less what a segment may be short of.
SPAN_NS = 870 * NS
# So that a recorder that finds hours without any does not stand still for them.
_AT_ONCE = 4
_FEW_ROWS = 1 << 20

Numbers = tuple[int, int]


def rollups(store: Path) -> list[Segment]:
    """Every roll-up on disk, by number."""
    return entries_by_number(store / "rollups")


def counting(found: Sequence[Segment], segments: Sequence[Segment]) -> list[Segment]:
    """The roll-ups whose numbers segments still hold. Expects both by number."""
    held = _stretches(segments)
    return [one for one in found if _within(one, held)]


def left_over(segments: Sequence[Segment], counted: Sequence[Segment]) -> list[Segment]:
    """The segments that no roll-up stands for."""
    rolled = _stretches(counted)
    return [one for one in segments if not _within(one, rolled)]


def exact(counted: Sequence[Segment], segments: Sequence[Segment]) -> list[Segment]:
    """The roll-ups that stand for whole segments: with `left_over`, nothing counts twice. Expects both by number."""
    firsts = [one.first for one in segments]
    found: list[Segment] = []
    for one in counted:
        low, high = bisect_left(firsts, one.first), bisect_right(firsts, one.last)
        ended = max(segments[low - 1].last if low else -1, found[-1].last if found else -1)
        if ended < one.first and all(part.last <= one.last for part in segments[low:high]):
            found.append(one)
    return found


def due(segments: Sequence[Segment], counted: Sequence[Segment]) -> list[Segment]:
    """The next neighbours to roll up, none when there is nothing to do. Expects segments by number."""
    run: list[Segment] = []
    for segment in left_over(segments, counted):
        if run and segment.first != run[-1].last + 1:
            run = []
        run.append(segment)
        if max(one.to_ns for one in run) - min(one.from_ns for one in run) >= SPAN_NS:
            return run
    return []


def roll_up(store: Path, parts: Sequence[Segment]) -> Segment | None:
    """Write the roll-up of segments that follow each other. Raises OSError."""
    folder = store / "rollups"
    make_folder(folder)
    span = min(one.from_ns for one in parts), max(one.to_ns for one in parts)
    what = Segment(parts[0].first, parts[-1].last, *span, folder)
    staged = stage(folder, ((name, table, _FEW_ROWS) for name, table in _tables(parts)), what)
    try:
        made = staged.publish()
        sync_path(folder)
    except OSError:
        shutil.rmtree(staged.hidden, ignore_errors=True)
        raise
    return made


class Roller:
    """Keeps the roll-ups of a store up with its segments. Only the store's writer may have one."""

    def __init__(self, store: Path) -> None:
        self._store = store
        for path in (store / "rollups").glob(".*"):
            shutil.rmtree(path, ignore_errors=True)
        self._found = rollups(store)
        self._alone: set[Segment] = set()

    def tidy(self, segments: Sequence[Segment], most: int = _AT_ONCE) -> None:
        """Remove those whose segments went, make those that are due, not too many at once."""
        self.prune(segments)
        for _ in range(most):
            parts = due([one for one in segments if one not in self._alone], self._found)
            if not parts:
                return
            try:
                made = roll_up(self._store, parts)
            except UNREADABLE:
                # No room, or one of them is damaged or gone: they are read as they are.
                self._alone.update(parts)
                continue
            self._found = sorted([*self._found, *([made] if made else [])])

    def prune(self, segments: Sequence[Segment]) -> None:
        """Remove those whose segments went."""
        kept = counting(self._found, segments)
        for one in self._found:
            if one not in kept:
                hidden = one.path.with_name(f".gone-{one.path.name}")
                with suppress(OSError):
                    one.path.rename(hidden)
                shutil.rmtree(hidden, ignore_errors=True)
        self._found = kept


def _tables(parts: Sequence[Segment]) -> Iterator[tuple[str, pa.Table]]:
    # Readers, who only ask which there are, should not wait for what makes them.
    from necroscope.store.read.core_peaks import COLUMNS, peaks
    from necroscope.store.read.sample_sums import sample_sums

    cores = [table for part in parts if (table := read_table(part, "cores", COLUMNS)) is not None]
    if cores:
        yield "core_peaks", peaks(cores)
    events = [table for part in parts if (table := read_table(part, "events")) is not None]
    symptoms = [rows for table in events if (rows := _symptoms(table)).num_rows]
    if symptoms:
        yield "symptoms", pa.concat_tables(symptoms).unify_dictionaries().combine_chunks()
    yield from sample_sums(parts).items()


def _symptoms(events: pa.Table) -> pa.Table:
    return events.filter(pa.array([source in SYMPTOM_SOURCES for source in events["source"].to_pylist()], pa.bool_()))


def _stretches(found: Sequence[Segment]) -> list[Numbers]:
    """Numbers that are held without a hole, as first and last."""
    stretches: list[Numbers] = []
    for one in found:
        if stretches and one.first <= stretches[-1][1] + 1:
            stretches[-1] = stretches[-1][0], max(stretches[-1][1], one.last)
        else:
            stretches.append((one.first, one.last))
    return stretches


def _within(one: Segment, stretches: Sequence[Numbers]) -> bool:
    place = bisect_right(stretches, one.first, key=lambda stretch: stretch[0]) - 1
    return place >= 0 and one.last <= stretches[place][1]
