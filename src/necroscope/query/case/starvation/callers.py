"""Who called functions by which work of other cores is ordered: senders, forkers, whoever flushes TLBs."""

from __future__ import annotations

from collections.abc import Sequence

from necroscope.query.case.starvation.contexts import context_among
from necroscope.query.case.wanted import Names
from necroscope.query.profile.profile import Profile, profile
from necroscope.query.samples.kernel_frames import kernel_functions
from necroscope.query.select import Select
from necroscope.store.read.reader import Store
from necroscope.vocabulary.case import CALLERS_MOST, PIDS_MOST, Caller, Callers, Run
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.kernel_threads import is_the_kernels

_QUIET_MOST = 6


def read_callers(store: Store, run: Run, quiet: Sequence[Window], names: Names) -> Callers:
    """Who called them in the window of a run and in quiet times, on any core."""
    return callers_in(profile(store, Select(run.window), quiet[:_QUIET_MOST]), names)


def callers_in(profile: Profile, names: Names) -> Callers:
    """Who called them in a profile, the longest in the first window first. Interrupts and the kernel's own threads are
    nobody's."""
    counts = profile.counts
    called = [_called(text, names) for text in counts.stacks]
    found: dict[tuple[str, str, tuple[str, ...]], _Called] = {}
    for task, stack, window, weight in zip(
        counts.task.tolist(), counts.stack.tolist(), counts.window.tolist(), counts.weight.tolist(), strict=True
    ):
        if not called[stack]:
            continue
        who = counts.tasks[task]
        if not is_the_kernels(who.comm, (who.cgroup,)):
            one = found.setdefault((who.comm, who.cgroup, called[stack]), _Called())
            one.add(who.pid, window == 0, weight * profile.per_weight)
    callers = [
        Caller(name, cgroup, functions, one.now_s, one.before_s, one.first_pids())
        for (name, cgroup, functions), one in found.items()
    ]
    callers.sort(key=lambda one: (-one.seconds, -one.before_s, one.name, one.functions))
    return Callers(float(profile.seconds[0]), float(profile.seconds[1:].sum()), tuple(callers[:CALLERS_MOST]))


def _called(frames: str, names: Names) -> tuple[str, ...]:
    functions = kernel_functions(frames)
    return () if context_among(functions) else names.among(functions)


class _Called:
    """How long one caller was seen, and by which processes."""

    def __init__(self) -> None:
        self.now_s = self.before_s = 0.0
        self._pids: dict[int, float] = {}

    def add(self, pid: int, now: bool, seconds: float) -> None:
        if not now:
            self.before_s += seconds
            return
        self.now_s += seconds
        self._pids[pid] = self._pids.get(pid, 0.0) + seconds

    def first_pids(self) -> tuple[int, ...]:
        """The first by time."""
        return tuple(sorted(self._pids, key=lambda pid: -self._pids[pid])[:PIDS_MOST])
