"""Whom an operator would act on, from cgroups' paths: a unit where there is one, else the container, else the process
itself. The paths are judged in `diagnose/leak/identity.py`; this is its place for what is not about leaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from necroscope.diagnose.leak.identity import Identities, identities
from necroscope.kernel_threads import is_the_kernels
from necroscope.leak_facts import LeakContainer, LeakFacts, LeakUnit
from necroscope.model import Subject

__all__ = ["Owners", "is_the_kernels", "owners_of", "subject_of"]


@dataclass(frozen=True, slots=True)
class Owners:
    """What is known of a node's units and containers."""

    units: tuple[tuple[str, str], ...] = ()
    """Name and control group."""
    containers: tuple[tuple[str, str], ...] = ()
    """Name and id, as far as a path tells it; the id may be empty."""
    engines: bool = False
    """Whether any engine told of containers: else a long number in a path is no container."""
    known: Identities | None = None
    """The same, where facts about leaks tell more."""

    def of(self, cgroup: str) -> Subject | None:
        """The unit or container that a cgroup belongs to; None where the path does not show one.

        What is inside a container, be it called as a unit of this node, is the container's.
        """
        found = (self.known or self._identities()).actor(cgroup)
        return found.subject if found is not None else None

    def _identities(self) -> Identities:
        ids: dict[str, tuple[str, ...]] = {}
        for name, identity in self.containers:
            ids[name] = (*ids.get(name, ()), identity)
        containers = tuple(LeakContainer(name, mine) for name, mine in ids.items())
        return Identities(tuple(LeakUnit(*unit) for unit in self.units), containers, engines=self.engines)


def owners_of(facts: LeakFacts) -> Owners:
    """What the facts about leaks tell of units and containers."""
    return Owners(known=identities(facts))


def subject_of(owners: Owners, name: str, cgroups: Iterable[str]) -> Subject:
    """Unit, else container, else the process itself; a thread of the kernel is the kernel's."""
    known = tuple(cgroups)
    for cgroup in known:
        if (owner := owners.of(cgroup)) is not None:
            return owner
    return Subject("kernel" if is_the_kernels(name, known) else "process", name)
