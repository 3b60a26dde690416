"""Which samples a question is about: a window of time, and of that some cores, processes, threads, cgroups, events."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.store.catalog import Window

# Events whose samples stand for time on a core. Tracepoints tell that something happened, not how long it took.
_CLOCKS = frozenset({"cpu-clock", "task-clock"})
# Imported folded stacks: a row stands for as many samples as it weighs, and they tell no time at all.
FOLDED = "folded"
_TIME = _CLOCKS | {"cycles", "cpu-cycles", "ref-cycles"}


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


def is_time(event: str) -> bool:
    """Whether an event's samples stand for time: `cycles`, `cycles:P`, `cpu-clock:ppp`, `cpu_core/cycles/P`."""
    return _base(event) in _TIME


def is_clock(event: str) -> bool:
    """Whether the weights of an event's samples are nanoseconds."""
    return _base(event) in _CLOCKS


def _base(event: str) -> str:
    """The name without modifiers, and without the unit that counts it."""
    unit, slash, rest = event.partition("/")
    return rest.partition("/")[0] if slash and unit.startswith("cpu") else event.partition(":")[0]
