"""Whom an operator would act on, from a cgroup's path: a unit where there is one, else the container, else nobody.

A unit's name stands in the path, whatever slices or namespaces are around it. Logins and the manager's own scopes are
units to systemd, but nobody would stop them to end an incident: what runs there is named as a process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from necroscope.model import Subject

_UNIT = re.compile(r"[^/]+\.(?:service|scope)")
_NOT_ACTED_ON = re.compile(
    r"(?:session-[^/]+|init|user@[^/]+|run-[^/]+|vte-spawn-[^/]+|machine-[^/]+)\.(?:scope|service)"
)
_CONTAINER = re.compile(r"(?:^|[/-])([0-9a-f]{64})(?=$|[/.])")
# Threads that are the kernel's own: names end at a slash or are bare, and no cgroup but the root holds them.
_KERNEL_THREAD = re.compile(
    r"(?:kworker|ksoftirqd|migration|kswapd|kcompactd|khugepaged|rcu_|rcuog|rcuop|rcuc|rcub|ktimers|irq/|kauditd|jbd2|"
    r"kthreadd|watchdog/|cpuhp/|oom_reaper|writeback|swapper)"
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
        """The unit or container that a cgroup belongs to; None where the path does not show one."""
        for name, group in self.units:
            if within(cgroup, group):
                return Subject("unit", name)
        if (found := unit_in(cgroup)) is not None:
            return Subject("unit", found)
        if (found := container_in(cgroup)) is not None and self.engines:
            return Subject("container", self.container(found) or found)
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
    """The short id of the innermost container that a path names."""
    found = _CONTAINER.findall(cgroup)
    return found[-1][:12] if found else None


def within(path: str, group: str) -> bool:
    """Whether a path is a control group or below it; a manager in a namespace speaks of the path's last parts only."""
    group = group.rstrip("/")
    if not group.startswith("/") or not group:
        return False
    return f"{path}/".startswith(f"{group}/") or f"{group}/" in f"{path}/"


def is_kernel_thread(comm: str) -> bool:
    """Whether a name is that of a thread of the kernel."""
    return bool(_KERNEL_THREAD.match(comm))


def subject_of(owners: Owners, name: str, cgroups: Iterable[str]) -> Subject:
    """Unit, else container, else the process itself; a thread of the kernel is the kernel's."""
    for cgroup in cgroups:
        if (owner := owners.of(cgroup)) is not None:
            return owner
    if is_kernel_thread(name):
        return Subject("kernel", name)
    return Subject("process", name)
