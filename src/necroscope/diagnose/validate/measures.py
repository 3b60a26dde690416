"""Rates of throttling, reclaim, pressure and their like, before and after. Worse is what rose much and is much."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.vocabulary.conclusions.validation import Measure, ValidationFacts


@dataclass(frozen=True, slots=True)
class Watched:
    """A rate that is compared: what it is called, its unit, and from which value on it can be worse."""

    name: str
    unit: str
    much: float


WATCHED = {
    "throttle_throttled_seconds": Watched("stopped by CPU quotas", "s/s", 0.1),
    "pressure_cpu": Watched("somebody waited for a core", "s/s", 0.5),
    "pressure_memory": Watched("somebody waited for memory", "s/s", 0.05),
    "pressure_io": Watched("somebody waited for I/O", "s/s", 0.3),
    "vmstat_pgscan_direct": Watched("pages looked at by direct reclaim", "1/s", 5000.0),
    "vmstat_pgscan_kswapd": Watched("pages looked at by background reclaim", "1/s", 50_000.0),
    "vmstat_allocstall": Watched("allocations that had to reclaim", "1/s", 10.0),
    "vmstat_compact_stall": Watched("allocations that had to compact", "1/s", 10.0),
    "vmstat_oom_kill": Watched("tasks killed for want of memory", "1/s", 0.001),
}
"""By the name of the rate."""
_TIMES = 3.0


def measures(facts: ValidationFacts) -> tuple[Measure, ...]:
    """Every watched rate that is known on either side."""
    before = dict(facts.before.rates) if facts.before is not None else {}
    after = dict(facts.after.rates)
    return tuple(
        Measure(one.name, one.unit, before.get(key), after.get(key), _worse(before.get(key), after.get(key), one.much))
        for key, one in WATCHED.items()
        if key in before or key in after
    )


def _worse(before: float | None, after: float | None, much: float) -> bool:
    return before is not None and after is not None and after >= much and after > _TIMES * before
