"""Samples thread by thread, in time order as long as there are not too many of them: what a timeline is drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.query.samples.chunk import Chunk
from necroscope.query.samples.counting import SampleCounter
from necroscope.query.samples.sample_counts import SampleCounts
from necroscope.sense.perf.event_names import is_clock
from necroscope.show.export.source import Source

I64s = NDArray[np.int64]
MOST_ORDERED = 500_000
MOST_TRACKS = 100


@dataclass(frozen=True, slots=True)
class Rows:
    """Samples, or sums of some when there were too many (`ordered` is false then). `thread` and `stack` are numbers.

    `threads` are (pid, tid, name); `stacks` canonical texts. `value` is nanoseconds if `clock`, else samples.
    """

    thread: I64s
    threads: Sequence[tuple[int, int, str]]
    stack: I64s
    stacks: Sequence[str]
    value: I64s
    clock: bool
    ordered: bool


@dataclass(frozen=True, slots=True)
class Track:
    """Stacks one after the other, each for a value."""

    name: str
    stack: I64s
    value: I64s


def rows(source: Source, most_ordered: int = MOST_ORDERED) -> Rows:
    """The samples of a source: by time, or summed when there are more than can be shown one by one."""
    held: list[Chunk] = []
    counter: SampleCounter | None = None
    for chunk in source.chunks():
        if counter is None and source.samples > most_ordered:
            counter = SampleCounter([source.select.window])
            for one in held:
                counter.add(one)
            held.clear()
        if counter is None:
            held.append(chunk)
        else:
            counter.add(chunk)
    if counter is None:
        return _ordered(held)
    counts = counter.close()
    source.cut = counts.cut
    return _summed(counts)


def tracks(found: Rows, most: int = MOST_TRACKS) -> Iterator[Track]:
    """A track for each thread, the busiest first; the threads after the first `most` share one."""
    total = np.bincount(found.thread, found.value, len(found.threads))
    busiest = np.argsort(-total, kind="stable")
    by_thread = np.argsort(found.thread, kind="stable")
    ends = np.searchsorted(found.thread[by_thread], np.arange(len(found.threads) + 1))
    for thread in busiest[:most].tolist():
        pid, tid, comm = found.threads[thread]
        name = f"{comm or '[unknown]'} (pid {pid})" if pid == tid else f"{comm or '[unknown]'} (pid {pid}, tid {tid})"
        yield _track(name, found, by_thread[ends[thread] : ends[thread + 1]])
    if len(rest := busiest[most:]):
        yield _track(f"{len(rest)} other threads", found, np.flatnonzero(np.isin(found.thread, rest)))


def _track(name: str, found: Rows, chosen: NDArray[np.intp]) -> Track:
    """Rows as a track; the same stack several times in a row is one entry."""
    stack, value = found.stack[chosen], found.value[chosen]
    starts = np.flatnonzero(np.diff(stack, prepend=-1))
    return Track(name, stack[starts], np.add.reduceat(value, starts))


def _ordered(held: Sequence[Chunk]) -> Rows:
    threads: dict[tuple[int, int, str], int] = {}
    by_id: dict[int, int] = {}
    texts: list[str] = []
    clock = all(is_clock(chunk.event.names[code]) for chunk in held for code in np.unique(chunk.event.codes))
    parts = [
        (chunk.at_ns, _threads(chunk, threads), _stacks(chunk, by_id, texts), chunk.weight if clock else _counts(chunk))
        for chunk in held
    ]
    empty = np.zeros(0, np.int64)
    at_ns, thread, stack, value = (
        np.concatenate(column) for column in zip((empty, empty, empty, empty), *parts, strict=True)
    )
    in_time = np.argsort(at_ns, kind="stable")
    return Rows(thread[in_time], tuple(threads), stack[in_time], texts, value[in_time], clock, ordered=True)


def _counts(chunk: Chunk) -> I64s:
    return np.ones(len(chunk), np.int64) if chunk.samples is None else chunk.samples


def _threads(chunk: Chunk, known: dict[tuple[int, int, str], int]) -> I64s:
    key = chunk.tid.astype(np.int64) * max(1, len(chunk.comm.names)) + chunk.comm.codes
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    numbers = [
        known.setdefault(
            (int(chunk.pid[row]), int(chunk.tid[row]), chunk.comm.names[chunk.comm.codes[row]]), len(known)
        )
        for row in first.tolist()
    ]
    of_sample: I64s = np.array(numbers, np.int64)[place.reshape(-1)]
    return of_sample


def _stacks(chunk: Chunk, known: dict[int, int], texts: list[str]) -> I64s:
    local, place = np.unique(chunk.stack, return_inverse=True)
    ids = chunk.stacks.ids(local).tolist()
    fresh = [row for row, one in enumerate(ids) if one not in known]
    for row, text in zip(fresh, chunk.stacks.frames(local[fresh]) if fresh else (), strict=True):
        known[ids[row]] = len(texts)
        texts.append(text)
    of_sample: I64s = np.array([known[one] for one in ids], np.int64)[place.reshape(-1)]
    return of_sample


def _summed(counts: SampleCounts) -> Rows:
    threads: dict[tuple[int, int, str], int] = {}
    of_task = [threads.setdefault((task.pid, task.tid, task.comm), len(threads)) for task in counts.tasks]
    clock = is_clock(counts.event)
    value = counts.weight.round().astype(np.int64) if clock else counts.samples
    thread = np.array(of_task, np.int64)[counts.task]
    return Rows(thread, tuple(threads), counts.stack, counts.stacks, value, clock, ordered=False)
