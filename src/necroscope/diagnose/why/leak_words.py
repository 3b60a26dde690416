"""The old way to what is told about a leak: `diagnose/leak/words.py`."""

from __future__ import annotations

from necroscope.diagnose.leak import words
from necroscope.diagnose.leak.words import in_short, why_it_runs
from necroscope.diagnose.why.leak_source import Source
from necroscope.diagnose.why.ledger_of_leaks import Leaks
from necroscope.model import Evidence
from necroscope.verdict import Growth

__all__ = ["grew", "growth_of", "in_short", "pinned", "why_it_runs"]


def growth_of(leaks: Leaks, source: Source | None) -> Growth | None:
    """How the zombies grew over the time that the picture shows, and the restarts of who leaks them."""
    return words.growth_of(leaks.facts, source.leak if source is not None else None)


def grew(leaks: Leaks) -> list[Evidence]:
    """Parents below which zombies accumulated, the largest first, and how many there are."""
    return words.grew(leaks.facts)


def pinned(leaks: Leaks) -> Evidence | None:
    """What keeps the named zombies; None where nobody saw."""
    return words.pinned(leaks.facts)
