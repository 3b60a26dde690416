"""A hypothesis: what can take a core's time, how to recognise it, what speaks for and against it, and what to do.

A *mechanism* is recognised by the stacks of whoever was on the core. A *rival* is what people suspect first, and is
measured: by a share of samples, by the core's own counters, by a rate that rose. Both are entries of TOML files; fields
of one sort are empty in the other. docs/mechanisms.md describes them.
"""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass, field
from typing import Literal

from necroscope.quantity import share
from necroscope.vocabulary.model import Subject
from necroscope.vocabulary.verdict import Remedy

Sort = Literal["mechanism", "rival"]
Role = Literal["culprit", "walker", "kernel"]
"""Who the process on the core is: who is to blame, a bystander that pays for what others left behind, or the kernel's
own thread that works off what others ordered."""
Grows = Literal["", "zombies", "directories"]
Nameless = Literal["", "user", "kernel"]
Measure = Literal["", "samples", "modes", "rise", "drop", "others", "events"]
"""samples: share of the core's samples in `functions`; modes: share of its time in `modes`; rise, drop: how far `fact`
is above or below quiet times; others: nothing is measured, who shared the core is listed; events: complaints of the
hardware and rates of `facts`."""

PLACEHOLDER = re.compile(r"\{(value|percent|limit)\}")
"""What `because` and `says` may hold."""


@dataclass(frozen=True, slots=True)
class Check:
    """A fact and its bounds, both inclusive. `because` says what it means; it may hold {value}, {percent}, {limit}.

    `usual`: it holds on a healthy node as well, so that it confirms nothing; where it does not hold, that counts.
    """

    fact: str
    because: str
    at_least: float | None = None
    at_most: float | None = None
    usual: bool = False

    def holds(self, value: float) -> bool:
        """Whether the value lies within the bounds."""
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def says(self, value: float) -> str:
        """The sentence, with the value in it."""
        limit = self.at_least if self.at_least is not None else self.at_most
        return filled(self.because, value, limit or 0.0)


def filled(sentence: str, value: float, limit: float = 0.0) -> str:
    """A sentence with its numbers in it."""
    words = {"value": figure(value), "percent": share(value), "limit": figure(limit)}
    return PLACEHOLDER.sub(lambda found: words[found[1]], sentence)


def figure(value: float) -> str:
    """A number as a sentence gives it."""
    if not math.isfinite(value) or value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}"


@dataclass(frozen=True, slots=True)
class Advice:
    """A remedy before it is known whom it is for. `kinds` are the kinds of subject that it suits, empty: any;
    `below_kernel` is the release from which on it is no remedy any more, empty: always."""

    remedy: Remedy
    kinds: tuple[str, ...] = ()
    below_kernel: str = ""

    def given(self, subject: Subject | None, kernel: str = "") -> Remedy | None:
        """The remedy for this subject on this kernel; None where it does not suit them."""
        if self.kinds and (subject is None or subject.kind not in self.kinds):
            return None
        if self.below_kernel and kernel and release(kernel) >= release(self.below_kernel):
            return None
        one = self.remedy
        name = subject.name if subject is not None and self.kinds else ""
        command = one.command.replace("{subject}", shlex.quote(name))
        return Remedy(one.action, name, command, one.text, one.risk, one.cost, one.purges_existing)


def release(kernel: str) -> tuple[int, ...]:
    """A kernel's release as numbers that can be compared: 5.15.0-91-generic is (5, 15)."""
    found = re.match(r"(\d{1,3})\.(\d{1,3})", kernel)
    return (int(found[1]), int(found[2])) if found else ()


@dataclass(frozen=True, slots=True)
class Storm:
    """Many short-lived processes, whose own code takes as long as their start: their number shows it, not the stacks.

    At least so many processes of at most so many seconds each, of which at least the share `kernel` is in the kernel,
    or the share `loading_share` of the samples in one of `loading`.
    """

    processes: float
    seconds_each: float
    kernel: float
    loading: tuple[str, ...] = ()
    loading_share: float = 1.0


@dataclass(frozen=True, slots=True)
class OrderedBy:
    """Whoever calls `functions`, on any core, orders the work: for at least the share `least` of the starved time.

    `own_cgroup`: only who is in the cgroup of whoever was on the core. `outside` are two facts, a rate that came from
    outside and the whole rate: from `outside_share` on nobody here ordered it. Where these were not counted, or that
    cgroup is not known, `least_unknown` takes the place of `least`.
    """

    functions: tuple[str, ...]
    least: float = 0.05
    own_cgroup: bool = False
    outside: tuple[str, ...] = ()
    outside_share: float = 0.5
    least_unknown: float = 0.0


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One entry of the catalogue.

    A stack is of a mechanism when one of `functions` is in it or one of `leaves` is where it was, something of
    `within` (if any) is in it too, and nothing of `without`; names may hold * and ?. Stacks with one of `beside`
    are its as well where those alone have the share `least_own`: what all sorts of work do, and this one too.
    `priority`: of two that the same samples show, the more specific one has the higher. `same` are ids of
    hypotheses of which this is a part, or which are part of this: it is no rival of theirs. `cause`: a rival that
    can itself be the cause. `nameless` stands for what no other entry names. `source` is the file that it comes
    from, empty: ours.
    """

    id: str
    title: str
    sort: Sort = "mechanism"
    expensive: str = ""
    references: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    least_own: float = 0.15
    least_share: float = 0.3
    priority: int = 50
    role: Role = "culprit"
    grows: Grows = ""
    needs_kernel_time: bool = True
    nameless: Nameless = ""
    storm: Storm | None = None
    ordered_by: OrderedBy | None = None
    confirm: tuple[Check, ...] = ()
    refute: tuple[Check, ...] = ()
    advice: tuple[Advice, ...] = ()
    measure: Measure = ""
    own_work: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    fact: str = ""
    facts: tuple[str, ...] = ()
    scale: float = 1.0
    least_before: float = 0.0
    says: str = ""
    untested: str = ""
    rate: str = ""
    rate_of: str = ""
    same: tuple[str, ...] = ()
    cause: bool = False
    noticed_only: bool = False
    source: str = field(default="", compare=False)

    def says_with(self, value: float, before: float | None) -> str:
        """What a rival's number says, beside that of quiet times where it is known."""
        text = filled(self.says, value)
        if before is None:
            return text
        return f"{text}, {share(before) if '{percent}' in self.says else figure(before)} in quiet times"

    def remedies_for(self, subject: Subject | None, kernel: str = "") -> tuple[Remedy, ...]:
        """What can be done on this kernel, as commands where the subject allows for one."""
        return tuple(remedy for one in self.advice if (remedy := one.given(subject, kernel)) is not None)
