"""A value per task that changes over time, asked for many tasks and instants at once.

Within one flush every record has a rank, its place in time order. Changes are noted with their rank; `at` then finds
for each (task, rank) the last change before it. Between flushes only the latest value of each task is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.hashing import HashIndex

_SHIFT = np.uint64(32)


_NOT_KNOWN = -1
_NOBODY = (1 << 64) - 1


class Timeline:
    """Number of the value that each task has; `missing` is asked for a task nobody spoke of, once if `keep`."""

    def __init__(self, missing: Callable[[int], int], keep: bool = True) -> None:
        self.now: dict[int, int] = {}
        self._missing = missing
        self._keep = keep
        self._changes: dict[int, list[tuple[int, int]]] = {}

    def get(self, task: int) -> int:
        """The value now."""
        value = self.now.get(task)
        if value is None:
            value = self._missing(task)
            if self._keep:
                self.now[task] = value
        return value

    def set(self, task: int, rank: int, value: int) -> None:
        """The task has this value from this rank on."""
        before = self.now.get(task, _NOT_KNOWN)
        if before == value:
            return
        changes = self._changes.get(task)
        if changes is None:
            self._changes[task] = [(0, before), (rank, value)]
        else:
            changes.append((rank, value))
        self.now[task] = value

    def forget(self, task: int) -> None:
        """The task is long gone."""
        self.now.pop(task, None)

    def settle(self) -> None:
        """End the flush: what holds now is where the next one starts."""
        self._changes.clear()

    def renumber(self, numbers: dict[int, int]) -> None:
        """Values have new numbers; only between flushes."""
        self.now = {task: numbers[value] for task, value in self.now.items()}

    def shrink(self, limit: int) -> None:
        """Drop the tasks that came first when there are more than `limit`."""
        if len(self.now) > limit:
            for task in list(self.now)[: len(self.now) - limit // 2]:
                del self.now[task]

    def at(self, tasks: NDArray[np.uint32], ranks: NDArray[np.int64]) -> NDArray[np.int32]:
        """The value of each task at each rank of this flush."""
        return self.seen_as(tasks, ranks, int).astype(np.int32)

    def seen_as(
        self, tasks: NDArray[np.uint32], ranks: NDArray[np.int64], look: Callable[[int], int]
    ) -> NDArray[np.uint64]:
        """What `look` makes of the value of each task at each rank; it is asked once per task and value."""
        numbers, fresh = HashIndex(1 << max(8, int(tasks.size).bit_length() + 1)).add(tasks.astype(np.uint64))
        seen = tasks[fresh].tolist()
        if self._changes.keys().isdisjoint(seen):
            return np.array([look(self.get(task)) for task in seen], np.uint64)[numbers]
        return self._look_up(seen, numbers, ranks, look)

    def _look_up(
        self, seen: list[int], numbers: NDArray[np.int32], ranks: NDArray[np.int64], look: Callable[[int], int]
    ) -> NDArray[np.uint64]:
        keys: list[int] = []
        values: list[int] = []
        for number, task in enumerate(seen):
            for rank, value in self._changes.get(task) or ((0, self.get(task)),):
                keys.append(number << 32 | rank)
                values.append(_NOBODY if value == _NOT_KNOWN else look(value))
        wanted = (numbers.astype(np.uint64) << _SHIFT) | ranks.astype(np.uint64)
        found = np.array(values, np.uint64)[np.searchsorted(np.array(keys, np.uint64), wanted, side="right") - 1]
        # Asking may be dear: only for tasks that really have a sample from before the first word about them.
        before = found == np.uint64(_NOBODY)
        for number in np.unique(numbers[before]).tolist() if before.any() else ():
            found[before & (numbers == number)] = look(self._missing(seen[number]))
        return found
