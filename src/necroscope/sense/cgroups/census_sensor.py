"""Zombie memory cgroups over time: the census as a sensor, and how fast it grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from necroscope import clock
from necroscope.sense.cgroups.census import take_census
from necroscope.sense.host import Host
from necroscope.vocabulary.model import Census, Reading, Sample, Signal, Unseen

HOUR_S = 3600.0
LONGEST_REST_S = 300.0
# Two looks that lie closer together than this measure nothing.
_SHORTEST_S = 1.0


class Memcg:
    """The census as a sensor; between two looks it measures growth. `last` is the latest one, None when it failed.

    With `rest`, it is not taken again before so many times the CPU time that it took has passed: a tree of tens of
    thousands of directories takes long to count.
    """

    name: ClassVar[str] = "memcg"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("memcg_tracked", "cgroups", "gauge", "Memory cgroups the kernel keeps, alive or not."),
        Signal("memcg_live", "cgroups", "gauge", "Memory cgroups that have a directory."),
        Signal("memcg_zombies", "cgroups", "gauge", "Memory cgroups that were removed and not released."),
        Signal("memcg_zombies_below", "cgroups", "gauge", "Zombies by nearest live ancestor.", ("parent",)),
        Signal("memcg_leaked_directories", "cgroups", "gauge", "Cgroup directories left behind without a process."),
        Signal("memcg_hierarchy", "number", "gauge", "Hierarchy with the memory controller, as cgroup events name it."),
    )

    def __init__(
        self, take: Callable[[Host], tuple[Census, tuple[Unseen, ...]]] = take_census, rest: float = 0.0
    ) -> None:
        self._take, self._rest = take, rest
        self._next_s = 0.0
        self._unseen: tuple[Unseen, ...] = ()
        self._before: tuple[float, int] | None = None
        self.last: Census | None = None

    def read(self, host: Host) -> Reading:
        """One census; while it rests, nothing but what the latest one could not see."""
        at_s = clock.elapsed_s()
        if at_s < self._next_s:
            return Reading(unseen=self._unseen)
        self.last, began_s = None, clock.thread_cpu_s()
        counted, unseen = self._take(host)
        self._unseen = unseen
        self._next_s = at_s + min(self._rest * (clock.thread_cpu_s() - began_s), LONGEST_REST_S)
        self.last = counted = self._with_growth(host, counted, at_s)
        return Reading(samples=_samples(counted), records=(counted,), unseen=unseen)

    def _with_growth(self, host: Host, counted: Census, at_s: float) -> Census:
        if counted.zombies is None:
            return counted
        before, self._before = self._before, (at_s, counted.zombies)
        if before is not None and (window_s := at_s - before[0]) >= _SHORTEST_S:
            born = counted.zombies - before[1]
            rate = born / window_s * HOUR_S
            return replace(
                counted, growth_per_hour=rate, growth_basis="measured", measured_born=born, measured_s=window_s
            )
        return _growth_from_one_look(counted, _uptime_s(host))


def _growth_from_one_look(counted: Census, uptime_s: float | None) -> Census:
    """Births of the last hour where ages are known, else the average since boot."""
    if counted.zombies is None or uptime_s is None or uptime_s <= 0:
        return counted
    born = [family.born_last_hour for family in counted.families]
    if born and None not in born:
        hours = min(uptime_s, HOUR_S) / HOUR_S
        return replace(counted, growth_per_hour=sum(n for n in born if n) / hours, growth_basis="ages")
    return replace(counted, growth_per_hour=counted.zombies / uptime_s * HOUR_S, growth_basis="since-boot")


def _uptime_s(host: Host) -> float | None:
    fields = (host.read_or_none("/proc/uptime") or b"").split()
    try:
        return float(fields[0])
    except (IndexError, ValueError):
        return None


def _samples(counted: Census) -> tuple[Sample, ...]:
    totals = {
        "memcg_tracked": counted.tracked,
        "memcg_live": counted.live,
        "memcg_zombies": counted.zombies,
        "memcg_leaked_directories": counted.leaked_directories,
        "memcg_hierarchy": counted.hierarchy,
    }
    known = [Sample(name, value) for name, value in totals.items() if value is not None]
    return (*known, *below(counted))


def below(counted: Census) -> tuple[Sample, ...]:
    """Zombies by nearest live ancestor."""
    return tuple(Sample("memcg_zombies_below", row.zombies, (row.path,)) for row in counted.by_parent)
