"""Who leaks: zombies joined to the units and containers whose cgroups they were.

A unit gets a new cgroup under the same path at every start, so its zombies bear its path. A restarted container
keeps its id, a recreated one gets a new id each time, and the engine remembers the ids that died under its name. The
join is by path and id alone; what cannot be joined stays with its parent cgroup, unnamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from necroscope.model import Census, ContainerState, Family, Subject, UnitState

_ID = re.compile(r"[0-9a-f]{12,64}")
# A recreated container owns a family when most of its newest members bear ids that died under its name.
_MOST = 0.8
_MIN_NEWEST = 5


@dataclass(frozen=True, slots=True)
class Leak:
    """Zombies that were cgroups of one unit or container. `sampled`: the join rests on the newest ones only."""

    subject: Subject
    zombies: int
    families: tuple[Family, ...]
    restarts: int | None
    state: UnitState | ContainerState
    sampled: bool = False

    @property
    def one_per_restart(self) -> bool:
        """True when zombies and restarts are the same number, give or take the start that is under way."""
        if not self.restarts:
            return False
        return abs(self.zombies - self.restarts) <= max(2, 0.05 * self.restarts)


def leaks(census: Census, units: Iterable[UnitState], containers: Iterable[ContainerState]) -> tuple[Leak, ...]:
    """Every leak that can be joined to a name, the largest first."""
    found = [*_unit_leaks(census, units), *_container_leaks(census, containers)]
    return tuple(sorted(found, key=lambda leak: -leak.zombies))


def _unit_leaks(census: Census, units: Iterable[UnitState]) -> Iterator[Leak]:
    for unit in units:
        group = unit.control_group.rstrip("/")
        if not group:
            continue
        shares = [(family, _under(family, group)) for family in census.families]
        mine = [(family, count) for family, count in shares if count]
        if mine:
            families = tuple(family for family, _ in mine)
            yield Leak(Subject("unit", unit.name), sum(n for _, n in mine), families, unit.restarts, unit)


def _under(family: Family, group: str) -> int:
    """Members of the family that were this cgroup, or stood below it."""
    if family.pattern == group or family.pattern.startswith(group + "/"):
        return family.zombies
    return sum(count for path, count in family.repeated if path == group or path.startswith(group + "/"))


def _container_leaks(census: Census, containers: Iterable[ContainerState]) -> Iterator[Leak]:
    for container in containers:
        ids = {identity for identity in (container.id, *container.past_ids) if identity}
        shares = [(family, *_of_container(family, ids)) for family in census.families]
        mine = [(family, count, sampled) for family, count, sampled in shares if count]
        if mine:
            yield Leak(
                Subject("container", container.name or container.id[:12]),
                sum(count for _, count, _ in mine),
                tuple(family for family, _, _ in mine),
                max(container.restarts or 0, container.deaths or 0) or None,
                container,
                sampled=any(sampled for _, _, sampled in mine),
            )


def _of_container(family: Family, ids: set[str]) -> tuple[int, bool]:
    """Members of the family that were this container's, and whether that is inferred from its newest members."""
    newest = sum(_bears(path, ids) for path in family.newest)
    repeated = sum(count for path, count in family.repeated if _bears(path, ids))
    if repeated or len(family.newest) == family.zombies:
        return max(repeated, newest), False
    if newest >= _MIN_NEWEST and newest >= _MOST * len(family.newest):
        return family.zombies, True
    return newest, False


def _bears(path: str, ids: set[str]) -> bool:
    return any(found in ids or any(identity.startswith(found) for identity in ids) for found in _ID.findall(path))
