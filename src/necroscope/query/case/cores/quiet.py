"""What is normal on a core: windows about as long as a run, near it in time, away from symptoms and from the run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from necroscope.clock import NS
from necroscope.query.case.surroundings import AFTER_NS, BEFORE_NS, Surroundings
from necroscope.query.cores.core_time import CoreTime
from necroscope.query.cores.starved import runs
from necroscope.query.profile.baseline import away_from, spread
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import MODES

_MOST, _FEW = 12, 3
_LEAST_S, _SHORTEST_S, _LONGEST_S = 2.0, 2.0, 10.0
_ALMOST = 0.9
_USUALLY_BUSY = 0.8
_ALIKE = 0.5


def quiet_windows(around: Surroundings, run: Run, most: int = _MOST) -> list[Window]:
    """What is normal for a run.

    Where a recording is so short that nothing is left, it may be nearer to symptoms; the starved time of the run's core
    is always left out.
    """
    length = int(min(max(run.seconds, _SHORTEST_S), _LONGEST_S) * NS)
    symptoms = [*around.symptoms_ns, around.symptom.at_ns]
    limits = [(max(around.near[0], around.recorded[0]), min(around.near[1], around.recorded[1]))]
    bad = _not_quiet(around, run, symptoms)
    found = away_from(symptoms, limits, bad, length, most, _FEW)
    if len(found) >= _FEW:
        return found
    found = spread(limits, bad, length, most)
    return found if len(found) >= _FEW else spread(limits, bad, round(_SHORTEST_S * NS), most)


def _not_quiet(around: Surroundings, run: Run, symptoms: Sequence[int]) -> list[Window]:
    """The run itself, and the same thing again before another symptom, with what belongs to them on both sides; also
    where it left the core a little idle time, as real-time threads do that the kernel stops now and then.

    Without a symptom after it, the same thing again is quiet time: it does no harm. A longer run of which this one is
    a part is what is usual there, not the same again.
    """
    lookbacks = [(at - BEFORE_NS, at + AFTER_NS) for at in symptoms]
    of_core = around.times.of(frozenset({run.cpu}))
    almost = runs(of_core, _ALMOST, _LEAST_S) if run.counted else []
    again = [
        one
        for one in (*around.runs, *almost)
        if one.cpu == run.cpu
        and _alike(one, run)
        and not _part_of(run, one)
        and any(one.overlaps(window) for window in lookbacks)
    ]
    return [_with_shoulders(of_core, one) for one in (*again, run)]


def _part_of(run: Run, whole: Run) -> bool:
    """Whether a run is a small part of another one."""
    return whole.from_ns <= run.from_ns and run.to_ns <= whole.to_ns and run.seconds <= 0.5 * whole.seconds


def _alike(one: Run, run: Run) -> bool:
    """Whether another run may be the same thing again: spent in much the same way."""
    return sum(abs(a - b) for a, b in zip(one.shares, run.shares, strict=True)) < _ALIKE


def _with_shoulders(of_core: CoreTime, run: Run) -> Window:
    """A run with the time just before and after it in which its core was still much busier than it usually is.

    A look of a second in which somebody took the core for half of it is no starved core, but no quiet time either.
    """
    low, high = run.from_ns - NS, run.to_ns + NS
    total = of_core.spent.sum(axis=1)
    if not total.size or not run.counted:
        return low, high
    busy = 1.0 - of_core.spent[:, MODES.index("idle")] / np.maximum(1, total)
    usual = float(np.median(busy))
    if usual > _USUALLY_BUSY:
        return low, high
    longest = max(2 * NS, min(run.to_ns - run.from_ns, 10 * NS))
    more = busy >= usual + 0.5 * (1.0 - usual)
    looks = list(zip(of_core.begin_ns[more].tolist(), of_core.at_ns[more].tolist(), strict=True))
    for begin, end in looks:
        if end > high >= begin and high - run.to_ns < longest:
            high = end
    for begin, end in reversed(looks):
        if begin < low <= end and run.from_ns - low < longest:
            low = begin
    return low, high
