"""Whose a cgroup is, by its path: the container or the unit that it belongs to, as far as that can be shown.

A container is one that an engine reported, by an id in the path. A unit is one that systemd reported, by its control
group; systemd reports units in trouble only, so a `.service` where systemd puts services (directly below a slice) is
a unit as well, with the doubt said. A scope is no unit that could be disabled: whoever starts it is to be acted on.
What other managers (container engines, machines) call a unit inside their own cgroups is not this node's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from necroscope.vocabulary.kernel_threads import is_the_kernels
from necroscope.vocabulary.leak_facts import LeakContainer, LeakFacts, LeakUnit
from necroscope.vocabulary.model import Subject

_SHORT = 12
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{12,64}(?![0-9a-f])")
_LONG_ID = re.compile(r"(?:^|[/:-])([0-9a-f]{64})(?=$|[/.:])")
_UUID = r"[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}"
_USERS_MANAGER = re.compile(r"user@[^/]+\.service")
# Logins, and what the manager or a program makes for the moment: nobody would stop these to end an incident.
_NOT_ACTED_ON = re.compile(
    r"(?:session-[^/]+|init|user@[^/]+|run-[^/]+|vte-spawn-[^/]+|machine-[^/]+)\.(?:scope|service)"
)
# What container engines and machines call the places of what they run.
_INSIDE_ANOTHER = re.compile(
    r"/(?:docker|podman|libpod|lxc|lxd|incus|machine|kubepods|containerd|cri-?o|garden|nomad)(?![a-z])[^/]*/"
    rf"|\.scope/|<id>|[0-9a-f]{{32}}|{_UUID}"
)
# What a manager calls the cgroups that it makes for others: containers and pods by their ids, units by their sort.
_ORDERED = re.compile(rf"[0-9a-f]{{64}}|{_UUID}|<id>|\.(?:service|scope|slice)$")

UNKNOWN_UNIT = "systemd knows no unit of this name: it is only in the cgroup's path"
NOT_ASKED = "systemd did not answer: the name stands in the cgroup's path only"
OF_A_USER = "it is a unit of a user's own manager, not of the system's"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a cgroup is. `below` is where it stood below the owner's own cgroup; empty: it was that very one.
    `doubt` says why the subject may not be what it is called; empty: systemd or an engine reported it."""

    subject: Subject
    below: str = ""
    doubt: str = ""
    unit: LeakUnit | None = None
    container: LeakContainer | None = None

    @property
    def ordered(self) -> bool:
        """Whether it stood below the owner, and is called as managers call what they make for others."""
        return any(_ORDERED.search(part) for part in self.below.split("/"))


