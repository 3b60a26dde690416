"""Counts of which only some stacks are looked at, or that are looked at from the other end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from necroscope.query.samples.sample_counts import SampleCounts

Wanted = Callable[[str], bool]


def wanted_stacks(include: str = "", exclude: str = "") -> Wanted | None:
    """Which stacks have a function or module with the first text in its name and none with the second, whatever the
    case of letters; None where nothing is asked for."""
    with_, without = include.casefold(), exclude.casefold()
    if not with_ and not without:
        return None

    def wanted(stack: str) -> bool:
        text = stack.casefold()
        return (not with_ or with_ in text) and not (without and without in text)

    return wanted


def sifted(counts: SampleCounts, wanted: Wanted | None) -> SampleCounts:
    """Only the rows of wanted stacks."""
    if wanted is None or not counts.stacks:
        return counts
    return counts.without(np.array([not wanted(stack) for stack in counts.stacks], np.bool_))


def inverted(counts: SampleCounts) -> SampleCounts:
    """With the innermost frame of each stack outermost: what was called stands below who called it."""
    return replace(counts, stacks=tuple(map(_reversed, counts.stacks)))


def _reversed(stack: str) -> str:
    return "".join(f"{frame}\x1e" for frame in stack.split("\x1e")[-2::-1])
