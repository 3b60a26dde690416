"""The vocabulary of leaks: all that is known, from whatever source, about cgroups that were left behind on a node.

Two readers build these values: one from the few looks of a scan, one from a recording around a symptom
(`query/leaks/facts.py`). One attributor judges them (`diagnose/leak`). Everything is frozen, bounded and made of plain
values, so that a case can be saved: a list that was cut says how much it stands for.

Moments are UTC nanoseconds. None means unknown, never zero. Paths are the node's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

What = Literal["zombies", "directories"]
"""Zombies: removed cgroups that the kernel keeps. Directories: cgroups without a process that nobody removed."""

LIVES_MOST = 2_000
"""Moments of cgroups left behind that are kept for each of `What`; the rest is counted."""
LEFT_MOST = 600
"""Pairs of path and maker that are kept one by one; the rest is summed up by pattern."""
NAMES_MOST = 400
"""Paths of the newest that are kept."""
NAMED_LEAST, NAMED_KINDS = 5, 32
"""Names that a recorder counts: the commonest so many, each of at least so many."""
LOOKS_MOST = 480
"""Counts over time that are kept, evenly spread."""


# -- what was left behind ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """How many that were left behind bore one path."""

    path: str
    count: int


@dataclass(frozen=True, slots=True)
class Below:
    """How many were left behind below one live cgroup, counted at the nearest live ancestor and nowhere else."""

    parent: str
    count: int


@dataclass(frozen=True, slots=True)
class Pins:
    """What keeps zombies in memory: a class of pages; how many zombies and how many bytes, where that is known."""

    kind: str
    zombies: int | None = None
    bytes: int | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeakFamily:
    """Those whose paths differ only in ids and numbers.

    `repeated` are paths that several bore; `newest` are paths of the youngest, one for each that was left behind.
    """

    pattern: str
    parent: str
    count: int
    repeated: tuple[Named, ...] = ()
    newest: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    pins: tuple[Pins, ...] = ()
    newest_age_s: float | None = None


@dataclass(frozen=True, slots=True)
class GrowthBelow:
    """The first and the last count below one live cgroup, and when they were taken."""

    parent: str
    first_ns: int
    first: int
    last_ns: int
    last: int


@dataclass(frozen=True, slots=True)
class Left:
    """Cgroups of one path, made by one process, that were seen to be left behind within the span.

    `count` is all of them; `moments_ns` are the latest of the moments at which they were: of zombies when they were
    removed, of directories when they were made. `maker` is the process that made the directory; None: not seen.
    """

    path: str
    maker: int | None
    count: int
    moments_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Zombies, or directories: how many there are, where, how they are called, and which were seen to be left behind.

    `whole`: the names are those of everything that is there; otherwise of the youngest, seen one by one. `named` is
    how many the names speak of. `left_total` counts what was seen to be left behind within the span, also what `left`
    has no room for; the lives of other hierarchies than that of memory are not in it.
    """

    total: int | None = None
    below: tuple[Below, ...] = ()
    growth: tuple[GrowthBelow, ...] = ()
    looks: tuple[tuple[int, int], ...] = ()
    """When, and how many in all, oldest first."""
    families: tuple[LeakFamily, ...] = ()
    named: int = 0
    whole: bool = False
    left: tuple[Left, ...] = ()
    left_total: int = 0
    pins: tuple[Pins, ...] = ()
    source: str = ""


# -- whose they may be ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Maker:
    """A process that made cgroups, by the samples that this left; its parent where somebody recorded it."""

    pid: int
    name: str
    cgroup: str
    parent_pid: int | None = None
    parent_name: str = ""


@dataclass(frozen=True, slots=True)
class LeakUnit:
    """A unit that systemd reported: the last look, and its restarts at the first one."""

    name: str
    control_group: str
    active_state: str = ""
    result: str = ""
    restarts: int = 0
    first_restarts: int = 0
    exit_status: int | None = None
    restart_policy: str = ""
    unit_file_state: str = ""
    preset: str = ""
    wanted_by: tuple[str, ...] = ()
    triggered_by: tuple[str, ...] = ()
    main_pid: int = 0
    starts: int | None = None
    successes: int | None = None
    failures: int | None = None


@dataclass(frozen=True, slots=True)
class LeakContainer:
    """A container that an engine reported, by name. `ids` are its id and those that died under the name, as long as
    they are known (twelve digits or more); several containers of one name are one."""

    name: str
    ids: tuple[str, ...] = ()
    engine: str = ""
    cgroup: str = ""
    restarts: int | None = None
    deaths: int | None = None


@dataclass(frozen=True, slots=True)
class RestartsOf:
    """Restarts of one unit or container within the span. `exact_ns` are starts and ends to which systemd gave a time;
    `noticed` are looks that found new restarts (of units that nobody restarts: starts), and how many."""

    kind: Literal["unit", "container"]
    name: str
    exact_ns: tuple[int, ...] = ()
    noticed: tuple[tuple[int, int], ...] = ()

    @property
    def times(self) -> int:
        """Restarts that were noticed."""
        return sum(times for _, times in self.noticed)


@dataclass(frozen=True, slots=True)
class LeakFacts:
    """All about leaks around one moment. `span` is the time that lives and restarts are about; None: nobody recorded.

    `systemd` and `engines` say whether systemd, or any container engine, answered at all: what an answer does not name
    is then unknown to it. `foreign_paths`: paths are the host's while systemd speaks from inside a cgroup namespace.
    """

    span: tuple[int, int] | None = None
    zombies: Leftovers = Leftovers()
    directories: Leftovers = Leftovers()
    live: int | None = None
    """Cgroups that have a directory."""
    makers: tuple[Maker, ...] = ()
    units: tuple[LeakUnit, ...] = ()
    containers: tuple[LeakContainer, ...] = ()
    restarts: tuple[RestartsOf, ...] = ()
    systemd: bool = False
    engines: bool = False
    foreign_paths: bool = False

    def of(self, what: What) -> Leftovers:
        """The zombies, or the directories."""
        return self.zombies if what == "zombies" else self.directories
