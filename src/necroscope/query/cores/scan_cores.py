"""What each core did between two looks, from the time counters of the store."""

from __future__ import annotations

from collections.abc import Mapping

from necroscope.clock import NS
from necroscope.store.memory import MemoryStore
from necroscope.vocabulary.model import CoreShares

# Idle time may step back by a few ticks; more than that is a core that was offline and counts anew.
_JITTER_S = 0.1


def core_shares(store: MemoryStore) -> tuple[tuple[CoreShares, ...], float]:
    """Cores that the first and the last kept look both saw, by number, and the seconds between these looks."""
    instants = store.instants("cpu")
    if len(instants) < 2:
        return (), 0.0
    counters: dict[str, dict[str, list[float]]] = {}
    for point in store.signal("cpu_time_seconds"):
        cpu, mode = point.labels
        counters.setdefault(cpu, {}).setdefault(mode, []).append(point.value)
    shares = (_shares(int(cpu), modes) for cpu, modes in counters.items())
    seen = sorted((share for share in shares if share is not None), key=lambda share: share.cpu)
    return tuple(seen), (instants[-1] - instants[0]) / NS


def _shares(cpu: int, modes: Mapping[str, list[float]]) -> CoreShares | None:
    """None for a core that came, went, or began to count anew in between: its lost idle time would look busy.

    The kernel moves time between idle and iowait afterwards, so only their sum is trusted.
    """
    spent = {mode: values[-1] - values[0] for mode, values in modes.items() if len(values) > 1}
    idle_s = spent.pop("idle", 0.0) + spent.pop("iowait", 0.0)
    if idle_s < -_JITTER_S:
        return None
    spent = {mode: max(0.0, seconds) for mode, seconds in spent.items()}
    total = max(0.0, idle_s) + sum(spent.values())
    if total <= 0:
        return None
    part = {mode: seconds / total for mode, seconds in spent.items()}
    idle = max(0.0, idle_s) / total
    return CoreShares(
        cpu=cpu,
        user=part.get("user", 0.0) + part.get("nice", 0.0),
        system=part.get("system", 0.0),
        irq=part.get("irq", 0.0),
        softirq=part.get("softirq", 0.0),
        steal=part.get("steal", 0.0),
        idle=idle,
        busy=1.0 - idle,
        accounted_s=total,
    )
