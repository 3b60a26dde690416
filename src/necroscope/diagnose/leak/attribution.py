"""What is concluded about leaks: who leaks what, how well that is shown, and what nobody can be shown to own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from necroscope.diagnose.leak.alignment import Alignment
from necroscope.vocabulary.leak_facts import Below, LeakContainer, LeakFamily, LeakUnit, RestartsOf, What
from necroscope.vocabulary.model import Evidence, Subject

WitnessKind = Literal["names", "ids", "makers", "counts", "time", "accumulation"]
"""names: paths that were a unit's; ids: paths that bear a container's; makers: who made the directories; counts: as
many as restarts; time: left behind when it restarted; accumulation: its part of all that there is."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One thing that speaks for a leaker, and its number: how many, or which share."""

    kind: WitnessKind
    value: float


@dataclass(frozen=True, slots=True)
class LeakProcess:
    """A process that made what was left behind. `made`: how many its samples show; `processes`: how many made them, so
    that `pid` is None when several of the name did. The parent is there where somebody recorded it."""

    name: str
    pid: int | None
    cgroup: str = ""
    parent_pid: int | None = None
    parent_name: str = ""
    made: int = 0
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Leak:
    """Whose some of what was left behind is.

    `named` are those that are there and bear its name or id; `seen` those that were seen to be left behind within the
    span; `number` the larger of both. `share` is its part of all that there is; None: nobody counted them.
    `doubt` says in words why the subject may not be what it is called; empty: nothing speaks against it.
    """

    what: What
    subject: Subject
    number: int
    named: int
    seen: int
    share: float | None
    strength: float
    witnesses: tuple[Witness, ...]
    evidence: tuple[Evidence, ...]
    exact_share: bool = False
    """Whether names give the share; else it is a place, in which others may leak as well."""
    firm: int = 0
    """Of `named`, what every source of names gives: without single ones, where all were counted by name."""
    below: int = 0
    """Of `named`, what stood below its own cgroup."""
    doubt: str = ""
    process: LeakProcess | None = None
    unit: LeakUnit | None = None
    container: LeakContainer | None = None
    restarts: RestartsOf | None = None
    restarted: int | None = None
    """Restarts so far, or deaths of a container that is made anew; None: nobody counts them."""
    one_per_restart: bool = False
    alignment: Alignment | None = None
    families: tuple[LeakFamily, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribution:
    """The leaks, the largest first, and what nobody owns: families and parents without what is owned by name.

    `named_of` is how many the names speak of, `whole` whether these are all that there are, `left_total` how many were
    seen to be left behind.
    """

    what: What
    leaks: tuple[Leak, ...] = ()
    total: int | None = None
    unowned: int = 0
    families: tuple[LeakFamily, ...] = ()
    below: tuple[Below, ...] = ()
    named_of: int = 0
    whole: bool = False
    left_total: int = 0
    located: bool = False
    """Whether it is known where those are that have accumulated, so that who leaks now can be held against it."""
