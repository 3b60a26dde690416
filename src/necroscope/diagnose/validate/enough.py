"""How long one must look: that nothing came is evidence only where something would have come.

What comes at random at a steady rate stays away by chance with probability exp(-expected). Three expected and none seen
leave one chance in twenty that nothing changed.
"""

from __future__ import annotations

from necroscope.quantity import span

EXPECTED = 3.0


def expected(times_before: float, before_s: float, after_s: float) -> float:
    """How many would have come after, had nothing changed."""
    return times_before / before_s * after_s if before_s > 0 else 0.0


def needed_s(times_before: float, before_s: float) -> float:
    """How long one must look."""
    return EXPECTED * before_s / times_before


def longer(times_before: float, before_s: float) -> str:
    """What would make it conclusive."""
    seconds = needed_s(times_before, before_s)
    return f"look for {span(seconds)} at least: `--for {_option(seconds)}`"


def _option(seconds: float) -> str:
    """A little more: the first seconds after a change do not count, and rates are not exact."""
    whole = int(1.1 * seconds) + 10
    return f"{whole}s" if whole < 120 else f"{whole // 60 + 1}m"
