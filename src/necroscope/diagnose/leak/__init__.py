"""Who leaks: zombies joined to the units and containers whose cgroups they were, each zombie to one owner at most.

Claimed is only what can be shown:

- a unit owns zombies that bore its cgroup's very path: it gets a new cgroup under the same path at every start;
- a container owns zombies whose path bears its id, or an id that the engine remembers to have died under its name;
- what stood *below* a unit's cgroup was made by something that the unit runs. The unit is then where it happened, not
  who did it, unless its restarts and these zombies are the same number.

The rest stays with the cgroup above it, unowned. A zombie's path is the host's; a systemd inside a cgroup namespace
speaks of other paths, so inside one no unit is joined at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from necroscope.model import Census, ContainerState, Family, ParentCount, Subject, UnitState

_ID = re.compile(r"[0-9a-f]{12,64}")
# The cgroup of a unit of this host's systemd: slices all the way down, then the unit.
_UNIT_PATH = re.compile(r"(?:/[^/]+\.slice)+/([^/]+\.(?:service|scope))")


@dataclass(frozen=True, slots=True)
class Leak:
    """Zombies that were cgroups of one unit or container. `restarts` is None where nobody counts them."""

    subject: Subject
    zombies: int
    families: tuple[Family, ...]
    restarts: int | None
    state: UnitState | ContainerState | None

    @property
    def one_per_restart(self) -> bool:
        """True when zombies and restarts are the same number, give or take the start that is under way."""
        return _agree(self.zombies, self.restarts)


@dataclass(frozen=True, slots=True)
class Attribution:
    """The leaks, the largest first, and what nobody owns: families and parents without the owned zombies."""

    leaks: tuple[Leak, ...]
    families: tuple[Family, ...]
    by_parent: tuple[ParentCount, ...]
    unowned: int


def attribute(census: Census, units: Iterable[UnitState], containers: Iterable[ContainerState]) -> Attribution:
    """Join every zombie of the census to its owner, as far as that can be shown."""
    left = [family.zombies for family in census.families]
    leaks: list[Leak] = []
    units = () if census.host_wide else tuple(units)
    claims = [*_own_paths(census, units), *_container_claims(census, containers), *_below(census, units)]
    for subject, shares, restarts, state in claims:
        taken = {index: min(count, left[index]) for index, count in shares.items()}
        if zombies := sum(taken.values()):
            for index, count in taken.items():
                left[index] -= count
            families = tuple(census.families[index] for index, count in taken.items() if count)
            leaks.append(Leak(subject, zombies, families, restarts, state))
    rest = tuple(replace(family, zombies=n) for family, n in zip(census.families, left, strict=True) if n)
    owned = sum(leak.zombies for leak in leaks)
    return Attribution(
        leaks=tuple(sorted(leaks, key=lambda leak: -leak.zombies)),
        families=tuple(sorted(rest, key=lambda family: -family.zombies)),
        by_parent=_without(census, left) if owned else census.by_parent,
        unowned=max(0, (census.zombies or 0) - owned),
    )


def newest_owners(family: Family, containers: Iterable[ContainerState]) -> Iterator[tuple[ContainerState, int]]:
    """Containers whose ids the family's newest members bear, and how many do."""
    for container in containers:
        number = sum(_bears(path, _ids(container)) for path in family.newest)
        if number:
            yield container, number


Claim = tuple[Subject, dict[int, int], int | None, UnitState | ContainerState | None]


def _own_paths(census: Census, units: tuple[UnitState, ...]) -> Iterator[Claim]:
    """Zombies that were a unit's own cgroup: of units that systemd tells of, and of units that only a path names."""
    known = {unit.control_group: unit for unit in units if unit.control_group}
    shares: dict[str, dict[int, int]] = {}
    for index, family in enumerate(census.families):
        exact = () if "<" in family.pattern else ((family.pattern, family.zombies),)
        for path, count in exact or family.repeated:
            if path in known or (not census.host_wide and _UNIT_PATH.fullmatch(path)):
                shares.setdefault(path, {})[index] = count
    for path, mine in shares.items():
        unit = known.get(path)
        name = unit.name if unit else path.rpartition("/")[2]
        yield Subject("unit", name), mine, unit.restarts if unit else None, unit


def _below(census: Census, units: tuple[UnitState, ...]) -> Iterator[Claim]:
    for unit in units:
        group = unit.control_group.rstrip("/")
        if not group:
            continue
        mine = {
            index: family.zombies
            for index, family in enumerate(census.families)
            if family.pattern.startswith(group + "/")
        }
        if _agree(sum(mine.values()), unit.restarts):
            yield Subject("unit", unit.name), mine, unit.restarts, unit


def _container_claims(census: Census, containers: Iterable[ContainerState]) -> Iterator[Claim]:
    for container in containers:
        ids = _ids(container)
        mine = {}
        for index, family in enumerate(census.families):
            repeated = sum(count for path, count in family.repeated if _bears(path, ids))
            newest = sum(_bears(path, ids) for path in family.newest)
            if repeated or newest:
                mine[index] = max(repeated, newest)
        if mine:
            restarts = max(container.restarts or 0, container.deaths or 0) or None
            yield Subject("container", container.name or container.id[:12]), mine, restarts, container


def _without(census: Census, left: list[int]) -> tuple[ParentCount, ...]:
    """Parents without the owned zombies. A family that spans several parents is counted at the one above them all."""
    counts: dict[str, int] = {}
    for family, number in zip(census.families, left, strict=True):
        counts[family.parent] = counts.get(family.parent, 0) + number
    rows = [ParentCount(path, number) for path, number in counts.items() if number]
    return tuple(sorted(rows, key=lambda row: (-row.zombies, row.path)))


def _agree(zombies: int, restarts: int | None) -> bool:
    return bool(restarts) and restarts is not None and abs(zombies - restarts) <= max(2, 0.05 * restarts)


def _ids(container: ContainerState) -> set[str]:
    return {identity for identity in (container.id, *container.past_ids) if identity}


def _bears(path: str, ids: set[str]) -> bool:
    return any(found in ids or any(identity.startswith(found) for identity in ids) for found in _ID.findall(path))
