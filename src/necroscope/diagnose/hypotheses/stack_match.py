"""Hypotheses against stacks: which of them the samples show, with what share of their time, by which functions.

Only functions of the kernel count. Steps of a loop over CPUs or bits, and places where held-back samples land, are no
leaf: whoever loops, or switched interrupts on again, did the work (`see_through` of the catalogue).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from necroscope.diagnose.hypotheses.hypothesis import Hypothesis
from necroscope.vocabulary.case import Stack

_MOST_FUNCTIONS = 8


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
    hypotheses = [one for one in known if one.functions or one.leaves]
    total = sum(one.weight for one in stacks)
    weights: dict[str, float] = {}
    counts: dict[str, dict[str, float]] = {}
    places: dict[str, set[int]] = {}
    for place, stack in enumerate(stacks):
        if not stack.functions:
            continue
        present, leaf = frozenset(stack.functions), leaf_of(stack, see_through)
        for one in hypotheses:
            telling = _telling(one, present, leaf)
            if telling:
                weights[one.id] = weights.get(one.id, 0.0) + stack.weight
                places.setdefault(one.id, set()).add(place)
                seen = counts.setdefault(one.id, {})
                for name in telling:
                    seen[name] = seen.get(name, 0.0) + stack.weight
    found = [
        Match(one, weights[one.id] / total, _ordered(counts[one.id]), frozenset(places[one.id]))
        for one in hypotheses
        if one.id in weights and weights[one.id] >= one.least_share * total > 0
    ]
    return sorted(found, key=lambda one: (-one.hypothesis.priority, -one.share))


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
