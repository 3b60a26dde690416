"""Small segments merged into larger ones: stacks are kept once, files have one footer, and there are fewer of them.

Four neighbours of like size become one, up to a bound on bytes that keeps the writer's memory small. What was merged
stays on disk for a while, because somebody may be reading it; readers pass over it by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from necroscope.clock import NS
from necroscope.store.format.segment import SMALL, merged, read_segment, write_segment
from necroscope.store.read.catalog import Segment
from necroscope.store.write.retention import Kept

FAN_IN = 4
MAX_BYTES = 1 << 20
# A merged segment spans the time between its parts; too much of it would spoil the pruning by name.
MAX_PAUSE_NS = 600 * NS


def due(kept: Sequence[Kept]) -> list[Segment]:
    """The next neighbours to merge, none when there is nothing to do. Expects segments by number."""
    for start in range(len(kept) - FAN_IN, -1, -1):
        run = kept[start : start + FAN_IN]
        if sum(one.bytes for one in run) <= MAX_BYTES and _alike(run) and _neighbours(run):
            return [one.segment for one in run]
    return []


def due_at_the_end(kept: Sequence[Kept]) -> list[Segment]:
    """Like `due`, when no more will come: as many neighbours as fit, whatever their size."""
    for start in range(len(kept)):
        run = list(kept[start : start + 1])
        for one in kept[start + 1 :]:
            if sum(other.bytes for other in run) + one.bytes > MAX_BYTES or not _neighbours([run[-1], one]):
                break
            run.append(one)
        if len(run) > 1:
            return [one.segment for one in run]
    return []


def merge(folder: Path, parts: Sequence[Segment]) -> Segment | None:
    """One segment with the rows of all; the parts stay where they are. `FileNotFoundError`: one is not there."""
    tables = merged([read_segment(part) for part in parts])
    for part in parts:
        part.path.lstat()  # what is gone has no rows, and would be missed by nobody
    return write_segment(folder, tables, parts[0].first, parts[-1].last, SMALL)


def _alike(run: Sequence[Kept]) -> bool:
    """Of one generation: each row is then written again only a few times in its life."""
    return len({_generation(one.segment) for one in run}) == 1


def _generation(segment: Segment) -> int:
    journals, generation = segment.last - segment.first + 1, 0
    while journals >= FAN_IN:
        journals, generation = journals // FAN_IN, generation + 1
    return generation


def _neighbours(run: Sequence[Kept]) -> bool:
    return all(
        after.segment.first == before.segment.last + 1
        and abs(after.segment.from_ns - before.segment.to_ns) <= MAX_PAUSE_NS
        for before, after in pairwise(run)
    )
