"""Which core serves which numbered interrupt: of a network device that complains about a queue, the core of it.

Counts by core would tell the same and cost a value for each of both; where interrupts go changes rarely.
"""

from __future__ import annotations

from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.cpu.interrupts import affinity, parse_interrupts
from necroscope.sense.host import Host
from necroscope.vocabulary.model import Reading, Sample, Signal

MOST = 4096


class IrqRouting:
    """The core that each interrupt with a handler goes to; those that go to several at once are left out."""

    name: ClassVar[str] = "irq-routing"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("interrupts_core", "core", "gauge", "The one core that an interrupt goes to.", ("irq", "name")),
    )

    def read(self, host: Host) -> Reading:
        """One look. `Unavailable` where /proc/interrupts is not there."""
        numbered = [one for one in parse_interrupts(host.read("/proc/interrupts")) if one.irq.isdecimal() and one.name]
        samples = []
        for one in numbered[:MOST]:
            core = _core(host, one.irq)
            if core is not None:
                samples.append(Sample("interrupts_core", core, (one.irq, one.name)))
        return Reading(samples=tuple(samples))


def _core(host: Host, irq: str) -> int | None:
    try:
        goes = affinity(host, irq)
    except Unavailable:
        return None
    cores = goes.effective or goes.allowed or ()
    return cores[0] if len(cores) == 1 else None
