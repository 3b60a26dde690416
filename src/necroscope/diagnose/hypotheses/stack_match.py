"""Hypotheses against stacks: which of them the samples show, with what share of their time, by which functions.

Only functions of the kernel count. Steps of a loop over CPUs or bits, and places where held-back samples land, are no
leaf: whoever loops, or switched interrupts on again, did the work (`see_through` of the catalogue).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from necroscope.diagnose.hypotheses.hypothesis import Hypothesis
from necroscope.vocabulary.case import Stack

_MOST_FUNCTIONS = 8
# Entry, dispatch and the call itself.
_WAY_IN = 2
_STEPS = 4


@dataclass(frozen=True, slots=True)
class Match:
    """A hypothesis that the stacks show: its share of their weight, its functions in them (the most telling first), and
    which of the stacks are its, by their place."""

    hypothesis: Hypothesis
    share: float
    functions: tuple[str, ...]
    places: frozenset[int]


def match(stacks: Sequence[Stack], known: Iterable[Hypothesis], see_through: frozenset[str]) -> list[Match]:
    """Hypotheses that hold at least their `least_share` of the weight; the highest priority first, then the largest."""
    total = sum(one.weight for one in stacks)
    seen = [
        (place, stack, frozenset(stack.functions), leaf_of(stack, see_through))
        for place, stack in enumerate(stacks)
        if stack.functions
    ]
    found: list[Match] = []
    for one in known:
        if one.functions or one.leaves:
            tally = _Tally()
            for place, stack, present, leaf in seen:
                tally.add(place, stack, _telling(one, present, leaf))
            if one.beside and 0 < one.least_own * total <= tally.weight:
                for place, stack, present, _ in seen:
                    if place not in tally.places:
                        tally.add(place, stack, _beside(one, present))
            if tally.weight >= one.least_share * total > 0:
                found.append(Match(one, tally.weight / total, _ordered(tally.counts), frozenset(tally.places)))
    return sorted(found, key=lambda one: (-one.hypothesis.priority, -one.share))


@dataclass(slots=True)
class _Tally:
    """The stacks of one hypothesis so far."""

    weight: float = 0.0
    counts: dict[str, float] = field(default_factory=dict)
    places: set[int] = field(default_factory=set)

    def add(self, place: int, stack: Stack, telling: Sequence[str]) -> None:
        """A stack, by the functions that tell that it is the hypothesis's; none: it is not."""
        if telling:
            self.weight += stack.weight
            self.places.add(place)
            for name in telling:
                self.counts[name] = self.counts.get(name, 0.0) + stack.weight


def leaf_of(stack: Stack, see_through: frozenset[str]) -> str:
    """The innermost function of the kernel that did the work."""
    names = stack.functions
    return next((name for name in reversed(names) if name not in see_through), names[-1]) if names else ""


def share_in(stacks: Sequence[Stack], functions: Iterable[str]) -> float:
    """The share of the weight with one of these functions anywhere in the stack."""
    wanted = tuple(functions)
    total = sum(one.weight for one in stacks)
    inside = sum(one.weight for one in stacks if named(wanted, frozenset(one.functions)))
    return inside / total if total > 0 else 0.0


def share_innermost(stacks: Sequence[Stack], functions: Iterable[str], explained: frozenset[str]) -> float:
    """The share of the weight in some functions for their own sake: not because something explained is inside of them,
    or they are a part of it."""
    wanted = tuple(one for one in functions if one not in explained)
    total = sum(one.weight for one in stacks)
    inside = 0.0
    for stack in stacks:
        ours = frozenset(named(wanted, frozenset(stack.functions)))
        if _last(stack.functions, ours) > _last(stack.functions, explained):
            inside += stack.weight
    return inside / total if total > 0 else 0.0


def _last(names: Sequence[str], wanted: frozenset[str]) -> int:
    """Place of the innermost of some functions in a stack; -1: none is in it."""
    return max((place for place, name in enumerate(names) if name in wanted), default=-1)


def _telling(one: Hypothesis, present: frozenset[str], leaf: str) -> list[str]:
    """The functions by which a stack is the hypothesis's; none: it is not."""
    telling = named(one.functions, present) + named(one.leaves, frozenset((leaf,)))
    if not telling or (one.within and not named(one.within, present)) or named(one.without, present):
        return []
    return list(dict.fromkeys(telling))


def _beside(one: Hypothesis, present: frozenset[str]) -> list[str]:
    """The functions by which a stack belongs to the hypothesis in the company of its own."""
    return [] if named(one.without, present) else named(one.beside, present)


def common_path(stacks: Sequence[Stack], least: float) -> tuple[str, ...]:
    """The innermost functions of the kernel that at least this share of the weight went through, outermost first;
    empty: there are none beyond the way into the kernel that everybody takes."""
    total = sum(one.weight for one in stacks)
    weights: dict[str, float] = {}
    depths: dict[str, float] = {}
    for stack in stacks:
        for depth, name in enumerate(stack.functions):
            weights[name] = weights.get(name, 0.0) + stack.weight
            depths[name] = max(depths.get(name, 0.0), depth)
    common = [name for name, weight in weights.items() if weight >= least * total > 0 and depths[name] >= _WAY_IN]
    return tuple(sorted(common, key=lambda name: (depths[name], -weights[name]))[-_STEPS:])


def named(patterns: tuple[str, ...], names: frozenset[str]) -> list[str]:
    """Those names that one of the patterns fits."""
    if not patterns:
        return []
    exact, globs = _compiled(patterns)
    found = list(exact & names)
    return found + [name for name in names if globs.match(name)] if globs is not None else found


@cache
def _compiled(patterns: tuple[str, ...]) -> tuple[frozenset[str], re.Pattern[str] | None]:
    globs = [fnmatch.translate(one) for one in patterns if "*" in one or "?" in one or "[" in one]
    exact = frozenset(one for one in patterns if not ("*" in one or "?" in one or "[" in one))
    return exact, re.compile("|".join(globs)) if globs else None


def _ordered(counts: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_FUNCTIONS])
