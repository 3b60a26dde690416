"""How fast each core runs and how often heat slowed it: files of each core below /sys/devices/system/cpu.

    cpu3/cpufreq/scaling_cur_freq                  3192000     kHz now
    cpu3/cpufreq/cpuinfo_max_freq                  3500000     kHz at most
    cpu3/thermal_throttle/core_throttle_count      12          x86 from Intel only
    cpu3/thermal_throttle/package_throttle_count   40
    cpu3/topology/thread_siblings_list             3,67

Virtual machines mostly have the last one only. Frequencies may be slow to read: before 5.19, an x86 kernel interrupts
the core and waits 10 ms where it was not asked within the last second. So they have a budget for each look, and the
next look begins with the cores that are left. Which core has which file is found out anew when cores come or go, and
every minute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import count, cpu_list, whole_lines
from necroscope.vocabulary.model import Reading, Sample, Signal, Unseen

FOLDER = "/sys/devices/system/cpu"
BUDGET_S = 1.0
ARRANGED_FOR_S = 60.0
MOST_CORES = 8192

_CPU = ("cpu",)
_FREQUENCY, _MAX, _SIBLING = "cpu_frequency_hertz", "cpu_frequency_max_hertz", "cpu_sibling"
_THROTTLES = {
    "cpu_thermal_throttles": "core_throttle_count",
    "cpu_package_thermal_throttles": "package_throttle_count",
}
_HZ_OF_KHZ = 1000
# No core runs at 1 THz: such a number is none.
_TOO_FAST_KHZ = 10**9
_LONGEST_ONLINE, _LONGEST = 1 << 16, 64


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What the online cores have. `fixed` are the samples that stay; `throttles` are signals with their cores."""

    online: bytes
    fixed: tuple[Sample, ...]
    frequencies: tuple[int, ...]
    throttles: tuple[tuple[str, int], ...]


class CpuSpeed:
    """Frequency, thermal throttling and SMT sibling of each online core, where the machine tells them."""

    name: ClassVar[str] = "cpu-speed"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal(
            _FREQUENCY,
            "hertz",
            "gauge",
            "Frequency of the core; absent where the machine does not tell it or it was not this core's turn.",
            _CPU,
        ),
        Signal(_MAX, "hertz", "gauge", "Highest frequency of the core.", _CPU),
        Signal(
            "cpu_thermal_throttles",
            "throttles",
            "counter",
            "How often the core was slowed because it was too hot (Intel).",
            _CPU,
        ),
        Signal(
            "cpu_package_thermal_throttles",
            "throttles",
            "counter",
            "How often the core was slowed because its package was too hot (Intel).",
            _CPU,
        ),
        Signal(_SIBLING, "core", "gauge", "Another core that shares its hardware (SMT): the lowest of them.", _CPU),
    )

    def __init__(self) -> None:
        self._arrangement: Arrangement | None = None
        self._arranged_s = 0.0
        self._turn = 0

    def read(self, host: Host) -> Reading:
        """One look. `Unavailable` where the machine tells nothing about any core."""
        now = self._arranged(host)
        throttles = tuple(_throttles(host, now.throttles))
        frequencies = tuple(self._frequencies(host, now.frequencies))
        if not (now.fixed or throttles or frequencies):
            raise Unavailable("no core tells its frequency, throttling or sibling", "most virtual machines hide them")
        unseen = []
        if not frequencies:
            unseen.append(
                Unseen(self.name, "no core tells its frequency", "it takes a cpufreq driver; guests mostly have none")
            )
        if not throttles:
            unseen.append(
                Unseen(self.name, "no core counts thermal throttling", "kernels count it on Intel's processors only")
            )
        return Reading(samples=(*now.fixed, *throttles, *frequencies), unseen=tuple(unseen))

    def _arranged(self, host: Host) -> Arrangement:
        """The arrangement, found out anew when it is old or other cores are online."""
        online = host.read(f"{FOLDER}/online", _LONGEST_ONLINE)
        known, now_s = self._arrangement, clock.elapsed_s()
        if known is None or known.online != online or now_s - self._arranged_s >= ARRANGED_FOR_S:
            known = self._arrangement = arrangement(host, online)
            self._arranged_s = now_s
        return known

    def _frequencies(self, host: Host, cpus: tuple[int, ...]) -> Iterator[Sample]:
        """Core by core from where the look before had to stop, until the budget is used up."""
        ends_s = clock.elapsed_s() + BUDGET_S
        for _ in cpus:
            cpu = cpus[self._turn % len(cpus)]
            self._turn = (self._turn + 1) % len(cpus)
            yield from _hertz(host, _FREQUENCY, cpu, "scaling_cur_freq")
            if clock.elapsed_s() >= ends_s:
                return


def arrangement(host: Host, online: bytes) -> Arrangement:
    """What the cores of a list such as `0-3,8` have; `Unavailable` when it is not a whole list of CPUs."""
    lines = whole_lines(online)
    cpus = cpu_list(lines[0])[:MOST_CORES] if lines else ()
    if not cpus:
        raise Unavailable(f"{FOLDER}/online names no CPU")
    alive = frozenset(cpus)
    fixed: list[Sample] = []
    for cpu in cpus:
        fixed += _hertz(host, _MAX, cpu, "cpuinfo_max_freq")
        sibling = parse_sibling(_short(host, cpu, "topology/thread_siblings_list"), cpu, alive)
        if sibling is not None:
            fixed.append(Sample(_SIBLING, sibling, (str(cpu),)))
    return Arrangement(
        online,
        tuple(fixed),
        tuple(cpu for cpu in cpus if host.exists(f"{FOLDER}/cpu{cpu}/cpufreq/scaling_cur_freq")),
        tuple(
            (signal, cpu)
            for signal, file in _THROTTLES.items()
            for cpu in cpus
            if host.exists(f"{FOLDER}/cpu{cpu}/thermal_throttle/{file}")
        ),
    )


def parse_count(text: bytes) -> int | None:
    """The one number of a file; None for a cut file and for anything else."""
    lines = whole_lines(text)
    return count(lines[0].strip()) if len(lines) == 1 else None


def parse_sibling(text: bytes, cpu: int, online: frozenset[int]) -> int | None:
    """The lowest other core of a list of siblings; None when there is none, or the list does not name the core."""
    lines = whole_lines(text)
    try:
        siblings = cpu_list(lines[0]) if len(lines) == 1 else ()
    except Unavailable:
        return None
    others = [other for other in siblings if other != cpu and other in online]
    return others[0] if others and cpu in siblings else None


def _throttles(host: Host, files: Iterable[tuple[str, int]]) -> Iterator[Sample]:
    for signal, cpu in files:
        value = parse_count(_short(host, cpu, f"thermal_throttle/{_THROTTLES[signal]}"))
        if value is not None:
            yield Sample(signal, value, (str(cpu),))


def _hertz(host: Host, signal: str, cpu: int, file: str) -> Iterator[Sample]:
    """Nothing for 0: drivers write it where they do not know."""
    khz = parse_count(_short(host, cpu, f"cpufreq/{file}"))
    if khz is not None and 0 < khz < _TOO_FAST_KHZ:
        yield Sample(signal, khz * _HZ_OF_KHZ, (str(cpu),))


def _short(host: Host, cpu: int, file: str) -> bytes:
    return host.short(f"{FOLDER}/cpu{cpu}/{file}", _LONGEST) or b""
