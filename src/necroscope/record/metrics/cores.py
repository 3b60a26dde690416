"""Saturated cores, second by second: next to no idle for at least two seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from necroscope.vocabulary.model import Sample

IDLE_MOST, IN_KERNEL = 0.03, 0.85
LEAST_S = 2.0
# A scrape a minute must still see a run that is over.
KEPT_S = 60.0
_KERNEL = ("system", "irq", "softirq")
_IDLE = ("idle", "iowait")


@dataclass(slots=True)
class _Core:
    idle: float = 0.0
    kernel: float = 0.0
    total: float = 0.0
    run_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Saturated:
    """Seconds that a core was saturated since the look before, and in what: `kernel` or `user`."""

    cpu: str
    mode: str
    seconds: float


@dataclass(slots=True)
class Cores:
    """Takes the looks at the cores' times."""

    _before: dict[str, _Core] = field(default_factory=dict)
    _runs: list[tuple[float, float]] = field(default_factory=list)
    in_kernel_s: dict[str, float] = field(default_factory=dict)
    """For how long each core has been held in the kernel by now; others are absent."""
    now: int = 0
    """Cores that are saturated at this look."""

    def look(self, samples: Iterable[Sample], now_s: float) -> Iterator[Saturated]:
        """What was saturated since the look before. Seconds of a run are told once it is two seconds long."""
        self.now = 0
        held, self.in_kernel_s = self.in_kernel_s, {}
        for cpu, core in _by_core(samples).items():
            before, self._before[cpu] = self._before.get(cpu), core
            if before is None or (total := core.total - before.total) <= 0.2:
                continue
            if core.idle - before.idle > IDLE_MOST * total:
                continue
            core.run_s = before.run_s + total
            mode = "kernel" if core.kernel - before.kernel >= IN_KERNEL * total else "user"
            if mode == "kernel":
                self.in_kernel_s[cpu] = held.get(cpu, 0.0) + total
            if core.run_s >= LEAST_S:
                self.now += 1
                self._runs.append((now_s, core.run_s))
                yield Saturated(cpu, mode, total if before.run_s >= LEAST_S else core.run_s)
        self._runs = [one for one in self._runs if now_s - one[0] <= KEPT_S][-10_000:]

    @property
    def longest_s(self) -> float:
        """The longest run of the last minute."""
        return max((run_s for _, run_s in self._runs), default=0.0)


def _by_core(samples: Iterable[Sample]) -> dict[str, _Core]:
    found: dict[str, _Core] = {}
    for sample in samples:
        if sample.signal != "cpu_time_seconds":
            continue
        cpu, mode = sample.labels
        core = found.setdefault(cpu, _Core())
        core.total += sample.value
        if mode in _IDLE:
            core.idle += sample.value
        elif mode in _KERNEL:
            core.kernel += sample.value
    return found
