"""/proc/stat: what each core did since boot, and what the scheduler counted.

The kernel adds guest time to user time as well (and guest_nice to nice), so the columns user to steal are the whole
time of a core and guest is a part of it. Columns came over time (steal 2.6.11, guest 2.6.24, guest_nice 2.6.33);
one that this kernel lacks is None. idle and iowait can step back, and CPUs come and go.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import MAX_CPUS, count, counts, whole_lines
from necroscope.vocabulary.model import Reading, Sample, Signal

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_FEWEST_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class CoreTimes:
    """Ticks of USER_HZ since boot that one core spent; `user` and `nice` include the guest columns."""

    cpu: int
    user: int
    nice: int
    system: int
    idle: int
    iowait: int | None = None
    irq: int | None = None
    softirq: int | None = None
    steal: int | None = None
    guest: int | None = None
    guest_nice: int | None = None


@dataclass(frozen=True, slots=True)
class Stat:
    """One look at /proc/stat: online cores by rising number, and the counters below them."""

    cores: tuple[CoreTimes, ...]
    context_switches: int | None = None
    boot_time_s: int | None = None
    forks: int | None = None
    running: int | None = None
    blocked: int | None = None


class Cpu:
    """Time of each core by what it was spent on, and the scheduler's counters."""

    name: ClassVar[str] = "cpu"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal(
            "cpu_time_seconds",
            "seconds",
            "counter",
            f"Time of a core by what it was spent on; the modes ({', '.join(MODES)}) add up to the whole. "
            "Time of virtual machines is part of user and nice.",
            ("cpu", "mode"),
        ),
        Signal(
            "cpu_guest_seconds",
            "seconds",
            "counter",
            "Time a core ran virtual machines; already part of cpu_time_seconds, never to be added to it.",
            ("cpu",),
        ),
        Signal("cpu_context_switches", "switches", "counter", "Switches from one task to another, on all cores."),
        Signal("cpu_forks", "tasks", "counter", "Processes and threads made since boot; a crash loop shows here."),
        Signal("cpu_running_tasks", "tasks", "gauge", "Tasks that run or wait for a core at this instant."),
        Signal("cpu_blocked_tasks", "tasks", "gauge", "Tasks that wait for I/O and cannot be interrupted."),
        Signal("cpu_boot_time_seconds", "seconds", "gauge", "When the kernel started, in UTC seconds."),
    )

    def read(self, host: Host) -> Reading:
        """One look at /proc/stat."""
        return Reading(samples=tuple(_samples(parse_stat(host.read("/proc/stat")), os.sysconf("SC_CLK_TCK"))))


def parse_stat(text: bytes) -> Stat:
    """Cores whose line is whole; `Unavailable` when there is none."""
    cores: dict[int, CoreTimes] = {}
    other: dict[bytes, int] = {}
    for line in whole_lines(text):
        key, _, rest = line.partition(b" ")
        if key.startswith(b"cpu"):
            if (core := _core(key[3:], rest.split())) is not None:
                cores[core.cpu] = core
        elif key != b"intr" and (value := count(rest.strip())) is not None:
            other[key] = value
    if not cores:
        raise Unavailable("/proc/stat names no CPU")
    return Stat(
        cores=tuple(cores[cpu] for cpu in sorted(cores)),
        context_switches=other.get(b"ctxt"),
        boot_time_s=other.get(b"btime"),
        forks=other.get(b"processes"),
        running=other.get(b"procs_running"),
        blocked=other.get(b"procs_blocked"),
    )


def _core(number: bytes, columns: list[bytes]) -> CoreTimes | None:
    cpu, times = count(number), counts(columns)
    if cpu is None or cpu >= MAX_CPUS or times is None or len(times) < _FEWEST_COLUMNS:
        return None
    return CoreTimes(cpu, *times[: len(CoreTimes.__slots__) - 1])


def _samples(stat: Stat, hz: int) -> Iterator[Sample]:
    for core in stat.cores:
        cpu = str(core.cpu)
        for mode in MODES:
            if (ticks := getattr(core, mode)) is not None:
                yield Sample("cpu_time_seconds", ticks / hz, (cpu, mode))
        if core.guest is not None:
            yield Sample("cpu_guest_seconds", (core.guest + (core.guest_nice or 0)) / hz, (cpu,))
    totals = {
        "cpu_context_switches": stat.context_switches,
        "cpu_forks": stat.forks,
        "cpu_running_tasks": stat.running,
        "cpu_blocked_tasks": stat.blocked,
        "cpu_boot_time_seconds": stat.boot_time_s,
    }
    yield from (Sample(name, value) for name, value in totals.items() if value is not None)
