"""Which samples a question is about: a window of time, and of that some cores, processes, threads, cgroups, events."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.sense.perf.event_names import is_time
from necroscope.vocabulary.event import Window

# Imported folded stacks: a row stands for as many samples as it weighs, and they have no time at all.
FOLDED = "folded"
# How much is looked at where nobody says: of samples, around an instant, and of a recording that is packed.
DEFAULT_S = 60.0
BEFORE_S, AFTER_S = 10.0, 2.0
LAST_S = 600.0


@dataclass(frozen=True, slots=True)
class Select:
    """Samples of a window. An empty set asks for all; `cgroups` are paths and everything below them."""

    window: Window
    cpus: frozenset[int] = frozenset()
    pids: frozenset[int] = frozenset()
    tids: frozenset[int] = frozenset()
    comms: frozenset[str] = frozenset()
    cgroups: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()

    @property
    def everything(self) -> bool:
        """True when nothing but the window and the usual events is asked for."""
        return not (self.cpus or self.pids or self.tids or self.comms or self.cgroups or self.events)

    def wants_event(self, event: str) -> bool:
        """Whether samples of this event count; without a choice, those that stand for time."""
        return event in self.events if self.events else is_time(event)

    def wants_cgroup(self, path: str) -> bool:
        """Whether a cgroup is one of the chosen ones or lies below one."""
        return any(path == one or path.startswith(one.rstrip("/") + "/") for one in self.cgroups)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody asked for, before it is known what was recorded; None and empty: nothing."""

    from_ns: int | None = None
    to_ns: int | None = None
    at_ns: int | None = None
    event: str | None = None
    before_s: float | None = None
    after_s: float | None = None
    cpus: frozenset[int] = frozenset()
    processes: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    cgroups: tuple[str, ...] = ()
    event_types: tuple[str, ...] = ()
