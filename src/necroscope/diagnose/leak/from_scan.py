"""What a scan saw, as facts about leaks: a census, and what systemd and container engines reported. Pure conversion."""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.vocabulary.leak_facts import (
    Below,
    LeakContainer,
    LeakFacts,
    LeakFamily,
    LeakUnit,
    Leftovers,
    Named,
    Pins,
)
from necroscope.vocabulary.model import Census, ContainerState, DirectoryFamily, Family, Pin, UnitState


def facts_of_scan(
    census: Census, units: Iterable[UnitState] | None, containers: Iterable[ContainerState] | None
) -> LeakFacts:
    """The facts of one look. None: systemd, or every engine, did not answer."""
    by_name = merged(containers or ())
    return LeakFacts(
        zombies=_zombies(census),
        directories=_directories(census),
        live=census.live,
        units=tuple(unit_of(unit) for unit in units or () if unit.control_group),
        containers=by_name,
        systemd=units is not None,
        engines=bool(by_name),
        foreign_paths=census.host_wide,
    )


def _zombies(census: Census) -> Leftovers:
    families = tuple(_family(family) for family in census.families)
    return Leftovers(
        total=census.zombies,
        below=tuple(Below(row.path, row.zombies) for row in census.by_parent),
        families=families,
        named=sum(family.count for family in families),
        whole=True,
        pins=_pins(census.pinned_by),
        source=census.source,
    )


def _family(family: Family) -> LeakFamily:
    return LeakFamily(
        family.pattern,
        family.parent,
        family.zombies,
        tuple(Named(path, count) for path, count in family.repeated),
        family.newest,
        family.examples,
        _pins(family.pins),
        family.newest_age_s,
    )


def _directories(census: Census) -> Leftovers:
    families = tuple(_directory_family(family) for family in census.leaked_families)
    named = sum(family.count for family in families)
    return Leftovers(total=census.leaked_directories, families=families, named=named, whole=True, source=census.source)


def _directory_family(family: DirectoryFamily) -> LeakFamily:
    """What stands before the first id or number of the pattern is taken for the parent."""
    parent = family.pattern.partition("<")[0].rpartition("/")[0] or "/"
    return LeakFamily(family.pattern, parent, family.directories, examples=family.examples)


def _pins(pins: Iterable[Pin]) -> tuple[Pins, ...]:
    return tuple(Pins(pin.kind, None, pin.bytes, pin.files) for pin in pins)


def unit_of(unit: UnitState) -> LeakUnit:
    """A unit as systemd reported it."""
    return LeakUnit(
        unit.name,
        unit.control_group,
        unit.active_state,
        unit.result,
        unit.restarts,
        unit.restarts,
        unit.exit_status,
        unit.restart_policy,
        unit.unit_file_state,
        unit.preset,
        tuple(dict.fromkeys((*unit.wanted_by, *unit.required_by))),
        unit.triggered_by,
        unit.main_pid,
        unit.starts,
        unit.successes,
        unit.failures,
    )


def merged(containers: Iterable[ContainerState]) -> tuple[LeakContainer, ...]:
    """Containers by name; those of one name are one, as a recording has them."""
    found: dict[str, LeakContainer] = {}
    for one in containers:
        name = one.name or one.id[:12]
        ids = tuple(identity for identity in (one.id, *one.past_ids) if identity)
        known = found.get(name, LeakContainer(name, (), one.engine, one.cgroup))
        found[name] = LeakContainer(
            name,
            tuple(dict.fromkeys((*known.ids, *ids))),
            known.engine,
            known.cgroup,
            _more(known.restarts, one.restarts),
            _more(known.deaths, one.deaths),
        )
    return tuple(found.values())


def _more(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else max(one or 0, other or 0)
