"""Which starved cores are looked at: few are read, those that suit the symptom best at first sight."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from necroscope.clock import NS
from necroscope.query.case.cores.starved import of_kind
from necroscope.query.case.cores.taken import taken
from necroscope.query.case.surroundings import Surroundings
from necroscope.query.cores.starved import within
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.event import Window

MOST = 4
Waited = Callable[[Run], float | None]
"""The longest that anybody waited for the core of a run, as a share of it; None: unknown."""

# Of a run that goes on for long, the last of it before the symptom tells enough.
LONGEST_NS, LAST_NS, AFTER_NS = 40 * NS, 20 * NS, 2 * NS
_LONG_S = 10.0
_MOST_OF_IT = 0.5
_FULL_S, _SOON_S, _LATE_S = 4, 12.0, 20.0
_LEAST_KERNEL = 0.45


def chosen(around: Surroundings, waited: Waited, most: int = MOST) -> list[Run]:
    """Starved cores of the time before the symptom: those of the core that the symptom names first, then those that
    suit best at first sight."""
    named = around.named.cpu if around.named is not None else None
    at_ns = around.symptom.at_ns
    found = [run for run in around.runs if around.in_time(run)]
    found += _with_waits(around, found, waited)
    return sorted(found, key=lambda run: (run.cpu != named, -_first_sight(run, at_ns)))[:most]


def clipped(run: Run, at_ns: int) -> Run:
    """The part of a run that is looked at."""
    if run.to_ns - run.from_ns <= LONGEST_NS:
        return run
    to_ns = min(run.to_ns, at_ns + AFTER_NS)
    return replace(run, from_ns=max(run.from_ns, to_ns - LAST_NS), to_ns=to_ns)


def _with_waits(around: Surroundings, full: Sequence[Run], waited: Waited) -> list[Run]:
    """Cores that were starved only because somebody waited for them. Those that are little more than one of the full
    times are left out."""
    if not around.counted:
        return []
    found: list[Run] = []
    for kind in around.kinds.waited:
        every = of_kind(around.times, kind, around.config.cpu)
        other = [run for run in every if around.in_time(run) and not any(_same(run, one) for one in full)]
        longest = sorted(other, key=lambda run: -run.seconds)[:MOST]
        found += [run for run in longest if (share := waited(run)) is not None and share >= kind.waited]
    return found


def _same(nearly: Run, full: Run) -> bool:
    """Whether a nearly full time of a core is little more than a full one that was found in it."""
    shared = min(nearly.to_ns, full.to_ns) - max(nearly.from_ns, full.from_ns)
    return nearly.cpu == full.cpu and shared >= _MOST_OF_IT * (nearly.to_ns - nearly.from_ns)


def looked_through(around: Surroundings, run: Run) -> Window | None:
    """Where in a run that is longer than an incident lasts the parts are that somebody took; None: it is none."""
    if run.seconds < _LONG_S:
        return None
    return max(run.from_ns, around.lookback[0]), min(run.to_ns, around.lookback[1])


def parts_of(around: Surroundings, run: Run) -> list[Run]:
    """Of a run that is longer than an incident lasts, the parts in which somebody took the core."""
    window = looked_through(around, run)
    if window is None:
        return []
    found = taken(around.store.snapshot(window), run.cpu, window)
    return [replace(within(around.times, run, one), kind="taken") for one in found]


def _first_sight(run: Run, at_ns: int) -> float:
    """How well a run suits a symptom before anything else is read: by its time in the kernel, when, and how long."""
    ago_s = max(0.0, (at_ns - run.to_ns) / NS - _SOON_S)
    kernel = _LEAST_KERNEL + (1 - _LEAST_KERNEL) * run.kernel
    return kernel * math.exp(-ago_s / _LATE_S) * min(1.0, run.seconds / _FULL_S)
