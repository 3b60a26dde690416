"""Samples of a store, some at a time: columns of those that are asked for, with the stacks that they name.

One row group of a segment at a time, and of a segment's files only what may have rows of the window: memory and time
go with the window, not with the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.query.sealed import damage, opened
from necroscope.query.select import Select
from necroscope.store.catalog import Segment, Window
from necroscope.store.reader import Snapshot
from necroscope.store.segment import read_table

I64s = NDArray[np.int64]
Told = Callable[[float], None]
"""Called with the share of the work that is done."""

_WORDS = ["comm", "cgroup", "event"]
_COLUMNS = ["at_ns", "cpu", "pid", "thread", *_WORDS, "weight", "stack"]


@dataclass(frozen=True, slots=True)
class Words:
    """A column of words: codes into names."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    def taken(self, rows: NDArray[Any]) -> Words:
        """Some rows of it."""
        return Words(self.codes[rows], self.names)


class StackTexts:
    """The stacks that samples name by number: ids and frames (canonical text, see docs/store-format.md)."""

    def __init__(self, ids: NDArray[np.uint64], frames: pa.Array) -> None:
        self._ids, self._frames = ids, frames

    def __len__(self) -> int:
        return int(self._ids.size)

    def ids(self, numbers: I64s) -> NDArray[np.uint64]:
        """Content hashes of stacks."""
        return self._ids[numbers]

    def frames(self, numbers: I64s) -> list[str]:
        """Frames of stacks, outermost first, each as name, 0x1F, module, 0x1E."""
        # `take` would import all of Arrow's functions, for which a flame graph waits longer than for its samples.
        _, bounds, data = self._frames.buffers()
        if data is None:
            return [""] * len(numbers)
        place = np.frombuffer(bounds, np.int32)[self._frames.offset :]
        spans = zip(place[numbers].tolist(), place[numbers + 1].tolist(), strict=True)
        text = memoryview(data)
        return [str(text[low:high], "utf-8") for low, high in spans]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some samples. `stack` are numbers of `stacks`; samples of one second may lie in several chunks.

    Where `samples` is there, a row stands for so many, and `weight` is their sum; who and when is then not known, but
    the thread's name.
    """

    at_ns: I64s
    cpu: NDArray[np.int32]
    pid: NDArray[np.int32]
    tid: NDArray[np.int32]
    comm: Words
    cgroup: Words
    event: Words
    weight: I64s
    stack: I64s
    stacks: StackTexts
    samples: I64s | None = None

    def __len__(self) -> int:
        return int(self.at_ns.size)

    def taken(self, rows: NDArray[Any]) -> Chunk:
        """Some rows of it."""
        return Chunk(
            self.at_ns[rows],
            self.cpu[rows],
            self.pid[rows],
            self.tid[rows],
            self.comm.taken(rows),
            self.cgroup.taken(rows),
            self.event.taken(rows),
            self.weight[rows],
            self.stack[rows],
            self.stacks,
            None if self.samples is None else self.samples[rows],
        )


def chunks(
    snapshot: Snapshot,
    select: Select,
    told: Told | None = None,
    others: Sequence[Window] = (),
    notes: list[str] | None = None,
    rolled: bool = False,
) -> Iterator[Chunk]:
    """The selected samples, of other windows too, sealed ones first; each once, when windows overlap as well.

    With `rolled`, segments that lie in a window as a whole are told by their roll-ups, where these know enough.
    A file that was merged away meanwhile raises `FileNotFoundError`. A damaged one is left out from there on, and
    `notes` tell of it; without notes it is `BadInput`.
    """
    windows = (select.window, *others)
    segments = [one for one in snapshot.segments if any(one.overlaps(window) for window in windows)]
    for done, segment in enumerate(segments):
        with damage(segment.file("samples"), notes):
            summed = _rolled(segment, select, windows, notes) if rolled else None
            yield from _of_segment(segment, select, windows, notes) if summed is None else (summed,)
        if told is not None:
            told((done + 1) / (len(segments) + 1))
    live = _live(snapshot, select, windows)
    if live is not None:
        yield live


def _of_segment(
    segment: Segment, select: Select, windows: Sequence[Window], notes: list[str] | None
) -> Iterator[Chunk]:
    file = opened(segment, "samples", read_dictionary=_WORDS)
    if file is None:
        return
    stacks: StackTexts | None = None
    with file:
        for group in _groups(file.metadata, windows):
            table = file.read_row_group(group, columns=_COLUMNS, use_threads=False)
            rows = _rows(table, select, windows)
            if rows.size and stacks is None and (stacks := _sealed_stacks(segment, notes)) is None:
                return
            if rows.size and stacks is not None:
                chunk = _chunk(table, table["stack"], stacks, rows)
                if chunk.stack.max() >= len(stacks) or chunk.stack.min() < 0:
                    raise IndexError("samples of stacks that are not there")
                yield chunk


def _rolled(segment: Segment, select: Select, windows: Sequence[Window], notes: list[str] | None) -> Chunk | None:
    """A segment that lies in one of the windows, by thread name and stack; None when it has to be read."""
    inside = sum(low <= segment.from_ns and segment.to_ns <= high for low, high in windows)
    asked = select.cpus or select.pids or select.tids or select.cgroups
    if asked or inside != 1 or sum(segment.overlaps(window) for window in windows) != 1:
        return None
    # Which cores there are is told by their counters, not by the roll-up.
    if not segment.file("cores").exists() or (table := read_table(segment, "flames")) is None:
        return None
    stacks = _sealed_stacks(segment, notes)
    if stacks is None:
        return None
    event, comm = _words(table["event"]), _words(table["comm"])
    rows = _among(event, select.wants_event)
    if select.comms:
        rows &= _among(comm, select.comms.__contains__)
    nobody, nowhere = np.full(table.num_rows, -1, np.int32), np.zeros(table.num_rows, np.int32)
    chunk = Chunk(
        np.full(table.num_rows, segment.from_ns),
        *(nobody, nobody, nobody),
        *(comm, Words(nowhere, ("",)), event),
        weight=table["weight"].to_numpy(),
        stack=table["stack"].to_numpy(),
        stacks=stacks,
        samples=table["samples"].to_numpy(),
    )
    if len(chunk) and (chunk.stack.max() >= len(stacks) or chunk.stack.min() < 0):
        raise IndexError("samples of stacks that are not there")
    return chunk.taken(np.flatnonzero(rows))


def _groups(metadata: Any, windows: Sequence[Window]) -> list[int]:
    """Row groups that may have rows of the windows."""
    column = metadata.schema.to_arrow_schema().get_field_index("at_ns")
    spans = [metadata.row_group(group).column(column).statistics for group in range(metadata.num_row_groups)]
    return [
        group
        for group, span in enumerate(spans)
        if span is None or not span.has_min_max or any(span.min <= high and span.max >= low for low, high in windows)
    ]


def _live(snapshot: Snapshot, select: Select, windows: Sequence[Window]) -> Chunk | None:
    table, told = snapshot.live.get("samples"), snapshot.live.get("stacks")
    if table is None or not table.num_rows:
        return None
    rows = _rows(table, select, windows)
    if not rows.size:
        return None
    ids, numbers = np.unique(table["stack_id"].to_numpy(), return_inverse=True)
    known = dict(zip(told["stack_id"].to_pylist(), told["frames"].to_pylist(), strict=True)) if told is not None else {}
    stacks = StackTexts(ids, pa.array([known.get(one, "") for one in ids.tolist()], pa.string()))
    return _chunk(table, pa.chunked_array([numbers.reshape(-1)]), stacks, rows)


def _rows(table: pa.Table, select: Select, windows: Sequence[Window]) -> I64s:
    """Numbers of the rows that are asked for."""
    at_ns = table["at_ns"].to_numpy()
    rows = np.zeros(at_ns.size, np.bool_)
    for low, high in windows:
        rows |= (at_ns >= low) & (at_ns <= high)
    if not rows.any():
        return np.zeros(0, np.int64)
    rows &= _among(_words(table["event"]), select.wants_event)
    for name, wanted in (("cpu", select.cpus), ("pid", select.pids)):
        if wanted:
            rows &= np.isin(table[name].to_numpy(), list(wanted))
    if select.tids:
        rows &= np.isin(_tid(table), list(select.tids))
    if select.comms:
        rows &= _among(_words(table["comm"]), select.comms.__contains__)
    if select.cgroups:
        rows &= _among(_words(table["cgroup"]), select.wants_cgroup)
    return np.flatnonzero(rows)


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
        _words(table["comm"]),
        _words(table["cgroup"]),
        _words(table["event"]),
        weight=table["weight"].to_numpy(),
        stack=stack.to_numpy(),
        stacks=stacks,
    )
    return chunk if rows.size == len(chunk) else chunk.taken(rows)


def _among(words: Words, wanted: Callable[[str], bool]) -> NDArray[np.bool_]:
    return np.array([wanted(name) for name in words.names] or [False])[words.codes]


def _words(column: pa.ChunkedArray) -> Words:
    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], pa.string())
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    return Words(array.indices.to_numpy(zero_copy_only=False), tuple(array.dictionary.to_pylist()))


def _sealed_stacks(segment: Segment, notes: list[str] | None) -> StackTexts | None:
    """The stacks of a segment; None when they are damaged: samples without stacks would look like other samples."""
    with damage(segment.file("stacks"), notes):
        table = read_table(segment, "stacks", ["stack_id", "frames"])
        if table is None:
            raise KeyError("stacks") if segment.path.exists() else FileNotFoundError(segment.path)
        return StackTexts(table["stack_id"].to_numpy(), table["frames"].combine_chunks())
    return None
