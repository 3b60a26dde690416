"""Facts: what rules may ask for. A fact that nobody could see is absent, not empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from necroscope.vocabulary.model import ContainerState, CoreShares, NicState, ProcessTurnover, Symptom, UnitState
from necroscope.vocabulary.symptom_kind import Kind


@dataclass(frozen=True, slots=True)
class Units:
    """systemd's units that failed or restart."""

    items: tuple[UnitState, ...]


@dataclass(frozen=True, slots=True)
class Containers:
    """Containers of every engine that answered."""

    items: tuple[ContainerState, ...]


@dataclass(frozen=True, slots=True)
class Turnovers:
    """Process names whose pids came and went between two looks."""

    items: tuple[ProcessTurnover, ...]


@dataclass(frozen=True, slots=True)
class Symptoms:
    """The kernel log's symptoms, and what is known of their kinds."""

    items: tuple[Symptom, ...]
    now_ns: int
    kinds: Mapping[str, Kind]


@dataclass(frozen=True, slots=True)
class Nics:
    """Network devices with their drivers' statistics."""

    items: tuple[NicState, ...]


@dataclass(frozen=True, slots=True)
class Cores:
    """What each core did in the last look's window."""

    items: tuple[CoreShares, ...]
    window_s: float


@dataclass(frozen=True, slots=True)
class Quota:
    """A cgroup with a CPU quota: periods it ran in, and those in which the quota stopped it."""

    cgroup: str
    periods: int
    throttled: int
    throttled_s: float


@dataclass(frozen=True, slots=True)
class Quotas:
    """Every cgroup with a CPU quota, the most throttled first."""

    items: tuple[Quota, ...]


@dataclass(frozen=True, slots=True)
class KernelMemory:
    """Kernel memory that zombies inflate."""

    unreclaimable_bytes: int | None
    percpu_bytes: int | None
