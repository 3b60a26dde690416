"""Stretches of time in which somebody took a core that was busy before and after as well.

On a node that is busy all along, a starved core says little: what counts is that somebody came and took it. So the
core's samples are counted second by second, and a stretch is where one process, or one cgroup, is suddenly most of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.case.starvation.contexts import context_of
from necroscope.query.samples.counting import count_samples
from necroscope.query.samples.sample_counts import SampleCounts
from necroscope.query.samples.sample_time import timed
from necroscope.query.select import Select
from necroscope.sense.perf.event_names import is_time
from necroscope.sense.perf.idle import idle
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

F64s = NDArray[np.float64]
_LEAST_S = 2
_MOST_OF_IT = 0.4
_LESS_BEFORE = 0.5


def taken(snapshot: Snapshot, cpu: int, window: Window, most: int = 2) -> list[Window]:
    """Where somebody took the core within a window, the largest first; whole seconds."""
    seconds = range(window[0] // NS, window[1] // NS + 1)
    windows = [(second * NS, second * NS + NS - 1) for second in seconds]
    select = Select(windows[0], cpus=frozenset({cpu}))
    counts = count_samples(windows, timed(snapshot, select, others=windows[1:], notes=[]))
    if not counts.task.size or not is_time(counts.event):
        return []
    counts = counts.without(idle(counts.stacks))
    found = [one for shares in _shares(counts) for one in _of_one(shares)]
    kept: list[tuple[int, int]] = []
    for _, low, high in sorted(found, reverse=True):
        if all(high < a or low > b for a, b in kept):
            kept.append((low, high))
    return [(windows[low][0], windows[high][1]) for low, high in kept[:most]]


def _shares(counts: SampleCounts) -> list[F64s]:
    """For each process name and each cgroup: its share of the core in every second."""
    contexts = [context_of(text) for text in counts.stacks]
    found = []
    for key in ("comm", "cgroup"):
        labels: dict[str, int] = {}
        of_row = np.empty(counts.task.size, np.int64)
        for row, (task, stack) in enumerate(zip(counts.task.tolist(), counts.stack.tolist(), strict=True)):
            name = contexts[stack] or f"={getattr(counts.tasks[task], key)}"
            of_row[row] = labels.setdefault(name, len(labels))
        weight = counts.by(of_row, len(labels))[1] / NS
        found += [weight[number] for name, number in labels.items() if name not in ("=", "=/")]
    return found


def _of_one(shares: F64s) -> list[tuple[float, int, int]]:
    """Stretches of one of them: how much it took beyond what it takes otherwise, first and last second."""
    on = shares >= _MOST_OF_IT
    on |= np.roll(on, 1) & np.roll(on, -1) & (shares >= 0.5 * _MOST_OF_IT)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], on.astype(np.int8), [0]))))
    found = []
    for low, high in zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True):
        inside, outside = shares[low : high + 1], np.concatenate((shares[:low], shares[high + 1 :]))
        usual = float(outside.mean()) if outside.size else 0.0
        if high - low + 1 >= _LEAST_S and outside.size >= _LEAST_S and usual <= _LESS_BEFORE * float(inside.mean()):
            found.append((float((inside - usual).sum()), low, high))
    return found
