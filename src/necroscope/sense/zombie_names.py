"""Names of zombies for a recorder: the whole census, taken only when the count has changed, and seldom when it is dear.

Counting costs milliseconds, naming tens of them and more with every zombie. So the names are looked at when the count
is not the one of the last names, and never again before `REST` times the CPU time that they took has passed: naming
takes at most a three-hundredth of a core, however many zombies there are. Each zombie is told once, when first seen.
"""

from __future__ import annotations

import mmap
from dataclasses import replace
from typing import ClassVar

from necroscope import clock
from necroscope.model import Census, Reading, Sample, Signal, Unseen, ZombieName
from necroscope.sense.census import take_census
from necroscope.sense.family import pattern
from necroscope.sense.host import Host
from necroscope.sense.kernel.memcg_walk import Walk, Zombie, walk_memcgs
from necroscope.sense.memcg import Memcg, below

REST = 300.0
WALK_S = 1.0
# Leaked directories change nothing in the count of zombies: they are looked for this often anyway.
LONGEST_S = 600.0
NAMED_MOST = 64
CALLED_MOST, CALLED_LEAST = 32, 5
KNOWN_MOST = 100_000


class ZombieNames:
    """The sensor; `memcg` counts before it in the same round."""

    name: ClassVar[str] = "zombie-names"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal(
            "memcg_zombies_called",
            "cgroups",
            "gauge",
            "Zombies that were all called alike while they lived, of the commonest names.",
            ("path",),
        ),
    )

    def __init__(self, memcg: Memcg) -> None:
        self._memcg = memcg
        self._named: int | None = None
        self._named_s: float | None = None
        self._rest_s = 0.0
        self._known: frozenset[int] = frozenset()
        self._fresh: dict[int, Zombie] = {}
        self._unseen: tuple[Unseen, ...] = ()
        self._sparing = False

    def spare(self, sparing: bool) -> None:
        """Name nobody, or go on naming."""
        self._sparing = sparing

    def read(self, host: Host) -> Reading:
        """The census with names where it is due; else nothing but what could not be seen the last time."""
        count = self._memcg.last
        if self._sparing:
            return Reading(unseen=(Unseen(self.name, "to save CPU, new zombies are counted and not named"),))
        if count is None or not self._due(count):
            return Reading(unseen=self._unseen)
        self._fresh = {}
        began_s, cpu_s = clock.elapsed_s(), clock.thread_cpu_s()
        counted, self._unseen = take_census(host, self._walk)
        self._named, self._named_s = count.zombies, began_s
        self._rest_s = REST * (clock.thread_cpu_s() - cpu_s)
        if count.by_parent:
            counted = replace(counted, by_parent=())
        return Reading(_samples(count, counted), (counted, *self._take_fresh()), self._unseen)

    def _due(self, count: Census) -> bool:
        if self._named_s is None:
            return True
        passed_s = clock.elapsed_s() - self._named_s
        changed = count.zombies is None or count.zombies != self._named
        return passed_s >= self._rest_s and (changed or passed_s >= LONGEST_S)

    def _walk(self, host: Host) -> Walk:
        seen: set[int] = set()

        def on_zombie(zombie: Zombie) -> None:
            if len(seen) < KNOWN_MOST:
                seen.add(zombie.serial)
            if zombie.serial not in self._known:
                self._fresh[zombie.serial] = zombie
                if len(self._fresh) > 2 * NAMED_MOST:
                    self._fresh = dict(sorted(self._fresh.items())[-NAMED_MOST:])

        walked = walk_memcgs(host, WALK_S, on_zombie, files_of_each=False)
        self._known = frozenset(seen)
        return walked

    def _take_fresh(self) -> list[ZombieName]:
        """The youngest of those that were not known: serial numbers rise with birth."""
        return [_name(zombie) for _, zombie in sorted(self._fresh.items(), reverse=True)[:NAMED_MOST]]


def _name(zombie: Zombie) -> ZombieName:
    return ZombieName(
        path=zombie.path,
        family=pattern(zombie.path),
        cgroup_id=zombie.cgroup_id,
        age_s=zombie.age_s,
        bytes=zombie.pages * mmap.PAGESIZE,
        pinned_by=zombie.pins[0].kind if zombie.pins else "",
    )


def _samples(count: Census, counted: Census) -> tuple[Sample, ...]:
    """What only this census tells; inside a namespace files do not even tell how many zombies there are."""
    told = {
        "memcg_leaked_directories": counted.leaked_directories,
        "memcg_zombies": counted.zombies if count.zombies is None else None,
        "memcg_live": counted.live if count.live is None else None,
    }
    plain = (Sample(name, value) for name, value in told.items() if value is not None)
    return (*plain, *below(counted), *_called(counted))


def _called(counted: Census) -> tuple[Sample, ...]:
    """Who makes a cgroup anew under the same name each time, as units do, is known by that name."""
    alike = [one for family in counted.families for one in family.repeated if one[1] >= CALLED_LEAST]
    alike.sort(key=lambda one: (-one[1], one[0]))
    return tuple(Sample("memcg_zombies_called", number, (path,)) for path, number in alike[:CALLED_MOST])
