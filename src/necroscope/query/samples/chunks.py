"""Samples of a store, some at a time: columns of those that are asked for, with the stacks that they name.

One row group of a segment at a time, and of a segment's files only what may have rows of the window: memory and time
go with the window, not with the store. Where sums are enough, hours come from roll-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.query.remembered import remembered
from necroscope.query.samples.chunk import Chunk, I64s, StackTexts, Words
from necroscope.query.samples.kept_samples import Kept, kept_for
from necroscope.query.samples.rolled import Detail, in_roll_ups, rolled, sealed_stacks, without_stacks
from necroscope.query.sealed import damage, opened
from necroscope.query.select import Select
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot
from necroscope.store.read.rollups import left_over
from necroscope.vocabulary.event import Window

OnProgress = Callable[[float], None]
"""Called with the share of the work that is done."""

_WORDS = ["comm", "cgroup", "event"]
_COLUMNS = ["at_ns", "cpu", "pid", "thread", *_WORDS, "weight", "stack"]


def chunks(
    snapshot: Snapshot,
    select: Select,
    on_progress: OnProgress | None = None,
    others: Sequence[Window] = (),
    notes: list[str] | None = None,
    detail: Detail = "samples",
) -> Iterator[Chunk]:
    """The selected samples, of other windows too, sealed ones first; each once, when windows overlap as well.

    With less `detail`, segments that lie in a window as a whole are read from roll-ups, where these hold enough.
    A file that was merged away meanwhile raises `FileNotFoundError`. A damaged one is left out from there on, with
    a note; without `notes` it is `BadInput`.
    """
    windows = (select.window, *others)
    on_progress = on_progress or (lambda share: None)
    segments = [one for one in snapshot.segments if any(one.overlaps(window) for window in windows)]
    left = segments
    if detail != "samples":
        used: list[Segment] = []
        for rollup in in_roll_ups(snapshot, windows):
            if (summed := _whole(rollup, select, windows, detail)) is not None:
                used.append(rollup)
                yield summed
                left = left_over(segments, used)
                on_progress(1 - (len(left) + 1) / (len(segments) + 1))
    for done, segment in enumerate(left):
        with damage(segment.file("samples"), notes):
            summed = rolled(segment, select, windows, detail, notes) if detail != "samples" else None
            yield from _of_segment(segment, select, windows, notes, detail) if summed is None else (summed,)
        on_progress(1 - (len(left) - done) / (len(segments) + 1))
    live = _live(snapshot, select, windows)
    if live is not None:
        yield without_stacks(live) if detail == "tasks" else live


def _whole(rollup: Segment, select: Select, windows: Sequence[Window], detail: Detail) -> Chunk | None:
    """The sums of a roll-up; None when it is damaged or gone, as then the segments are still there."""
    damaged: list[str] = []
    try:
        return rolled(rollup, select, windows, detail, damaged)
    except (OSError, pa.ArrowException, KeyError, IndexError):
        return None


def _of_segment(
    segment: Segment, select: Select, windows: Sequence[Window], notes: list[str] | None, detail: Detail
) -> Iterator[Chunk]:
    kept = kept_for(select, windows) if detail == "samples" else None
    if kept is None:
        for chunk in _read(segment, windows, lambda table: _rows(table, select, windows), notes):
            yield without_stacks(chunk) if detail == "tasks" else chunk
        return
    read = partial(_read_kept, segment, kept, notes)
    for chunk in remembered(("samples", segment.path, kept), read, lambda found: sum(one.nbytes for one in found)):
        rows = _within(chunk.at_ns, windows) & chunk.event.among(select.wants_event)
        if (rows := rows & np.isin(chunk.cpu, list(select.cpus))).any():
            yield chunk.taken(np.flatnonzero(rows))


def _read_kept(segment: Segment, kept: Kept, notes: list[str] | None) -> tuple[Chunk, ...]:
    """Samples that several parts of a question are about, with no other stacks than theirs."""

    def rows(table: pa.Table) -> I64s:
        wanted = _within(table["at_ns"].to_numpy(), kept.windows)
        return np.flatnonzero(wanted & np.isin(table["cpu"].to_numpy(), list(kept.cpus)))

    return tuple(chunk.with_own_stacks() for chunk in _read(segment, kept.windows, rows, notes))


def _read(
    segment: Segment, windows: Sequence[Window], wanted: Callable[[pa.Table], I64s], notes: list[str] | None
) -> Iterator[Chunk]:
    file = opened(segment, "samples", read_dictionary=_WORDS)
    if file is None:
        return
    stacks: StackTexts | None = None
    with file:
        for group in row_groups(file.metadata, windows):
            table = file.read_row_group(group, columns=_COLUMNS, use_threads=False)
            rows = wanted(table)
            if rows.size and stacks is None and (stacks := sealed_stacks(segment, notes)) is None:
                return
            if rows.size and stacks is not None:
                yield _chunk(table, table["stack"], stacks, rows)


def row_groups(metadata: Any, windows: Sequence[Window]) -> list[int]:
    """Row groups that may have rows of the windows."""
    column = metadata.schema.to_arrow_schema().get_field_index("at_ns")
    spans = [metadata.row_group(group).column(column).statistics for group in range(metadata.num_row_groups)]
    return [
        group
        for group, span in enumerate(spans)
        if span is None or not span.has_min_max or any(span.min <= high and span.max >= low for low, high in windows)
    ]


def _live(snapshot: Snapshot, select: Select, windows: Sequence[Window]) -> Chunk | None:
    table, texts = snapshot.live.get("samples"), snapshot.live.get("stacks")
    if table is None or not table.num_rows:
        return None
    rows = _rows(table, select, windows)
    if not rows.size:
        return None
    ids, numbers = np.unique(table["stack_id"].to_numpy(), return_inverse=True)
    known = (
        dict(zip(texts["stack_id"].to_pylist(), texts["frames"].to_pylist(), strict=True)) if texts is not None else {}
    )
    stacks = StackTexts(ids, pa.array([known.get(one, "") for one in ids.tolist()], pa.string()))
    return _chunk(table, pa.chunked_array([numbers.reshape(-1)]), stacks, rows)


def _rows(table: pa.Table, select: Select, windows: Sequence[Window]) -> I64s:
    """Numbers of the rows that are asked for."""
    rows = _within(table["at_ns"].to_numpy(), windows)
    if not rows.any():
        return np.zeros(0, np.int64)
    rows &= Words.of(table["event"]).among(select.wants_event)
    for name, wanted in (("cpu", select.cpus), ("pid", select.pids)):
        if wanted:
            rows &= np.isin(table[name].to_numpy(), list(wanted))
    if select.tids:
        rows &= np.isin(_tid(table), list(select.tids))
    if select.comms:
        rows &= Words.of(table["comm"]).among(select.comms.__contains__)
    if select.cgroups:
        rows &= Words.of(table["cgroup"]).among(select.wants_cgroup)
    return np.flatnonzero(rows)


def _within(at_ns: I64s, windows: Sequence[Window]) -> NDArray[np.bool_]:
    rows = np.zeros(at_ns.size, np.bool_)
    for low, high in windows:
        rows |= (at_ns >= low) & (at_ns <= high)
    return rows


def _tid(table: pa.Table) -> NDArray[np.int32]:
    """Thread ids; segments keep them as the difference to the pid."""
    live = "tid" in table.column_names
    tid: NDArray[np.int32] = table["tid"].to_numpy() if live else table["pid"].to_numpy() + table["thread"].to_numpy()
    return tid


def _chunk(table: pa.Table, stack: pa.ChunkedArray, stacks: StackTexts, rows: I64s) -> Chunk:
    chunk = Chunk(
        table["at_ns"].to_numpy(),
        table["cpu"].to_numpy(),
        table["pid"].to_numpy(),
        _tid(table),
        Words.of(table["comm"]),
        Words.of(table["cgroup"]),
        Words.of(table["event"]),
        weight=table["weight"].to_numpy(),
        stack=stack.to_numpy(),
        stacks=stacks,
    )
    return (chunk if rows.size == len(chunk) else chunk.taken(rows)).with_counts()
