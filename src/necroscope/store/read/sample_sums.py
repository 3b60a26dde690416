"""The samples of many segments, summed by thread and by stack: what a flame graph of hours is made from.

Made from the roll-ups of the segments, one segment at a time. Where a segment with samples has none, or has no
counters of its cores, there are no sums: whoever asks then reads the segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from necroscope.store.format.arrow import Tables, from_columns, in_order
from necroscope.store.format.segment import read_table
from necroscope.store.format.tables import FLAMES, STACKS, TASKS
from necroscope.store.read.catalog import Segment

I64s = NDArray[np.int64]
_Rows = tuple[I64s, I64s, I64s]
"""Keys, samples and weights."""

_FOLD_ROWS = 100_000
_COMMS, _STACKS = (1 << 24) - 1, (1 << 32) - 1
_TASK = ["event", "pid", "thread", "comm", "cgroup", "leaf"]


def sample_sums(parts: Sequence[Segment]) -> Tables:
    """`tasks`, `flames` and `stacks` of all samples of the segments; those that cannot be made are not there."""
    sampled = [part for part in parts if part.file("samples").exists()]
    if not sampled or not all(part.file("cores").exists() for part in sampled):
        return {}
    try:
        return _tasks(sampled) | _flames(sampled)
    finally:
        # Whoever keeps a store runs for months, and does this every quarter of an hour.
        pa.default_memory_pool().release_unused()


def _tasks(parts: Sequence[Segment]) -> Tables:
    if not all(part.file("tasks").exists() for part in parts):
        return {}
    rows = pa.concat_tables([_plain(part, "tasks", [*_TASK, "samples", "weight"]) for part in parts])
    sums = rows.group_by(_TASK).aggregate([("samples", "sum"), ("weight", "sum")])
    columns = {name: sums[name] for name in _TASK}
    columns |= {"samples": sums["samples_sum"], "weight": sums["weight_sum"]}
    columns["segment"] = np.full(sums.num_rows, parts[0].first, np.int64)
    words = {name: columns[name].dictionary_encode() for name in ("event", "comm", "cgroup", "leaf")}
    return {"tasks": in_order(TASKS, from_columns(TASKS, {**columns, **words}).combine_chunks())}


def _flames(parts: Sequence[Segment]) -> Tables:
    if not all(part.file("flames").exists() for part in parts):
        return {}
    sums = _StackSums()
    for part in parts:
        stacks = _plain(part, "stacks", ["stack_id", "frames"])
        sums.add(stacks, _plain(part, "flames", ["event", "comm", "stack", "samples", "weight"]))
    return sums.tables(parts[0].first)


def _plain(part: Segment, name: str, columns: list[str]) -> pa.Table:
    table = read_table(part, name, columns)
    if table is None:
        raise FileNotFoundError(part.file(name))
    return table


class _Numbers(dict[Any, int]):
    """What was seen, numbered from 0."""

    def of(self, values: Sequence[Any]) -> I64s:
        """Numbers of values, new ones where needed."""
        return np.array([self.setdefault(value, len(self)) for value in values], np.int64)


class _StackSums:
    """Sums by event, thread name and stack. Memory goes with the variety of stacks, not with the samples."""

    def __init__(self) -> None:
        self._events, self._comms, self._ids = _Numbers(), _Numbers(), _Numbers()
        self._frames: list[pa.Array] = []
        self._parts: list[_Rows] = []
        self._folded = 0

    def add(self, stacks: pa.Table, flames: pa.Table) -> None:
        """The rows of one segment."""
        known = len(self._ids)
        number = self._ids.of(stacks["stack_id"].to_pylist())
        # New ones are numbered in the order in which they stand.
        fresh = np.flatnonzero(number >= known)
        self._frames.append(stacks["frames"].combine_chunks().take(pa.array(fresh)))
        event, comm = _coded(flames["event"], self._events), _coded(flames["comm"], self._comms)
        key = _key(event, comm, number[flames["stack"].to_numpy()])
        self._parts.append((key, flames["samples"].to_numpy(), flames["weight"].to_numpy()))
        if sum(part[0].size for part in self._parts) > _FOLD_ROWS + self._folded:
            self._fold()

    def tables(self, number: int) -> Tables:
        """All that was added, as the files of a segment have it."""
        texts = pa.concat_arrays(self._frames)
        self._frames.clear()
        by_text = pc.sort_indices(texts).to_numpy()
        ids = np.fromiter(self._ids, np.uint64, len(self._ids))[by_text]
        (events, event_rank), (comms, comm_rank) = _ranked(self._events), _ranked(self._comms)
        self._fold()
        key, samples, weight = self._parts[0]
        key = _key(event_rank[key >> 56], comm_rank[key >> 32 & _COMMS], _places(by_text)[key & _STACKS])
        order = np.argsort(key)
        key, samples, weight = key[order], samples[order], weight[order]
        stack = (key & _STACKS).astype(np.int32)
        flames = {
            "segment": np.full(stack.size, number, np.int64),
            "event": pa.DictionaryArray.from_arrays(pa.array((key >> 56).astype(np.int32)), events),
            "comm": pa.DictionaryArray.from_arrays(pa.array((key >> 32 & _COMMS).astype(np.int32)), comms),
            "stack": stack,
            "samples": samples,
            "weight": weight,
        }
        stacks = {
            "segment": np.full(ids.size, number, np.int64),
            "stack": np.arange(ids.size, dtype=np.int32),
            "stack_id": ids,
            "frames": texts.take(pa.array(by_text)),
            "samples": np.bincount(stack, samples, ids.size).astype(np.int64),
        }
        return {"flames": from_columns(FLAMES, flames), "stacks": from_columns(STACKS, stacks)}

    def _fold(self) -> None:
        """Rows with the same key become one."""
        key, samples, weight = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        self._parts.clear()
        order = np.argsort(key)
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        self._parts.append((key[first], np.add.reduceat(samples[order], first), np.add.reduceat(weight[order], first)))
        self._folded = first.size


def _key(event: I64s, comm: I64s, stack: I64s) -> I64s:
    """One number that sorts by event, thread name and stack."""
    return event << 56 | comm << 32 | stack


def _coded(column: pa.ChunkedArray, seen: _Numbers) -> I64s:
    words = column.combine_chunks().dictionary_encode()
    codes: I64s = seen.of(words.dictionary.to_pylist())[words.indices.to_numpy()]
    return codes


def _ranked(seen: _Numbers) -> tuple[pa.Array, I64s]:
    """Names in order, and the place of each number among them."""
    names = list(seen)
    order = sorted(range(len(names)), key=names.__getitem__)
    return pa.array([names[place] for place in order], pa.string()), _places(np.array(order, np.int64))


def _places(order: NDArray[Any]) -> I64s:
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return place
