"""A mechanism: kernel functions that can hold a core, what makes them expensive, and the facts that tell.

Matching asks the stacks alone, judging the facts alone; both are pure. Only frames of the kernel count, and the
suffixes with which compilers mark parts of a function (`.isra.0`, `.constprop.0`, `.cold`) do not.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from necroscope.model import Subject
from necroscope.quantity import share
from necroscope.query.kernel_frames import kernel_functions
from necroscope.verdict import Remedy

Role = Literal["culprit", "walker", "kernel"]
"""Who the process on the core is: who is to blame, an innocent that pays for what others left, or the kernel's own
thread that works off what others ordered."""
Grows = Literal["", "zombies", "directories"]
PLACEHOLDER = re.compile(r"\{(value|percent|limit)\}")
"""What `because` may hold."""
_MOST_FUNCTIONS = 8
# Steps of a loop over CPUs or bits: whoever loops does the work. On a machine with 64 possible CPUs most samples of
# a sum of per-CPU counters end in them.
_STEPS = (
    "cpumask_next",
    "cpumask_next_and",
    "cpumask_next_wrap",
    "find_next_bit",
    "_find_next_bit",
    "find_next_and_bit",
    "_find_next_and_bit",
    "find_first_bit",
    "_find_first_bit",
    "find_next_zero_bit",
    "_find_next_zero_bit",
)
# A sample that is held back while interrupts are off lands where they are switched on again: the caller did the work.
_SEE_THROUGH = frozenset(
    (
        "_raw_spin_unlock_irqrestore",
        "_raw_spin_unlock_irq",
        "_raw_write_unlock_irqrestore",
        "_raw_write_unlock_irq",
        "_raw_read_unlock_irqrestore",
        "_raw_read_unlock_irq",
        "__rcu_read_lock",
        "__rcu_read_unlock",
        "__cond_resched",
        "_cond_resched",
        "rcu_all_qs",
        "asm_sysvec_apic_timer_interrupt",
        "apic_timer_interrupt",
        "arch_local_irq_restore",
        "arch_local_irq_enable",
        *_STEPS,
    )
)


@dataclass(frozen=True, slots=True)
class Check:
    """A fact and its bounds, both inclusive. `because` says what it means; it may hold {value}, {percent}, {limit}."""

    fact: str
    because: str
    at_least: float | None = None
    at_most: float | None = None

    def holds(self, value: float) -> bool:
        """Whether the value lies within the bounds."""
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def says(self, value: float) -> str:
        """The sentence, with the value in it."""
        limit = self.at_least if self.at_least is not None else self.at_most
        words = {"value": _figure(value), "percent": share(value), "limit": _figure(limit or 0.0)}
        return PLACEHOLDER.sub(lambda found: words[found[1]], self.because)


@dataclass(frozen=True, slots=True)
class Advice:
    """A remedy before it is known whom it is for; `kinds` are the kinds of subject that it suits, empty: any."""

    remedy: Remedy
    kinds: tuple[str, ...] = ()

    def given(self, subject: Subject | None) -> Remedy | None:
        """The remedy for this subject; None when it does not suit it."""
        if self.kinds and (subject is None or subject.kind not in self.kinds):
            return None
        one = self.remedy
        name = subject.name if subject is not None and self.kinds else ""
        command = one.command.replace("{subject}", shlex.quote(name))
        return Remedy(one.action, name, command, one.text, one.risk, one.cost, one.purges_existing)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What docs/mechanisms.md describes. A stack is of this mechanism when one of `functions` is in it or one of
    `leaves` is where it was, something of `within` (if any) is in it too, and nothing of `without`."""

    id: str
    title: str
    expensive: str
    references: tuple[str, ...]
    functions: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    least_share: float = 0.3
    priority: int = 50
    role: Role = "culprit"
    grows: Grows = ""
    needs_kernel_time: bool = True
    confirm: tuple[Check, ...] = ()
    refute: tuple[Check, ...] = ()
    advice: tuple[Advice, ...] = ()
    source: str = field(default="", compare=False)

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What can be done whoever is behind it."""
        return self.remedies_for(None)

    def remedies_for(self, subject: Subject | None) -> tuple[Remedy, ...]:
        """What can be done, as commands where the subject allows for one."""
        return tuple(remedy for one in self.advice if (remedy := one.given(subject)) is not None)


@dataclass(frozen=True, slots=True)
class Match:
    """A mechanism that the stacks show: its share of their weight, and its functions in them, most telling first."""

    mechanism: Mechanism
    share: float
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What the facts say of a mechanism: checks that hold with their values, and those whose fact nobody knows."""

    confirmed: tuple[tuple[Check, float], ...]
    refuted: tuple[tuple[Check, float], ...]
    unknown: tuple[Check, ...]


def match(stacks: Iterable[tuple[str, float]], known: Sequence[Mechanism]) -> list[Match]:
    """Mechanisms that hold at least their `least_share` of the weight: the most specific first, then the largest."""
    weights: dict[str, float] = {}
    counts: dict[str, dict[str, float]] = {}
    total = 0.0
    for frames, weight in stacks:
        total += weight
        names = kernel_functions(frames)
        if not names:
            continue
        present, leaf = frozenset(names), _leaf(names)
        for one in known:
            telling = _telling(one, present, leaf)
            if telling:
                weights[one.id] = weights.get(one.id, 0.0) + weight
                seen = counts.setdefault(one.id, {})
                for name in telling:
                    seen[name] = seen.get(name, 0.0) + weight
    found = [
        Match(one, weights[one.id] / total, _ordered(counts[one.id]))
        for one in known
        if one.id in weights and weights[one.id] >= one.least_share * total > 0
    ]
    return sorted(found, key=lambda one: (-one.mechanism.priority, -one.share))


def judge(mechanism: Mechanism, facts: Mapping[str, float]) -> Judged:
    """The mechanism's checks against the facts; an absent fact is unknown, and neither confirms nor refutes."""

    def held(checks: tuple[Check, ...]) -> tuple[tuple[Check, float], ...]:
        return tuple((one, facts[one.fact]) for one in checks if one.fact in facts and one.holds(facts[one.fact]))

    unknown = tuple(one for one in (*mechanism.confirm, *mechanism.refute) if one.fact not in facts)
    return Judged(held(mechanism.confirm), held(mechanism.refute), unknown)


def _leaf(names: Sequence[str]) -> str:
    return next((name for name in reversed(names) if name not in _SEE_THROUGH), names[-1])


def _telling(one: Mechanism, present: frozenset[str], leaf: str) -> list[str]:
    """The functions by which a stack is the mechanism's; none: it is not."""
    telling = _named(one.functions, present) + _named(one.leaves, frozenset((leaf,)))
    if not telling or (one.within and not _named(one.within, present)) or _named(one.without, present):
        return []
    return list(dict.fromkeys(telling))


def _named(patterns: tuple[str, ...], names: frozenset[str]) -> list[str]:
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


def _figure(value: float) -> str:
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}"
