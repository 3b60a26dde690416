"""Chunks of samples are counted. Memory goes with the variety of what was sampled, which is bounded: when there are too
many different stacks, the rarest lose their innermost frames, and the counts say of how many samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from necroscope.query.numbering import numbered
from necroscope.query.samples.chunk import Chunk
from necroscope.query.samples.sample_counts import F64s, I64s, SampleCounts, Task, sums
from necroscope.sense.perf.idle import is_idle
from necroscope.vocabulary.event import Window

_MOST_STACKS = 150_000
_FOLD_ROWS = 300_000
_MOST_ROWS = 700_000
CUT = "[cut]\x1f[cut]\x1e"


class SampleCounter:
    """Counts samples, chunk by chunk. Windows may not overlap."""

    def __init__(self, windows: Sequence[Window], most_stacks: int = _MOST_STACKS) -> None:
        self._windows = tuple(windows)
        order = sorted(range(len(windows)), key=lambda place: windows[place])
        self._order = np.array(order, np.int64)
        self._from = np.array([windows[place][0] for place in order], np.int64)
        self._to = np.array([windows[place][1] for place in order], np.int64)
        self._most = most_stacks
        self._tasks: dict[Task, int] = {}
        self._by_id: dict[int, int] = {}
        self._by_text: dict[str, int] = {}
        self._idle: list[bool] = []  # of the first texts, as far as anybody had to know
        self._parts: list[tuple[I64s, ...]] = []
        self._weights: list[F64s] = []
        self._rows = self._cut = 0
        self._fold_at = _FOLD_ROWS
        self.events: dict[str, int] = {}
        """Samples by event."""
        self._cpus: set[int] = set()

    def add(self, chunk: Chunk) -> None:
        """Count the samples of a chunk."""
        window, inside = self._window_of(chunk.at_ns)
        if not inside.all():
            chunk, window = chunk.taken(np.flatnonzero(inside)), window[inside]
        if not len(chunk):
            return
        samples = np.ones(window.size, np.int64) if chunk.samples is None else chunk.samples
        for name, count in zip(chunk.event.names, np.bincount(chunk.event.codes, samples).tolist(), strict=False):
            if count:
                self.events[name] = self.events.get(name, 0) + int(count)
        self._cpus.update(numbered(chunk.cpu)[0].tolist())
        task, stack = self._tasks_of(chunk), self._stacks_of(chunk)
        self._append(task, stack, window, samples, chunk.weight.astype(np.float64))
        if len(self._by_text) > self._most:
            self._cut_rare(self._most // 2)

    def close(self) -> SampleCounts:
        """The counts of everything that was added."""
        self._fold()
        empty = np.zeros(0, np.int64)
        task, stack, window, samples = self._parts[0] if self._parts else (empty, empty, empty, empty)
        weight = self._weights[0] if self._weights else np.zeros(0)
        event = max(self.events, key=lambda name: self.events[name], default="")
        return SampleCounts(
            self._windows,
            tuple(self._tasks),
            tuple(self._by_text),
            task,
            stack,
            window,
            samples,
            weight,
            event,
            self._cut,
            frozenset(cpu for cpu in self._cpus if cpu >= 0),
        )

    # -- numbers ---------------------------------------------------------------------------------------------

    def _window_of(self, at_ns: I64s) -> tuple[I64s, NDArray[np.bool_]]:
        place = np.searchsorted(self._from, at_ns, side="right") - 1
        inside = (place >= 0) & (at_ns <= self._to[np.maximum(place, 0)])
        return self._order[np.maximum(place, 0)], inside

    def _tasks_of(self, chunk: Chunk) -> I64s:
        comms, cgroups = max(1, len(chunk.comm.names)), max(1, len(chunk.cgroup.names))
        key = (numbered(chunk.tid)[1] * comms + chunk.comm.codes) * cgroups + chunk.cgroup.codes
        found, place = numbered(key)
        first = np.empty(found.size, np.int64)
        first[place] = np.arange(place.size)
        numbers = [
            self._tasks.setdefault(
                Task(
                    int(chunk.pid[row]),
                    int(chunk.tid[row]),
                    chunk.comm.names[chunk.comm.codes[row]],
                    chunk.cgroup.names[chunk.cgroup.codes[row]],
                ),
                len(self._tasks),
            )
            for row in first.tolist()
        ]
        of_sample: I64s = np.array(numbers, np.int64)[place]
        return of_sample

    def _stacks_of(self, chunk: Chunk) -> I64s:
        local, place = numbered(chunk.stack)
        ids = chunk.stacks.ids(local).tolist()
        numbers = list(map(self._by_id.get, ids))
        fresh = [row for row, number in enumerate(numbers) if number is None]
        for row, text in zip(fresh, chunk.stacks.frames(local[fresh]) if fresh else (), strict=True):
            numbers[row] = self._by_id[ids[row]] = self._by_text.setdefault(text, len(self._by_text))
        of_sample: I64s = np.array(numbers, np.int64)[place]
        return of_sample

    # -- rows --------------------------------------------------------------------------------------------------

    def _append(self, task: I64s, stack: I64s, window: I64s, samples: I64s, weight: F64s) -> None:
        self._parts.append((task, stack, window, samples))
        self._weights.append(weight)
        self._rows += task.size
        if self._rows > self._fold_at:
            self._fold()
            keep = len(self._by_text) // 2
            while self._rows > _MOST_ROWS and keep:
                self._cut_rare(keep)
                self._fold()
                keep //= 2
            self._fold_at = self._rows + _FOLD_ROWS

    def _fold(self) -> None:
        """Rows with the same task, stack and window become one."""
        if not self._parts:
            return
        task, stack, window, samples = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        weight = np.concatenate(self._weights)
        stacks, windows = max(1, len(self._by_text)), max(1, len(self._windows))
        keys, place = numbered((task * stacks + stack) * windows + window)
        columns = keys // windows // stacks, keys // windows % stacks, keys % windows
        self._parts = [(*columns, np.bincount(place, samples, keys.size).astype(np.int64))]
        self._weights = [sums(place, weight, keys.size)]
        self._rows = keys.size

    def _cut_rare(self, keep: int) -> None:
        """Keep so many of the stacks, those with most samples; of the others, only the outer half of their frames."""
        self._fold()
        task, stack, window, samples = self._parts[0]
        count = np.bincount(stack, samples, len(self._by_text))
        kept = np.zeros(count.size, np.bool_)
        kept[np.argsort(count)[-keep:]] = True
        texts = list(self._by_text)
        # Shortened, the stack of an idle core would look like work.
        idle = np.array([*self._idle, *(is_idle(text) for text in texts[len(self._idle) :])], np.bool_)
        kept |= idle
        whole = np.array([not text.endswith(CUT) for text in texts])
        self._cut += int(count[~kept & whole].sum())
        self._by_text = {}
        moved = [
            self._by_text.setdefault(text if whole else _shortened(text), len(self._by_text))
            for text, whole in zip(texts, kept.tolist(), strict=True)
        ]
        now_idle = np.zeros(len(self._by_text), np.bool_)
        now_idle[np.array(moved, np.int64)[idle]] = True
        self._idle = now_idle.tolist()
        self._by_id = {one: moved[place] for one, place in self._by_id.items() if kept[place]}
        self._parts = [(task, np.array(moved, np.int64)[stack], window, samples)]


def count_samples(windows: Sequence[Window], found: Iterable[Chunk]) -> SampleCounts:
    """The counts of chunks in these windows."""
    counter = SampleCounter(windows)
    for chunk in found:
        counter.add(chunk)
    return counter.close()


def _shortened(text: str) -> str:
    frames = text.split("\x1e")
    return "\x1e".join((*frames[: max(1, (len(frames) - 1) // 2)], CUT))
