"""How often causes that were named with some confidence were right: the reliability of `why`, by scenario left out.

What a confidence is worth is estimated from the runs of all other scenarios with a confidence of the same range, and
then compared with the runs of the scenario that was left out: it has not been seen by its own judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from necroscope.lab.scoring.marking import Judgement

EDGES = (0.5, 0.65, 0.8, 0.9, 1.0)
# Runs that a range is given in advance, which are right as often as they claim: a few runs prove little.
_IN_ADVANCE = 2.0


@dataclass(frozen=True, slots=True)
class Range:
    """Runs whose cause was named with a confidence from `low` to `high`: how sure they were, how many were right, and
    how many of them would be right as far as the other scenarios tell (None: those have no such run)."""

    low: float
    high: float
    runs: int
    confidence: float
    right: float
    by_others: float | None


def reliability(judgements: Sequence[Judgement]) -> list[Range]:
    """The ranges that have runs, from the least sure on. What did not happen is not judged."""
    named = [one for one in judgements if one.confidence is not None and one.happened]
    found = []
    for low, high in pairwise(EDGES):
        here = [one for one in named if low <= _sure(one) < high or (high == EDGES[-1] and _sure(one) == high)]
        if here:
            found.append(_range(low, high, here))
    return found


def _range(low: float, high: float, here: Sequence[Judgement]) -> Range:
    expected = [value for one in here if (value := _by_others(one, here)) is not None]
    return Range(
        low,
        high,
        len(here),
        sum(map(_sure, here)) / len(here),
        sum(one.mark == "right" for one in here) / len(here),
        sum(expected) / len(expected) if expected else None,
    )


def _by_others(one: Judgement, here: Sequence[Judgement]) -> float | None:
    others = [other for other in here if other.scenario != one.scenario]
    if not others:
        return None
    claimed = sum(map(_sure, others)) / len(others)
    right = sum(other.mark == "right" for other in others)
    return (right + _IN_ADVANCE * claimed) / (len(others) + _IN_ADVANCE)


def _sure(one: Judgement) -> float:
    return one.confidence if one.confidence is not None else 0.0
