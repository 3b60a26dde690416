"""Cores without idle time, of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from necroscope.config import CpuLimits
from necroscope.query.case.cores.kinds import Kind, Kinds
from necroscope.query.cores.core_time import CoreTime
from necroscope.query.cores.starved import runs
from necroscope.vocabulary.case import Run

_NEARLY_ALL = 0.75


def starved(times: CoreTime, kinds: Kinds, limits: CpuLimits) -> list[Run]:
    """Starved cores by their counters, in order of time; and the part of a longer run in which a core was held in the
    kernel, as a run of its own."""
    found = [of_kind(times, one, limits) for one in kinds.counted]
    kept = [
        run
        for place, same in enumerate(found)
        for run in same
        if not any(_nearly_all_of(part, run) for part in chain.from_iterable(found[place + 1 :]))
    ]
    return in_order(kept)


def of_kind(times: CoreTime, kind: Kind, limits: CpuLimits) -> list[Run]:
    """Starved cores of one kind, whoever waited."""
    found = runs(times, kind.busy_of(limits), kind.seconds, kind.kernel, kind.interrupts)
    return [replace(run, kind=kind.name) for run in found]


def in_order(found: Sequence[Run]) -> list[Run]:
    """Oldest first."""
    return sorted(found, key=lambda run: (run.from_ns, run.cpu))


def _nearly_all_of(part: Run, whole: Run) -> bool:
    overlap = min(part.to_ns, whole.to_ns) - max(part.from_ns, whole.from_ns)
    return part.cpu == whole.cpu and overlap >= _NEARLY_ALL * (whole.to_ns - whole.from_ns)
