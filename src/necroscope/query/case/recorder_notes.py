"""Events around a symptom that are about the recording itself, or about the hardware."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from necroscope.clock import NS
from necroscope.query.case.symptom import is_hardware
from necroscope.query.unrecorded import STARTED
from necroscope.vocabulary.case import EVENTS_MOST, Blind, Gap, HardwareEvent, RecorderStart
from necroscope.vocabulary.event import Event, Window
from necroscope.vocabulary.event_sentence import sentence

GAP = "recorder-gap"
_BLIND = {"sensor-blind": "", "perf-unavailable": "perf"}
_LOST = frozenset({"samples-lost", "sampling-throttled", GAP})
_HARDWARE_NS = 120 * NS
# A gap of samples is noticed a moment after it.
_NEAR_NS = 2 * NS


def gaps_in(events: Iterable[Event], at_ns: int) -> tuple[Gap, ...]:
    """Times that were not recorded, the nearest if there are many; those of which nobody knows how long they were are
    left out."""
    return tuple(
        Gap(event.from_ns, event.to_ns, event.subject, sentence(event))
        for event in _nearest([one for one in events if one.kind == GAP], at_ns)
        if event.from_ns is not None and event.to_ns is not None
    )


def blinds_in(events: Iterable[Event]) -> tuple[Blind, ...]:
    """Sensors that could not see, each as it said last."""
    found = {_BLIND[event.kind] or event.subject: event for event in events if event.kind in _BLIND}
    return tuple(Blind(sensor, event.at_ns, sentence(event)) for sensor, event in found.items())


def starts_in(events: Iterable[Event], at_ns: int) -> tuple[RecorderStart, ...]:
    """Recorders that began, the nearest if there are many."""
    found = _nearest([one for one in events if one.kind == STARTED], at_ns)
    return tuple(RecorderStart(event.at_ns, event.pid) for event in found)


def hardware_in(events: Iterable[Event], at_ns: int) -> tuple[HardwareEvent, ...]:
    """Complaints of the hardware within two minutes, the nearest if there are many."""
    near = [one for one in events if is_hardware(one.kind) and abs(one.at_ns - at_ns) < _HARDWARE_NS]
    return tuple(HardwareEvent(one.at_ns, one.kind, one.subject) for one in _nearest(near, at_ns))


def lost_in(events: Iterable[Event], windows: Sequence[Window], at_ns: int) -> tuple[int, ...]:
    """Moments at which samples were lost, in windows or a moment beside them."""
    near = [
        one
        for one in events
        if one.kind in _LOST and any(low - _NEAR_NS <= one.at_ns <= high + _NEAR_NS for low, high in windows)
    ]
    return tuple(one.at_ns for one in _nearest(near, at_ns))


def _nearest(events: Sequence[Event], at_ns: int) -> list[Event]:
    """As many as a case keeps, in the order of time."""
    kept = sorted(events, key=lambda one: abs(one.at_ns - at_ns))[:EVENTS_MOST]
    return sorted(kept, key=lambda one: one.at_ns)
