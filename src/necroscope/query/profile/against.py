"""A window against a profile from elsewhere: another recording, file or bundle, whose tasks have other numbers.

What is compared are cores on average: of each profile its own, however long it is and however often it was sampled.
Where one of them has no times (folded stacks, pprof), both are shares of their samples. Processes and threads are
matched by name.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.profile.profile import Profile
from necroscope.query.samples.sample_counts import SampleCounts, Task
from necroscope.query.select import FOLDED
from necroscope.sense.perf.event_names import is_time
from necroscope.sense.perf.samples import UNKNOWN
from necroscope.vocabulary.event import Window

F64s = NDArray[np.float64]
I64s = NDArray[np.int64]
_BLOCKS = 12
_MARKED = frozenset(("", UNKNOWN, "[kernel]", "[jit]", "[inlined]"))
"""Modules that folded stacks can have."""


def blocks(window: Window) -> list[Window]:
    """A recording cut into a dozen pieces of a second at least: what differs between them is no news."""
    length = window[1] - window[0] + 1
    count = max(1, min(_BLOCKS, length // NS))
    edges = [window[0] + length * number // count for number in range(count + 1)]
    return [(low, high - 1) for low, high in pairwise(edges)]


def against(made: Profile, other: Profile, name: str) -> Profile:
    """The first window of `made`, with all those of `other` as its baseline. `BadInput`: they differ in kind."""
    kinds = made.counts.event, other.counts.event
    if kinds[0] != kinds[1] and not all(kind == FOLDED or is_time(kind) for kind in kinds):
        raise BadInput(f"{name} cannot be compared: it counts {kinds[1]}, the window {kinds[0]}.", "see --event-type")
    timed = made.timed and other.timed
    parts = [_first(made.counts), other.counts if timed else _one(other.counts)]
    if not timed:
        parts = _alike(parts)
    scales = [
        one.per_weight if timed else _share(float(part.weight.sum()))
        for one, part in zip((made, other), parts, strict=True)
    ]
    counts = _together(parts, scales, kinds[0] if timed or kinds[0] == kinds[1] else FOLDED)
    seconds, core_seconds = (
        np.concatenate([first[:1], rest]) if timed else np.ones(2)
        for first, rest in ((made.seconds, other.seconds), (made.core_seconds, other.core_seconds))
    )
    exposures = _exposures(counts, core_seconds, timed)
    notes = (*made.notes, *(f"{name}: {note}" for note in other.notes))
    cores, counted = (made.cores, made.counted) if timed else (1, False)
    return Profile(made.select, counts, cores, seconds, exposures, np.zeros(seconds.size), 1.0, counted, notes)


def _share(total: float) -> float:
    return 1 / total if total > 0 else 0.0


def _first(counts: SampleCounts) -> SampleCounts:
    """The rows of the first window alone."""
    rows = np.flatnonzero(counts.window == 0)
    return replace(
        counts,
        windows=counts.windows[:1],
        task=counts.task[rows],
        stack=counts.stack[rows],
        window=counts.window[rows],
        samples=counts.samples[rows],
        weight=counts.weight[rows],
    )


def _one(counts: SampleCounts) -> SampleCounts:
    """All rows as those of one window."""
    window = counts.windows[0][0], counts.windows[-1][1]
    return replace(counts, windows=(window,), window=np.zeros_like(counts.window))


def _alike(parts: list[SampleCounts]) -> list[SampleCounts]:
    """What one of two profiles lacks is left out of the other, so that the same code has the same name.

    Folded stacks have no modules, and the thread's name as their outermost frame.
    """
    if any(_moduleless(part) for part in parts):
        parts = [replace(part, stacks=tuple(map(_without_modules, part.stacks))) for part in parts]
    if len({any(task.comm for task in part.tasks) for part in parts}) == 2:
        parts = [_with_threads(part) for part in parts]
    return parts


def _moduleless(counts: SampleCounts) -> bool:
    return not any(
        module not in _MARKED for text in counts.stacks for module in (one.partition("\x1f")[2] for one in _cut(text))
    )


def _without_modules(stack: str) -> str:
    pairs = (frame.partition("\x1f")[::2] for frame in _cut(stack))
    return "".join(f"{_called(name, module)}\x1f{UNKNOWN}\x1e" for name, module in pairs)


def _called(name: str, module: str) -> str:
    """A function without a name is called after its module, as tools write it that know no modules."""
    if name != UNKNOWN or module in ("", UNKNOWN):
        return name
    return module if module.startswith("[") else f"[{module}]"


def _with_threads(counts: SampleCounts) -> SampleCounts:
    """The name of the thread, where there is one, as the outermost frame of its stacks."""
    width = max(1, len(counts.stacks))
    pairs, stack = np.unique(counts.task * width + counts.stack, return_inverse=True)
    stacks = []
    for task, one in (divmod(pair, width) for pair in pairs.tolist()):
        comm = counts.tasks[task].comm.replace(" ", "_")
        stacks.append(f"{comm}\x1f{UNKNOWN}\x1e{counts.stacks[one]}" if comm else counts.stacks[one])
    return replace(counts, stacks=tuple(stacks), stack=stack.reshape(-1).astype(np.int64))


def _cut(stack: str) -> list[str]:
    return stack.split("\x1e")[:-1]


def _together(parts: list[SampleCounts], scales: list[float], event: str) -> SampleCounts:
    """Both counts as one, its first window that of the first; tasks by name, stacks by their frames."""
    tasks: dict[Task, int] = {}
    stacks: dict[str, int] = {}
    columns: list[tuple[I64s, I64s, I64s, I64s, F64s]] = []
    for before, part, scale in zip((0, 1), parts, scales, strict=True):
        named = [Task(-1, -1, task.comm, task.cgroup) for task in part.tasks]
        task = np.array([tasks.setdefault(one, len(tasks)) for one in named] or [0], np.int64)
        stack = np.array([stacks.setdefault(one, len(stacks)) for one in part.stacks] or [0], np.int64)
        columns.append((task[part.task], stack[part.stack], before + part.window, part.samples, part.weight * scale))
    task, stack, place, samples = (np.concatenate([part[one] for part in columns]) for one in range(4))
    weight = np.concatenate([part[4] for part in columns])
    windows, cut = (*parts[0].windows, *parts[1].windows), sum(part.cut for part in parts)
    rows = task, stack, place, samples, weight
    return SampleCounts(windows, tuple(tasks), tuple(stacks), *rows, event=event, cut=cut, cpus=parts[0].cpus)


def _exposures(counts: SampleCounts, core_seconds: F64s, timed: bool) -> F64s:
    """What the number of samples in each window is in proportion to: core-seconds, times how often it was sampled."""
    samples, weight = (one.astype(np.float64) for one in counts.total())
    if not timed:
        return samples
    often = [float(samples[rows].sum()) / max(float(weight[rows].sum()), 1e-12) for rows in (slice(1), slice(1, None))]
    exposures: F64s = core_seconds * np.where(np.arange(core_seconds.size) > 0, often[1] / max(often[0], 1e-12), 1.0)
    return exposures
