"""/proc/pressure: how much of the time tasks waited for CPU, memory or I/O (PSI, Linux 4.20).

`some` is time in which at least one task waited, `full` time in which all did that could have run. Older kernels have
no `full` for cpu, and `irq` (6.1, only with interrupt time accounting) has nothing but `full`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import count, decimal, whole_lines
from necroscope.vocabulary.model import Reading, Sample, Signal, Unseen

RESOURCES = ("cpu", "memory", "io", "irq")

_LINE = re.compile(rb"(some|full) avg10=([0-9.]+) avg60=([0-9.]+) avg300=([0-9.]+) total=([0-9]+)")
_HINT = "boot with psi=1, on a kernel with CONFIG_PSI (4.20 and later)"
_LABELS = ("resource", "who")


@dataclass(frozen=True, slots=True)
class Stall:
    """Averages in percent of the time over 10, 60 and 300 seconds, and all of it since boot."""

    avg10_percent: float
    avg60_percent: float
    avg300_percent: float
    total_us: int


@dataclass(frozen=True, slots=True)
class ResourcePressure:
    """Waiting for one resource; a line that this kernel does not have is None."""

    some: Stall | None
    full: Stall | None


class Pressure:
    """Time lost to waiting, by resource."""

    name: ClassVar[str] = "pressure"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal(
            "pressure_stalled_seconds",
            "seconds",
            "counter",
            "Time in which some task waited for the resource, or all of them did (full).",
            _LABELS,
        ),
        Signal("pressure_avg10_percent", "percent", "gauge", "Share of the last 10 s spent waiting.", _LABELS),
        Signal("pressure_avg60_percent", "percent", "gauge", "Share of the last 60 s spent waiting.", _LABELS),
        Signal("pressure_avg300_percent", "percent", "gauge", "Share of the last 300 s spent waiting.", _LABELS),
    )

    def read(self, host: Host) -> Reading:
        """One look at the resources this kernel has; `irq` is missed by nobody."""
        samples: list[Sample] = []
        unseen: list[Unseen] = []
        for resource in RESOURCES:
            try:
                samples.extend(_samples(resource, parse_pressure(host.read(f"/proc/pressure/{resource}"))))
            except Unavailable as error:
                if resource != "irq":
                    unseen.append(Unseen(self.name, f"no {resource} pressure: {error.message}", error.hint or _HINT))
        if not samples:
            raise Unavailable("no PSI: this kernel does not measure pressure", _HINT)
        return Reading(samples=tuple(samples), unseen=tuple(unseen))


def parse_pressure(text: bytes) -> ResourcePressure:
    """One file of /proc/pressure; `Unavailable` when it holds neither line."""
    stalls: dict[bytes, Stall] = {}
    for line in whole_lines(text):
        match = _LINE.fullmatch(line)
        if match and (stall := _stall(match)) is not None:
            stalls[match[1]] = stall
    if not stalls:
        raise Unavailable("the file holds neither `some` nor `full`")
    return ResourcePressure(stalls.get(b"some"), stalls.get(b"full"))


def _stall(match: re.Match[bytes]) -> Stall | None:
    avg10, avg60, avg300, total = decimal(match[2]), decimal(match[3]), decimal(match[4]), count(match[5])
    if avg10 is None or avg60 is None or avg300 is None or total is None:
        return None
    return Stall(avg10, avg60, avg300, total)


def _samples(resource: str, pressure: ResourcePressure) -> Iterator[Sample]:
    for who, stall in (("some", pressure.some), ("full", pressure.full)):
        if stall is not None:
            labels = (resource, who)
            yield Sample("pressure_stalled_seconds", stall.total_us / 1e6, labels)
            yield Sample("pressure_avg10_percent", stall.avg10_percent, labels)
            yield Sample("pressure_avg60_percent", stall.avg60_percent, labels)
            yield Sample("pressure_avg300_percent", stall.avg300_percent, labels)
