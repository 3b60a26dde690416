"""Who was on a core: its samples in the window by process, cgroup and context, against what is normal there.

A sample in an interrupt is nobody's: it hit whoever ran. Whoever is always there is not the cause of what is rare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from necroscope.query.case.starvation.contexts import SOFTIRQ_THREAD, context_among
from necroscope.query.case.starvation.shapes import Shape, shape_of, stacks_of
from necroscope.query.profile import odds
from necroscope.query.profile.profile import Profile
from necroscope.vocabulary.case import (
    EVERYBODYS_STACKS_MOST,
    PIDS_MOST,
    STACKS_MOST,
    SUSPECTS_MOST,
    Context,
    LineUp,
    Suspect,
)

F64s = NDArray[np.float64]
I64s = NDArray[np.int64]
_Who = tuple[str, str, Context]
"""Name, cgroup, context."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a line-up is kept: suspects, stacks of each, stacks of all together."""

    suspects: int = SUSPECTS_MOST
    stacks: int = STACKS_MOST
    everybody: int = EVERYBODYS_STACKS_MOST


def line_up(profile: Profile, length_s: float, bounds: Bounds | None = None) -> LineUp:
    """The suspects of a profile's first window, which lasted so long; its other windows are quiet times."""
    bounds = bounds or Bounds()
    counts = profile.counts
    shapes = [shape_of(text) for text in counts.stacks]
    seen = _Seen(profile, shapes, length_s)
    who, of_row = _labelled(profile, [context_among(functions) for functions, _, _ in shapes])
    groups: dict[str, int] = {}
    by_group = [groups.setdefault(cgroup if not context else "", len(groups)) for _, cgroup, context in who]
    of_group = np.array(by_group or [0], np.int64)[of_row]
    found = seen.suspects(who, of_row, bounds.suspects, bounds.stacks)
    cgroups = seen.suspects([("", name, "") for name in groups], of_group, bounds.suspects, bounds.stacks, ("", "/"))
    whole = seen.suspects([("", "", "")], np.zeros(counts.task.size, np.int64), 1, bounds.everybody)
    everybody = whole[0] if whole else None
    return LineUp(found, cgroups, everybody, everybody.share if everybody else 0.0, len(counts.windows) - 1)


def with_cgroups(line_up: LineUp, cgroups: Mapping[int, Sequence[str]]) -> LineUp:
    """With the cgroups that were read when their processes were looked at, by pid."""

    def of(one: Suspect) -> Suspect:
        return replace(one, cgroups=tuple(dict.fromkeys(path for pid in one.pids for path in cgroups.get(pid, ()))))

    return replace(line_up, suspects=tuple(map(of, line_up.suspects)), by_cgroup=tuple(map(of, line_up.by_cgroup)))


def _labelled(profile: Profile, contexts: Sequence[Context]) -> tuple[list[_Who], I64s]:
    """Whose each counted row is, as a number."""
    counts = profile.counts
    names = _process_names(profile)
    labels: dict[_Who, int] = {}
    of_row = np.empty(counts.task.size, np.int64)
    for row, (task, stack) in enumerate(zip(counts.task.tolist(), counts.stack.tolist(), strict=True)):
        of_row[row] = labels.setdefault(_label(profile, names, contexts[stack], task), len(labels))
    return list(labels), of_row


def _label(profile: Profile, names: Mapping[int, str], context: Context, task: int) -> _Who:
    who = profile.counts.tasks[task]
    if context or who.comm.startswith(SOFTIRQ_THREAD):
        return "", "", context or "softirq"
    return names.get(who.pid, who.comm) if who.pid >= 0 else who.comm, who.cgroup, ""


def _process_names(profile: Profile) -> dict[int, str]:
    """A process is called as its main thread; an exec in between leaves it its last name. Threads follow it."""
    names: dict[int, str] = {}
    several: set[int] = set()
    for task in profile.counts.tasks:
        if task.tid == task.pid:
            if task.pid in names:
                several.add(task.pid)
            names[task.pid] = task.comm
    return {pid: name for pid, name in names.items() if pid not in several}


class _Seen:
    """A profile's first window against its others, by whatever its rows are grouped by."""

    def __init__(self, profile: Profile, shapes: Sequence[Shape], length_s: float) -> None:
        self._profile, self._counts, self._shapes = profile, profile.counts, shapes
        self._length_s = length_s
        self._kernel = np.array([kernel for _, _, kernel in shapes] or [False])
        self._quiet_s = float(profile.seconds[1:].sum())
        self._first = self._counts.window == 0

    def suspects(
        self, who: Sequence[_Who], of_row: I64s, most: int, stacks: int, without: Iterable[str] = ()
    ) -> tuple[Suspect, ...]:
        """Everybody seen in the first window but some cgroups: those with the largest excess."""
        if not self._counts.task.size or not who:
            return ()
        samples, weight = self._counts.by(of_row, len(who))
        seconds = weight * self._profile.per_weight
        chance = odds.surprise(samples, self._profile.core_seconds)
        skipped = frozenset(without)
        share = seconds[:, 0] / max(self._length_s, 1e-9)
        before = seconds[:, 1:].sum(axis=1) / self._quiet_s if self._quiet_s > 0 else None
        excess = share if before is None else share - before
        there = [
            number for number in np.unique(of_row[self._first]).tolist() if not (skipped and who[number][1] in skipped)
        ]
        there.sort(key=lambda number: (-excess[number], who[number][0]))
        return tuple(
            self._suspect(
                who[number],
                np.flatnonzero(self._first & (of_row == number)),
                float(seconds[number, 0]),
                float(share[number]),
                float(before[number]) if before is not None else None,
                float(chance[number]),
                stacks,
            )
            for number in there[:most]
        )

    def _suspect(
        self, who: _Who, rows: I64s, seconds: float, share: float, before: float | None, chance: float, stacks: int
    ) -> Suspect:
        name, cgroup, context = who
        weight, stack = self._counts.weight[rows], self._counts.stack[rows]
        pids = self._pids(rows) if name or (cgroup and not context) else self._softirq_thread(rows)
        return Suspect(
            name,
            cgroup,
            context,
            pids[:PIDS_MOST],
            seconds,
            share,
            before,
            chance,
            float((weight * self._kernel[stack]).sum() / max(1e-9, weight.sum())),
            stacks_of(self._shapes, stack.tolist(), (weight * self._profile.per_weight).tolist(), stacks),
            processes=max(1, len(pids)),
        )

    def _pids(self, rows: I64s) -> tuple[int, ...]:
        """Processes by how much they took, the most first."""
        took: dict[int, float] = {}
        for row in rows.tolist():
            pid = self._counts.tasks[int(self._counts.task[row])].pid
            took[pid] = took.get(pid, 0.0) + float(self._counts.weight[row])
        return tuple(sorted((pid for pid in took if pid >= 0), key=lambda pid: -took[pid]))

    def _softirq_thread(self, rows: I64s) -> tuple[int, ...]:
        """The kernel's thread that worked off soft interrupts, where it did so most of the time."""
        tasks = [self._counts.tasks[task] for task in self._counts.task[rows].tolist()]
        own = [number for number, task in enumerate(tasks) if task.comm.startswith(SOFTIRQ_THREAD)]
        weight = self._counts.weight[rows]
        if own and float(weight[own].sum()) >= 0.5 * float(weight.sum()):
            return (tasks[own[0]].pid,)
        return ()
