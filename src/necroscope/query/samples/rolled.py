"""Samples by their sums: a segment, or a quarter of an hour of segments, that lies in a window as a whole.

Where a sum does not hold what is asked for (cores, or processes of a flame graph), the samples have to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.query.numbering import numbered
from necroscope.query.samples.chunk import Chunk, StackTexts, Words
from necroscope.query.sealed import damage, opened
from necroscope.query.select import Select
from necroscope.sense.perf.idle import idle
from necroscope.store.format.segment import read_table
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot
from necroscope.store.read.rollups import exact
from necroscope.vocabulary.event import Window

Detail = Literal["samples", "stacks", "tasks"]
"""How much is wanted: all of each sample; stacks and names of threads; threads, without stacks."""

_WORDS = {"flames": ["event", "comm"], "tasks": ["event", "comm", "cgroup", "leaf"]}
# All that is left of stacks where nobody asks for them: whether the core was idle.
_WORK, _IDLE = "", "do_idle\x1f[kernel]\x1e"
_STACKS = StackTexts(np.array([0, 1], np.uint64), pa.array([_WORK, _IDLE], pa.string()))


def rolled(
    entry: Segment, select: Select, windows: Sequence[Window], detail: Detail, notes: list[str] | None = None
) -> Chunk | None:
    """The samples of a segment or of a roll-up as sums; None when they have to be read from the samples."""
    if select.cpus or not _in_one(entry, windows):
        return None
    if detail == "tasks":
        return _by_task(entry, select)
    if select.pids or select.tids or select.cgroups:
        return None
    return _by_stack(entry, select, notes)


def in_roll_ups(snapshot: Snapshot, windows: Sequence[Window]) -> list[Segment]:
    """Roll-ups that lie in one of the windows, and stand for whole segments."""
    return [one for one in exact(snapshot.rollups, snapshot.segments) if _in_one(one, windows)]


def without_stacks(chunk: Chunk) -> Chunk:
    """Of each sample's stack, only whether it is that of an idle core."""
    numbers, place = numbered(chunk.stack)
    return replace(chunk, stack=idle(chunk.stacks.frames(numbers)).astype(np.int64)[place], stacks=_STACKS)


def sealed_stacks(segment: Segment, notes: list[str] | None) -> StackTexts | None:
    """The stacks of a segment; None when they are damaged: samples without stacks would look like other samples."""
    with damage(segment.file("stacks"), notes):
        table = read_table(segment, "stacks", ["stack_id", "frames"])
        if table is None:
            raise KeyError("stacks") if segment.path.exists() else FileNotFoundError(segment.path)
        return StackTexts(table["stack_id"].to_numpy(), table["frames"].combine_chunks())
    return None


def _in_one(entry: Segment, windows: Sequence[Window]) -> bool:
    inside = sum(low <= entry.from_ns and entry.to_ns <= high for low, high in windows)
    return inside == 1 and sum(entry.overlaps(window) for window in windows) == 1


def _by_task(entry: Segment, select: Select) -> Chunk | None:
    table = _counted(entry, "tasks")
    if table is None:
        return None
    pid = table["pid"].to_numpy()
    tid = pid + table["thread"].to_numpy()
    leaf, cgroup = Words.of(table["leaf"]), Words.of(table["cgroup"])
    idles = idle(leaf.names).astype(np.int64) if leaf.names else np.zeros(1, np.int64)
    chunk = _chunk(entry, table, idles[leaf.codes], _STACKS)
    rows = _wanted(chunk, select)
    for wanted, column in ((select.pids, pid), (select.tids, tid)):
        if wanted:
            rows &= np.isin(column, list(wanted))
    if select.cgroups:
        rows &= cgroup.among(select.wants_cgroup)
    return replace(chunk, pid=pid, tid=tid, cgroup=cgroup).taken(np.flatnonzero(rows))


def _by_stack(entry: Segment, select: Select, notes: list[str] | None) -> Chunk | None:
    table = _counted(entry, "flames")
    stacks = None if table is None else sealed_stacks(entry, notes)
    if table is None or stacks is None:
        return None
    chunk = _chunk(entry, table, table["stack"].to_numpy(), stacks)
    return chunk.taken(np.flatnonzero(_wanted(chunk, select)))


def _counted(entry: Segment, name: str) -> pa.Table | None:
    """A table of sums of cores that have counters: these say which cores there are, the sums do not."""
    known = entry.file("cores").exists() or entry.file("core_peaks").exists()
    file = opened(entry, name, read_dictionary=_WORDS[name]) if known else None
    if file is None:
        return None
    with file:
        return file.read(use_threads=False)


def _chunk(entry: Segment, table: pa.Table, stack: NDArray[np.int64], stacks: StackTexts) -> Chunk:
    nobody, nowhere = np.full(table.num_rows, -1, np.int32), np.zeros(table.num_rows, np.int32)
    return Chunk(
        np.full(table.num_rows, entry.from_ns),
        *(nobody, nobody, nobody),
        *(Words.of(table["comm"]), Words(nowhere, ("",)), Words.of(table["event"])),
        weight=table["weight"].to_numpy(),
        stack=stack,
        stacks=stacks,
        samples=table["samples"].to_numpy(),
    ).with_counts()


def _wanted(chunk: Chunk, select: Select) -> NDArray[np.bool_]:
    rows = chunk.event.among(select.wants_event)
    return rows & chunk.comm.among(select.comms.__contains__) if select.comms else rows
