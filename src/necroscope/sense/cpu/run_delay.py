"""How long tasks waited for a core that was taken: /proc/schedstat, and the schedstat of single tasks.

    version 17
    timestamp 4295123456
    cpu0 0 0 6821 2345 3987 1200 91234567890 12345678 4471
    domain0 MC 3 ...

A line of a core has the same nine columns in versions 15, 16 and 17; the seventh is the time its tasks ran, the eighth
the time they waited to, both in nanoseconds. Only the lines of domains have changed. Kernels built without
CONFIG_SCHEDSTATS have no such file, though a single task may still tell its own delay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import MAX_CPUS, count, counts, whole_lines
from necroscope.vocabulary.model import Reading, Sample, Signal

FILE = "/proc/schedstat"
VERSIONS = (15, 16, 17)

_COLUMNS = 9
_DELAY_COLUMN = 7
_US = 1000


@dataclass(frozen=True, slots=True)
class CoreDelay:
    """Nanoseconds that tasks waited for one core since boot."""

    cpu: int
    delay_ns: int


class RunDelay:
    """Time that runnable tasks waited, by the core they waited for."""

    name: ClassVar[str] = "run-delay"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal(
            "cpu_run_delay_seconds",
            "seconds",
            "counter",
            "Time that tasks which could have run waited for this core; two that wait one second make two seconds.",
            ("cpu",),
        ),
    )

    def read(self, host: Host) -> Reading:
        """One look at /proc/schedstat."""
        if not host.exists(FILE):
            raise Unavailable(
                f"this kernel has no {FILE}, so how long tasks wait for each core is unknown",
                "it comes with CONFIG_SCHEDSTATS; /proc/pressure/cpu and run delays of single processes may still tell",
            )
        # microseconds: the store keeps whole units, and nobody waits for less
        delays = parse_schedstat(host.read(FILE))
        return Reading(
            tuple(Sample("cpu_run_delay_seconds", one.delay_ns // _US / 1e6, (str(one.cpu),)) for one in delays)
        )


def parse_schedstat(text: bytes) -> tuple[CoreDelay, ...]:
    """The cores whose line is whole, by number; `Unavailable` for a version that is not known here."""
    lines = whole_lines(text)
    version = count(lines[0].removeprefix(b"version ")) if lines else None
    if version is None or not lines[0].startswith(b"version "):
        raise Unavailable(f"{FILE} does not begin with its version")
    if version not in VERSIONS:
        raise Unavailable(f"{FILE} has version {version}, which is not known here")
    found: dict[int, CoreDelay] = {}
    for line in lines:
        if line.startswith(b"cpu") and (core := _core(line.split())) is not None:
            found[core.cpu] = core
    if not found:
        raise Unavailable(f"{FILE} names no CPU")
    return tuple(found[cpu] for cpu in sorted(found))


def _core(tokens: list[bytes]) -> CoreDelay | None:
    cpu, columns = count(tokens[0][3:]), counts(tokens[1:])
    if cpu is None or cpu >= MAX_CPUS or columns is None or len(columns) != _COLUMNS:
        return None
    return CoreDelay(cpu, columns[_DELAY_COLUMN])


def parse_task_delay(text: bytes) -> float | None:
    """Seconds that one task waited since it began: the second number of its schedstat; None where it makes no sense."""
    columns = counts(text.split())
    return columns[1] / NS if columns is not None and len(columns) == 3 else None
