"""The core that a complaint is about: it names one, or a queue of a device whose interrupt goes to one."""

from __future__ import annotations

import re

from necroscope.query.series import Series, series_of
from necroscope.sense.cpu.interrupts import queue_of
from necroscope.sense.log.symptom_event import bus_of_line
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.case import NamedCore
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.verdict import Complaint

SOURCE = "irq-routing"


def named_core(snapshot: Snapshot, symptom: Complaint, window: Window) -> NamedCore | None:
    """The core of a complaint: by its own word, else where the interrupt of its queue goes."""
    if symptom.cpu is not None:
        return NamedCore(symptom.cpu, True, symptom.source, symptom.queue)
    if symptom.queue is None:
        return None
    routed = series_of(snapshot, ("interrupts_core",), window).get("interrupts_core", [])
    ours = [one for one in routed if _serves(one.label("name"), symptom, symptom.queue)]
    cores = {int(core) for one in ours if (core := _then(one, symptom.at_ns)) is not None}
    if len(cores) != 1:
        return None
    names = sorted({f"{one.label('name')} ({one.label('irq')})" for one in ours})
    return NamedCore(cores.pop(), False, SOURCE, symptom.queue, tuple(names))


def _then(series: Series, at_ns: int) -> float | None:
    before = series.at(at_ns)
    return float(series.value[0]) if before is None and series.value.size else before


def _serves(name: str, symptom: Complaint, queue: int) -> bool:
    """Whether a handler's name says that it is this queue of this device: by its name, or, as drivers do that know no
    names of devices when they ask for interrupts, by its address, which the kernel's line tells beside it."""
    return queue_of(name) == queue and any(
        re.search(rf"(?<![A-Za-z0-9.]){re.escape(device)}(?![A-Za-z0-9.])", name, re.IGNORECASE)
        for device in {symptom.device, symptom.subject, bus_of_line(symptom.text)} - {""}
    )
