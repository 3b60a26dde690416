"""The core that a complaint is about: it names one, or a queue of a device whose interrupt goes to one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from necroscope.diagnose.why.symptom import named_cpu, named_queue
from necroscope.query.series import Series, series_of
from necroscope.sense.interrupts import queue_of
from necroscope.store.catalog import Window
from necroscope.store.reader import Snapshot
from necroscope.verdict import Complaint

_PCI = re.compile(r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedCore:
    """A core, how it is known, from where; and what another core counts beside it, and is believed, against 1."""

    cpu: int
    text: str
    source: str
    others_count: float
    others_sure: float


def named_core(snapshot: Snapshot, symptom: Complaint, window: Window) -> NamedCore | None:
    """The core of a complaint. Where interrupts go counts less than its own word: a queue need not be served there."""
    cpu = named_cpu(symptom)
    if cpu is not None:
        return NamedCore(cpu, f"the message itself names core {cpu}", symptom.source, 0.25, 0.4)
    queue = named_queue(symptom)
    if queue is None:
        return None
    routed = series_of(snapshot, ("interrupts_core",), window).get("interrupts_core", [])
    ours = [one for one in routed if _serves(one.label("name"), symptom, queue)]
    cores = {int(core) for one in ours if (core := _then(one, symptom.at_ns)) is not None}
    if len(cores) != 1:
        return None
    core = cores.pop()
    names = ", ".join(sorted({f"{one.label('name')} ({one.label('irq')})" for one in ours}))
    return NamedCore(
        core, f"queue {queue} has the interrupt {names}, which goes to core {core}", "irq-routing", 0.5, 0.8
    )


def _then(series: Series, at_ns: int) -> float | None:
    before = series.at(at_ns)
    return float(series.value[0]) if before is None and series.value.size else before


def _serves(name: str, symptom: Complaint, queue: int) -> bool:
    """Whether a handler's name says that it is this queue of this device."""
    if queue_of(name) != queue:
        return False
    device = symptom.subject
    if device and re.search(rf"(?<![A-Za-z0-9.]){re.escape(device)}(?![A-Za-z0-9.])", name):
        return True
    address = _PCI.search(symptom.text)
    return address is not None and address[0].lower() in name.lower()
