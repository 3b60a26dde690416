"""A symptom of the kernel's log as an event, with all that its lines name: the same for live and for imported logs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from necroscope.clock import ClockReading
from necroscope.sense.log.joining import Joiner
from necroscope.sense.log.kernel_log import to_symptom
from necroscope.sense.log.kmsg import LogRecord
from necroscope.sense.log.log_clock import LogClock
from necroscope.sense.log.symptoms import catalogue
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Symptom

_US = 1_000_000


def symptom_event(symptom: Symptom) -> Event:
    """The event of a symptom. `count` is how often the log repeats it, where that is more than once."""
    details = dict(symptom.details)
    stall_us = details.get("stall_us", "")
    return Event(
        symptom.at_ns,
        symptom.kind,
        symptom.source,
        subject=symptom.device or _core_or_task(symptom),
        text=symptom.text,
        uncertainty_ns=symptom.uncertainty_ns,
        cpu=symptom.cpu,
        device=symptom.device,
        driver=symptom.driver,
        queue=symptom.queue,
        reason=details.get("reason", ""),
        pid=symptom.pid,
        task=symptom.task,
        path=details.get("task_memcg") or details.get("oom_memcg", ""),
        count=symptom.repeats if symptom.repeats > 1 else None,
        stall_s=int(stall_us) / _US if stall_us.isdecimal() else None,
    )


def _core_or_task(symptom: Symptom) -> str:
    """Which core complains, or whose trouble it is: where one task is hit, the core on which another one noticed it is
    chance."""
    known = catalogue().kinds.get(symptom.kind)
    if symptom.cpu is None or (known is not None and known.trace == "invoker" and symptom.task):
        return symptom.task
    return f"cpu{symptom.cpu}"


@lru_cache(maxsize=1024)
def fields_of_line(text: str) -> dict[str, Any]:
    """What one line of a log names, as fields of an event; nothing where the catalogue does not know the line."""
    joiner = Joiner(catalogue())
    joiner.feed([LogRecord(0, _US, 6, 0, text)])
    episodes = list(joiner.take())
    if not episodes:
        return {}
    found = symptom_event(to_symptom(episodes[0], LogClock(ClockReading(0, 0, 0), 0))).fields
    return {name: found[name] for name in found if name not in _OF_THE_EVENT}


@lru_cache(maxsize=64)
def bus_of_line(text: str) -> str:
    """The address on the bus of the device that one line of a log names beside its name; empty: it names none."""
    found = catalogue().match(text)
    return found.fields.get("bus", "") if found is not None else ""


_OF_THE_EVENT = ("at_ns", "kind", "source", "subject", "text", "uncertainty_ns", "count")
