"""Samples counted by task and stack in several windows at once: what every view of a profile is made from.

Counts add up: over windows, over segments, over nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from necroscope.vocabulary.event import Window

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Task:
    """A thread, as samples show it. Empty text is unknown."""

    pid: int
    tid: int
    comm: str
    cgroup: str


@dataclass(frozen=True, slots=True)
class SampleCounts:
    """Rows of (task, stack, window): how many samples, and their weight. `stacks` are canonical texts of frames."""

    windows: tuple[Window, ...]
    tasks: tuple[Task, ...]
    stacks: tuple[str, ...]
    task: I64s
    stack: I64s
    window: I64s
    samples: I64s
    weight: F64s
    event: str = ""
    cut: int = 0
    cpus: frozenset[int] = frozenset()
    """Cores that any sample is of, idle ones included."""

    def total(self) -> tuple[I64s, F64s]:
        """Samples and weight of each window."""
        samples, weight = self.by(np.zeros(self.window.size, np.int64), 1)
        return samples[0], weight[0]

    def by(self, key: I64s, keys: int) -> tuple[I64s, F64s]:
        """Sums by a key of each row: (keys, windows) of samples and of weight."""
        place = key * len(self.windows) + self.window
        size = keys * len(self.windows)
        samples = np.bincount(place, self.samples, size).astype(np.int64)
        shape = keys, len(self.windows)
        return samples.reshape(shape), sums(place, self.weight, size).reshape(shape)

    def without(self, stacks: NDArray[np.bool_]) -> SampleCounts:
        """Without the rows of the marked stacks."""
        return self._of_rows(np.flatnonzero(~stacks[self.stack]))

    def _of_rows(self, rows: NDArray[Any]) -> SampleCounts:
        return replace(
            self,
            task=self.task[rows],
            stack=self.stack[rows],
            window=self.window[rows],
            samples=self.samples[rows],
            weight=self.weight[rows],
        )


def sums(place: I64s, values: F64s, size: int) -> F64s:
    """Sums of values by place."""
    return np.bincount(place, values, size).astype(np.float64)
