"""What scan's rules ask for, made from a store in memory. A fact that nobody could see is absent, not empty."""

from __future__ import annotations

from dataclasses import fields

from necroscope.config import Config
from necroscope.diagnose.fact import (
    Containers,
    Cores,
    KernelMemory,
    Nics,
    Quota,
    Quotas,
    Symptoms,
    Turnovers,
    Units,
)
from necroscope.query.cores.scan_cores import core_shares
from necroscope.sense.log.symptoms import catalogue
from necroscope.store.memory import MemoryStore
from necroscope.vocabulary.model import Census, ContainerState, HostIdentity, NicState, ProcessTurnover, UnitState


def facts(store: MemoryStore, config: Config, now_ns: int) -> dict[type, object]:
    """Every fact that this store can give, and the sections of the configuration as facts of their own."""
    found: list[object | None] = [getattr(config, section.name) for section in fields(Config)]
    found += [_first(store.latest(Census)), _first(store.latest(HostIdentity))]
    if store.seen("systemd"):
        found.append(Units(store.latest(UnitState)))
    if store.seen("containers"):
        found.append(Containers(store.latest(ContainerState)))
    if store.seen("processes"):
        found.append(Turnovers(store.latest(ProcessTurnover)))
    if store.seen("nic"):
        found.append(Nics(store.latest(NicState)))
    if store.seen("kmsg"):
        found.append(Symptoms(store.symptoms(), now_ns, catalogue().kinds))
    found += [_cores(store), _quotas(store), _kernel_memory(store)]
    return {type(fact): fact for fact in found if fact is not None}


def _first(records: tuple[object, ...]) -> object | None:
    return records[0] if records else None


def _cores(store: MemoryStore) -> Cores | None:
    shares, window_s = core_shares(store)
    return Cores(shares, window_s) if shares else None


def _quotas(store: MemoryStore) -> Quotas | None:
    if not store.seen("throttle"):
        return None
    values: dict[str, dict[str, float]] = {}
    for name in ("throttle_periods", "throttle_throttled_periods", "throttle_throttled_seconds"):
        for point in store.signal(name):
            values.setdefault(point.labels[0], {})[name] = point.value
    quotas = (
        Quota(
            cgroup,
            int(row.get("throttle_periods", 0)),
            int(row.get("throttle_throttled_periods", 0)),
            row.get("throttle_throttled_seconds", 0.0),
        )
        for cgroup, row in values.items()
    )
    return Quotas(tuple(sorted(quotas, key=lambda quota: -quota.throttled_s)))


def _kernel_memory(store: MemoryStore) -> KernelMemory | None:
    def last(name: str) -> int | None:
        points = store.signal(name)
        return int(points[-1].value) if points else None

    memory = KernelMemory(last("meminfo_sunreclaim_bytes"), last("meminfo_percpu_bytes"))
    return None if memory == KernelMemory(None, None) else memory
