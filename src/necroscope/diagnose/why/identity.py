"""Whom an operator would act on, from a cgroup's path: a unit where there is one, else the container, else nobody.

A unit's name stands in the path, whatever slices or namespaces are around it. Logins and the manager's own scopes are
units to systemd, but nobody would stop them to end an incident: what runs there is named as a process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from necroscope.model import Subject
from necroscope.store.neutral_names import is_kernel_thread

_UNIT = re.compile(r"[^/]+\.(?:service|scope)")
_NOT_ACTED_ON = re.compile(
    r"(?:session-[^/]+|init|user@[^/]+|run-[^/]+|vte-spawn-[^/]+|machine-[^/]+)\.(?:scope|service)"
)
_CONTAINER = re.compile(r"(?:^|[/-])([0-9a-f]{64})(?=$|[/.])")
_SHORT = 12
# What a manager calls the cgroups that it makes for others: containers and pods by their ids, units by their sort.
_ORDERED = re.compile(
    r"[0-9a-f]{64}|[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|\.(?:service|scope|slice)$"
)


@dataclass(frozen=True, slots=True)
class Owners:
    """What is known of a node's units and containers."""

    units: tuple[tuple[str, str], ...] = ()
    """Name and control group."""
    containers: tuple[tuple[str, str], ...] = ()
    """Name and id, as far as a path tells it; the id may be empty."""
    engines: bool = False
    """Whether any engine told of containers: else a long number in a path is no container."""

    def of(self, cgroup: str) -> Subject | None:
        """The unit or container that a cgroup belongs to; None where the path does not show one.

        What is inside a container, be it called as a unit of this node, is the container's.
        """
        found = _CONTAINER.search(cgroup)
        outside = cgroup[: found.start()] if found is not None else cgroup
        for name, group in self.units:
            if within(outside, group):
                return Subject("unit", name)
        if (unit := unit_in(outside)) is not None:
            return Subject("unit", unit)
        if found is not None and self.engines:
            short_id = found[1][:_SHORT]
            return Subject("container", self.container(short_id) or short_id)
        return None

    def container(self, short_id: str) -> str | None:
        """The name of the container with this id; None where no engine told it, or several have it."""
        names = {name for name, one in self.containers if one == short_id}
        return names.pop() if len(names) == 1 else None

    @property
    def container_names(self) -> tuple[str, ...]:
        """Each name once."""
        return tuple(dict.fromkeys(name for name, _ in self.containers))


def unit_in(cgroup: str) -> str | None:
    """The innermost unit that a path names; containers' scopes are none."""
    for part in reversed(cgroup.split("/")):
        if _UNIT.fullmatch(part) and not _NOT_ACTED_ON.fullmatch(part) and not _CONTAINER.search(part):
            return part
    return None


def container_in(cgroup: str) -> str | None:
    """The short id of the outermost container that a path names."""
    found = _CONTAINER.search(cgroup)
    return found[1][:_SHORT] if found else None


def made_for_others(cgroup: str) -> bool:
    """Whether a cgroup is called as managers call what they make for others: who made it is not who uses it."""
    return _ORDERED.search(cgroup.rpartition("/")[2]) is not None


def within(path: str, group: str) -> bool:
    """Whether a path is a control group or below it; a manager in a namespace speaks of the path's last parts only."""
    group = group.rstrip("/")
    if not group.startswith("/") or not group:
        return False
    return f"{path}/".startswith(f"{group}/") or f"{group}/" in f"{path}/"


def subject_of(owners: Owners, name: str, cgroups: Iterable[str]) -> Subject:
    """Unit, else container, else the process itself; a thread of the kernel is the kernel's."""
    known = tuple(cgroups)
    for cgroup in known:
        if (owner := owners.of(cgroup)) is not None:
            return owner
    return Subject("kernel" if is_the_kernels(name, known) else "process", name)


def is_the_kernels(name: str, cgroups: Iterable[str]) -> bool:
    """Whether it is a thread of the kernel: by its whole name, and because nobody put it into a cgroup."""
    return is_kernel_thread(name) and all(one in ("", "/") for one in cgroups)