@dataclass(frozen=True)
class Identities:
    """The units and containers that a node's managers reported. `tops` are the topmost cgroups of this node, as far as
    paths tell them."""

    units: tuple[LeakUnit, ...] = ()
    containers: tuple[LeakContainer, ...] = ()
    systemd: bool = False
    engines: bool = False
    foreign_paths: bool = False
    tops: frozenset[str] = frozenset()

    def of(self, path: str) -> Owner | None:
        """The owner of a cgroup; None where the path does not show one."""
        if (known := self.container_of(path)) is not None:
            return Owner(Subject("container", known.name), container=known)
        return self.unit_of(path) or _scope(path)

    def actor(self, cgroup: str) -> Owner | None:
        """The unit or container that whatever runs in a cgroup belongs to; of a container that nobody reported by name
        the id, where any engine reported containers."""
        if (found := self.of(cgroup)) is not None and found.subject.kind != "cgroup":
            return found
        short_id = long_id(cgroup) if self.engines else None
        return Owner(Subject("container", short_id)) if short_id is not None else None

    def container_of(self, path: str) -> LeakContainer | None:
        """The container that an engine reported, by an id in the path; None where several bear it."""
        for found in _ID.findall(path):
            known = self._by_id.get(found[:_SHORT], ())
            bearers = [one for one in known if any(same_id(found, one_id) for one_id in one.ids)]
            if len(bearers) == 1:
                return bearers[0]
        return None

    def unit_of(self, path: str) -> Owner | None:
        """The unit around a cgroup: what is inside a container is the container's, be it called like a unit."""
        if self.foreign_paths:
            return None
        found = _LONG_ID.search(path)
        outside = path[: found.start()] if found is not None else path
        best: Owner | None = None
        longest = 0
        for unit in self._actable:
            end = self._end_within(outside, unit.control_group.rstrip("/"))
            if end > 0 and len(unit.control_group) > longest:
                longest, best = len(unit.control_group), Owner(Subject("unit", unit.name), path[end:], unit=unit)
        return best or self._by_place(path, outside)

    @cached_property
    def _actable(self) -> tuple[LeakUnit, ...]:
        return tuple(
            unit for unit in self.units if not unit.name.endswith(".scope") and not _NOT_ACTED_ON.fullmatch(unit.name)
        )

    def _end_within(self, path: str, group: str) -> int:
        """Where a control group ends in a path that is it, or below it; 0: neither. A manager in a namespace speaks of
        a path's last parts only: that is believed where nothing of this node stands at those very parts."""
        if not group.startswith("/"):
            return 0
        if f"{path}/".startswith(f"{group}/"):
            return len(group)
        place = f"{path}/".find(f"{group}/")
        near = place > 0 and f"/{group.split('/')[1]}" not in self.tops and not _inside_another(path[:place])
        return place + len(group) if near else 0

    def _by_place(self, path: str, outside: str) -> Owner | None:
        parts = outside.split("/")
        users = ""
        for place, name in enumerate(parts):
            if not name.endswith(".service") or place == 0 or not parts[place - 1].endswith(".slice"):
                continue
            if _USERS_MANAGER.fullmatch(name):
                users = OF_A_USER
                continue
            if _NOT_ACTED_ON.fullmatch(name) or not (users or self._speaks_of(_before_slices(parts, place))):
                return None
            doubt = users or (UNKNOWN_UNIT if self.systemd else NOT_ASKED)
            return Owner(Subject("unit", name), path[len("/".join(parts[: place + 1])) :], doubt)
        return None

    def _speaks_of(self, prefix: str) -> bool:
        """Whether the systemd of this node may have put a service below this prefix."""
        return not prefix or prefix in self._prefixes or (not self._prefixes and not _inside_another(prefix))

    @cached_property
    def _prefixes(self) -> frozenset[str]:
        """What stands before the first slice in control groups that systemd reported."""
        split = (unit.control_group.split("/") for unit in self.units if ".slice/" in unit.control_group)
        return frozenset(_before_slices(parts, len(parts) - 1) for parts in split)

    @cached_property
    def _by_id(self) -> dict[str, tuple[LeakContainer, ...]]:
        found: dict[str, tuple[LeakContainer, ...]] = {}
        for one in self.containers:
            for short in dict.fromkeys(one_id[:_SHORT] for one_id in one.ids if len(one_id) >= _SHORT):
                found[short] = (*found.get(short, ()), one)
        return found


def whose(known: Identities, name: str, cgroups: Iterable[str]) -> Owner:
    """Whom to act on about a process: its unit, else its container, else the process itself; a thread of the kernel is
    the kernel's."""
    paths = tuple(cgroups)
    for path in paths:
        if (owner := known.actor(path)) is not None:
            return owner
    return Owner(Subject("kernel" if is_the_kernels(name, paths) else "process", name))


def identities(facts: LeakFacts) -> Identities:
    """The units and containers of the facts."""
    tops = frozenset(f"/{path.split('/')[1]}" for path in _paths(facts) if path.startswith("/"))
    return Identities(facts.units, facts.containers, facts.systemd, facts.engines, facts.foreign_paths, tops)


def _paths(facts: LeakFacts) -> Iterator[str]:
    for left in (facts.zombies, facts.directories):
        yield from (one.parent for one in left.below)
        yield from (one.pattern for one in left.families)
        yield from (one.path for one in left.left)
    yield from (one.cgroup for one in facts.makers)


def _before_slices(parts: list[str], place: int) -> str:
    while place > 0 and parts[place - 1].endswith(".slice"):
        place -= 1
    return "/".join(parts[:place])


def _inside_another(prefix: str) -> bool:
    return _INSIDE_ANOTHER.search(f"{prefix}/") is not None


def _scope(path: str) -> Owner | None:
    """A scope that bears no id: a place, and nobody who could be disabled."""
    parts = path.split("/")
    for place, name in enumerate(parts):
        if name.endswith(".scope") and place > 1 and all(part.endswith(".slice") for part in parts[1:place]):
            if _NOT_ACTED_ON.fullmatch(name) or _ID.search(name) or "<" in name or re.search(_UUID, name):
                return None
            own = "/".join(parts[: place + 1])
            return Owner(Subject("cgroup", own), path[len(own) :])
    return None


def long_id(path: str) -> str | None:
    """The short form of the outermost full container id that a path bears."""
    found = _LONG_ID.search(path)
    return found[1][:_SHORT] if found is not None else None


def same_id(one: str, other: str) -> bool:
    """Whether two ids, one of which may be cut short, are the same."""
    return min(len(one), len(other)) >= _SHORT and (one.startswith(other) or other.startswith(one))


def made_for_others(path: str) -> bool:
    """Whether a cgroup is called as managers call what they make for others: who made it is not who uses it."""
    return _ORDERED.search(path.rpartition("/")[2]) is not None
