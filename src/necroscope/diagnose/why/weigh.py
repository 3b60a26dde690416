"""How sure a verdict is: the links of its chain multiplied, each by what it is worth. Below the floor, nobody is named.

The weights are set by hand from what each link can get wrong, and checked against scenarios of the lab.
"""

from __future__ import annotations

import math

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.diagnose.why.named_core import NamedCore
from necroscope.diagnose.why.suspects import LineUp, Suspect

FLOOR = 0.5
"""Below this a verdict is "unexplained": abstaining beats guessing."""

HALF_TOLD = 0.65
"""A verdict that does not know the mechanism, or whom to act on, is not surer than this, however clear the rest."""

FEW_SAMPLES = 0.6
"""With a smaller part of a busy core's time sampled, something kept the samples away."""

_SOON_S, _LATE_S = 12.0, 20.0


def run_score(run: Run, suspect: Suspect | None, at_ns: int, named: NamedCore | None, sampled: float = 1.0) -> float:
    """How well a starved core suits a symptom, from 0 to 1: by who was on it, what it did, when, and for how long.

    Where little of the time could be sampled, as with interrupts off, whoever has the samples stands for the rest.
    """
    if suspect is None:
        return 0.0
    took = suspect.excess / max(sampled, 0.05) if sampled < FEW_SAMPLES else suspect.excess
    score = max(0.0, min(1.0, took)) * (0.45 + 0.55 * run.kernel)
    score *= nearness(run, at_ns) * min(1.0, run.seconds / 4)
    if suspect.before is None:
        score *= 0.4
    elif not suspect.unusual:
        score *= 0.1
    if named is not None:
        score *= 1.0 if run.cpu == named.cpu else named.others_count
    return score


def nearness(run: Run, at_ns: int) -> float:
    """1 for a run that goes on at the symptom or ended some seconds before it, less the longer ago it was."""
    ago_s = (at_ns - run.to_ns) / NS
    if ago_s <= _SOON_S:
        return 1.0
    return math.exp(-(ago_s - _SOON_S) / _LATE_S)


def who_strength(suspect: Suspect, lineup: LineUp, run: Run) -> float:
    """How sure it is that the suspect held the core: by his share of what was sampled, and by what is usual."""
    sampled = max(lineup.sampled, 0.05)
    part = min(1.0, suspect.share / min(1.0, sampled))
    strength = min(0.985, 0.5 + 0.55 * part)
    if suspect.before is None or lineup.blocks == 0:
        strength *= 0.7 + 0.2 * run.kernel
    elif not suspect.unusual:
        strength *= 0.4
    if lineup.sampled < 0.5:
        strength *= 0.75
    return strength * (0.9 if run.seconds < 2.5 else 1.0)


def beside_rival(standing: float) -> float:
    """How sure a verdict still is beside a rival that claims so much of the lost time for itself."""
    return 1 - 0.6 * standing


def core_strength(run: Run, at_ns: int, named: NamedCore | None, rival_score: float, own_score: float) -> float:
    """How sure it is that this core's starvation made the symptom: when it was, and whether another one suits too."""
    strength = 0.99 * math.pow(nearness(run, at_ns), 0.7)
    if named is not None and named.cpu != run.cpu:
        strength *= named.others_sure
    if own_score > 0:
        strength *= 1 - 0.6 * math.pow(min(1.0, rival_score / own_score), 2)
    return strength
