"""Names of zombies for a recorder: the whole census, taken only when the count has changed, a little at a time.

Counting costs milliseconds, naming tens of them and more with every zombie. So the names are looked at when the count
is not the one of the last names. The walk over them takes at most `SLICE_S` of CPU time in each round (the first one
more, as nothing is known before), and begins anew when `REST` times the CPU time that it took has passed: naming takes
at most a three-hundredth of a core, however many zombies there are. Each zombie is reported once, when first seen; of
those that were there at the first walk the youngest, at its end.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.census import take_census
from necroscope.sense.cgroups.census_sensor import Memcg, below
from necroscope.sense.host import Host
from necroscope.sense.kernel.memcg_walk import SlicedWalk, Walk, Zombie
from necroscope.vocabulary.cgroup_family import pattern
from necroscope.vocabulary.leak_facts import NAMED_KINDS, NAMED_LEAST
from necroscope.vocabulary.model import Census, Reading, Sample, Signal, Unseen, ZombieName

REST = 300.0
FIRST_SLICE_S, SLICE_S = 0.3, 0.1
WALK_S = 4.0
# Leaked directories change nothing in the count of zombies: they are looked for this often anyway.
LONGEST_S = 600.0
NAMED_MOST = 64
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
        Signal(
            "memcg_zombies_family",
            "cgroups",
            "gauge",
            "Zombies whose paths differ in ids and numbers only, of the commonest patterns.",
            ("family",),
        ),
    )

    def __init__(
        self, memcg: Memcg, begin: Callable[[Host, Callable[[Zombie], None], float], SlicedWalk] = SlicedWalk
    ) -> None:
        self._memcg, self._begin = memcg, begin
        self._walk: SlicedWalk | None = None
        self._cost_s = 0.0
        self._seen: set[int] = set()
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
        """The census with names where one is due and done; else what was seen of new zombies, and what could not be
        seen the last time."""
        count = self._memcg.last
        if self._sparing:
            self._give_up()
            return Reading(unseen=(Unseen(self.name, "to save CPU, new zombies are counted and not named"),))
        if count is None or (self._walk is None and not self._due(count)):
            return Reading(unseen=self._unseen)
        began_s = clock.thread_cpu_s()
        if self._walk is None:
            self._named, self._named_s, self._cost_s = count.zombies, clock.elapsed_s(), 0.0
            self._seen, self._fresh = set(), {}
        walked = self._advanced(host)
        self._cost_s += clock.thread_cpu_s() - began_s
        if walked is None:
            return Reading(records=tuple(self._take_fresh() if self._known else ()), unseen=self._unseen)
        return self._finished(host, count, walked)

    def _advanced(self, host: Host) -> Walk | Unavailable | None:
        """The walk, when it is done, or why there is none; None: it goes on in the next round."""
        try:
            self._walk = self._walk or self._begin(host, self._on_zombie, WALK_S)
            walked = self._walk.advance(SLICE_S if self._known else FIRST_SLICE_S)
        except Unavailable as error:
            self._give_up()
            return error
        except BaseException:
            self._give_up()
            raise
        if walked is not None:
            self._give_up()
        return walked

    def _give_up(self) -> None:
        walk, self._walk = self._walk, None
        if walk is not None:
            walk.close()

    def _finished(self, host: Host, count: Census, walked: Walk | Unavailable) -> Reading:
        began_s = clock.thread_cpu_s()

        def finished_walk(_: Host) -> Walk:
            if isinstance(walked, Unavailable):
                raise walked
            return walked

        counted, self._unseen = take_census(host, finished_walk)
        if not isinstance(walked, Unavailable):
            self._known = frozenset(self._seen)
        self._rest_s = REST * (self._cost_s + clock.thread_cpu_s() - began_s)
        if count.by_parent:
            counted = replace(counted, by_parent=())
        return Reading(_samples(count, counted), (counted, *self._take_fresh()), self._unseen)

    def _due(self, count: Census) -> bool:
        if self._named_s is None:
            return True
        passed_s = clock.elapsed_s() - self._named_s
        changed = count.zombies is None or count.zombies != self._named
        return passed_s >= self._rest_s and (changed or passed_s >= LONGEST_S)

    def _on_zombie(self, zombie: Zombie) -> None:
        if len(self._seen) < KNOWN_MOST:
            self._seen.add(zombie.serial)
        if zombie.serial not in self._known:
            self._fresh[zombie.serial] = zombie
            if len(self._fresh) > 2 * NAMED_MOST:
                self._fresh = dict(sorted(self._fresh.items())[-NAMED_MOST:])

    def _take_fresh(self) -> list[ZombieName]:
        """The youngest of those that were not known: serial numbers rise with birth."""
        fresh, self._fresh = sorted(self._fresh.items(), reverse=True)[:NAMED_MOST], {}
        return [_name(zombie) for _, zombie in fresh]


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
    values = {
        "memcg_leaked_directories": counted.leaked_directories,
        "memcg_zombies": counted.zombies if count.zombies is None else None,
        "memcg_live": counted.live if count.live is None else None,
    }
    plain = (Sample(name, value) for name, value in values.items() if value is not None)
    return (*plain, *below(counted), *commonest_names(counted))


def commonest_names(counted: Census) -> tuple[Sample, ...]:
    """Who makes a cgroup anew under the same name each time, as units do, is known by that name; who makes each under
    a name of its own, by what these names have in common."""
    alike = [one for family in counted.families for one in family.repeated]
    kinds = [(family.pattern, family.zombies) for family in counted.families]
    paths = (Sample("memcg_zombies_called", number, (path,)) for path, number in _commonest(alike))
    return (*paths, *(Sample("memcg_zombies_family", number, (family,)) for family, number in _commonest(kinds)))


def _commonest(named: list[tuple[str, int]]) -> list[tuple[str, int]]:
    enough = [one for one in named if one[1] >= NAMED_LEAST]
    return sorted(enough, key=lambda one: (-one[1], one[0]))[:NAMED_KINDS]
