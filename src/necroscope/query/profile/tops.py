"""Who took the cores: processes, threads, functions, cgroups and modules of a window, and what is unusual about it.

Sorted by what is big; against a baseline, by what is unusual: changes that are hardly chance first, by their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from necroscope.query.profile import odds
from necroscope.query.profile.flame import SURE
from necroscope.query.samples.sample_counts import SampleCounts

Dimension = Literal["process", "thread", "function", "self", "cgroup", "module"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
"""What a row is: `function` counts a function and what it calls, `self` the function alone."""

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Top:
    """One row: `cores` is how many cores it took on average, `before` the same in the baseline, None without one."""

    name: str
    detail: str
    samples: int
    cores: float
    before: float | None = None
    chance: float = 1.0

    @property
    def significant(self) -> bool:
        """Whether it differs from the baseline by more than chance."""
        return self.before is not None and self.chance < SURE

    @property
    def lift(self) -> float | None:
        """How many times as much as in the baseline; None without one, infinite for what was not there."""
        if self.before is None:
            return None
        return self.cores / self.before if self.before > 0 else float("inf")


def tops(counts: SampleCounts, by: Dimension, seconds: F64s, core_seconds: F64s, per_weight: float) -> list[Top]:
    """All rows, the most remarkable first. The first window is compared with the others, where there are any."""
    names, samples, weight = _sums(counts, by)
    cores = weight[:, 0] * per_weight / max(float(seconds[0]), 1e-9)
    compared = samples.shape[1] > 1
    before = weight[:, 1:].sum(axis=1) * per_weight / max(float(seconds[1:].sum()), 1e-9) if compared else None
    chance = odds.surprise(samples, core_seconds)
    found = [
        Top(
            name,
            detail,
            int(samples[row, 0]),
            float(cores[row]),
            None if before is None else float(before[row]),
            float(chance[row]),
        )
        for row, (name, detail) in enumerate(names)
        if samples[row].any()
    ]
    return sorted(found, key=_remarkable)


def _remarkable(row: Top) -> tuple[bool, float, str]:
    if row.significant and row.before is not None:
        return False, -abs(row.cores - row.before), row.name
    return True, -row.cores, row.name


def _sums(counts: SampleCounts, by: Dimension) -> tuple[list[tuple[str, str]], I64s, F64s]:
    """Names with details, and (names, windows) of samples and weight."""
    if by in ("process", "thread", "cgroup"):
        labels = [_task_label(task.pid, task.tid, task.comm, task.cgroup, by) for task in counts.tasks]
        names = list(dict.fromkeys(labels))
        number = {name: place for place, name in enumerate(names)}
        of_task = np.array([number[label] for label in labels] or [0], np.int64)
        return _with_names(counts, by, names), *counts.by(of_task[counts.task], len(names))
    samples, weight = counts.by(counts.stack, len(counts.stacks))
    names, stack, name = _frames(counts.stacks, by)
    columns = range(samples.shape[1])
    return (
        names,
        np.stack([np.bincount(name, samples[stack, one], len(names)) for one in columns], axis=1).astype(np.int64),
        np.stack([np.bincount(name, weight[stack, one], len(names)) for one in columns], axis=1).astype(np.float64),
    )


def _task_label(pid: int, tid: int, comm: str, cgroup: str, by: Dimension) -> tuple[str, str]:
    if by == "cgroup":
        return cgroup or "[unknown]", ""
    if (pid if by == "process" else tid) < 0:
        return comm or "[unknown]", ""
    return ("", str(pid)) if by == "process" else (comm, str(tid))


def _with_names(counts: SampleCounts, by: Dimension, names: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A process is called as its main thread mostly was, or as most of its threads were when that was not seen."""
    if by != "process":
        return names
    samples = np.bincount(counts.task, counts.samples, len(counts.tasks)).tolist()
    best: dict[str, tuple[bool, float, str]] = {}
    for task, count in zip(counts.tasks, samples, strict=True):
        best[str(task.pid)] = max(best.get(str(task.pid), (False, -1.0, "")), (task.tid == task.pid, count, task.comm))
    return [(best[pid][2] if pid else name, pid) for name, pid in names]


def _frames(stacks: tuple[str, ...], by: Dimension) -> tuple[list[tuple[str, str]], I64s, I64s]:
    """Names of functions or modules, and pairs of a stack and a name that is in it, each pair once."""
    number: dict[str, int] = {}
    of_stack: list[int] = []
    of_name: list[int] = []
    for place, text in enumerate(stacks):
        frames = text.split("\x1e")[:-1]
        if by == "self":
            frames = frames[-1:]
        if by == "module":
            frames = [frame.partition("\x1f")[2] for frame in frames]
        for frame in set(frames):
            of_stack.append(place)
            of_name.append(number.setdefault(frame, len(number)))
    pairs = ((frame, "", "") if by == "module" else frame.partition("\x1f") for frame in number)
    return (
        [(name, module) for name, _, module in pairs],
        np.array(of_stack, np.int64),
        np.array(of_name, np.int64),
    )
