"""From looks to events: what happened between two looks at the same thing, reported once.

A symptom of the kernel's log, starts, failures and restarts of a unit, restarts of a container, a sensor that stopped
seeing or sees again. Looks show how things stand; the timeline wants what happened. The kernel's log outlives a
recorder: what an earlier one reported of it is not reported again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from necroscope import clock
from necroscope.clock import NS, ClockReading
from necroscope.errors import NecroscopeError
from necroscope.query.events import landmarks
from necroscope.sense.log.kernel_log import KernelLog
from necroscope.sense.log.symptom_event import symptom_event
from necroscope.sense.sensor import Look
from necroscope.store.format.sealed_file import UNREADABLE
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.event_sentence import in_words
from necroscope.vocabulary.model import ContainerState, Symptom, UnitState

# Two looks place the same line of the log within this; the clocks are read anew each time.
_SAME_NS = 1_000_000
_SYMPTOMS_KEPT = 512
# Two recorders place it within this, or within a tenth of how uncertain the log's clock is: the bound is a wide one.
_SAME_STORED_NS = NS
_STORED_KEPT = 20_000


class Chronicle:
    """Remembers the last look at each thing, and the newest symptoms. `stored` is what an earlier recorder reported."""

    def __init__(self, stored: Iterable[Event] = ()) -> None:
        self._restarts: dict[tuple[str, str], int] = {}
        self._units: dict[str, UnitState] = {}
        self._asked: set[str] = set()
        self._unseen: dict[str, frozenset[str]] = {}
        self._reported: deque[Symptom] = deque(maxlen=_SYMPTOMS_KEPT)
        self._stored: dict[tuple[str, ...], list[int]] = {}
        for event in stored:
            self._stored.setdefault(_words(event), []).append(event.at_ns)

    def events(self, looks: Iterable[Look]) -> list[Event]:
        """What happened since the last looks. How a thing stood when it was first seen is no event."""
        return [event for look in looks for event in self._of(look)]

    def _of(self, look: Look) -> Iterator[Event]:
        for record in look.reading.records:
            if isinstance(record, Symptom):
                yield from self._symptom(record)
            elif isinstance(record, UnitState):
                yield from self._unit(look, record)
            elif isinstance(record, ContainerState):
                times = max(record.restarts or 0, record.deaths or 0)
                yield from self._restarted(look, "container-restart", record.name, times, _container_text(record))
        if not look.reading.unseen:
            self._asked.add(look.sensor)
        if look.sensor == KernelLog.name and look.reading.samples:
            self._stored.clear()  # the first look reads all of the log; from then on lines are new
        yield from self._sight(look)

    def _unit(self, look: Look, unit: UnitState) -> Iterator[Event]:
        """Starts and failures stand where systemd says they happened; of several in a row, the last one is reported."""
        before = self._units.get(unit.name)
        self._units[unit.name] = unit
        if _more(before, unit, "starts"):
            times = (unit.starts or 0) - (before.starts or 0 if before else 0)
            at_ns = _utc_ns(unit.started_us)
            yield in_words(Event(at_ns, "unit-start", look.sensor, unit.name, count=times))
        if _more(before, unit, "failures"):
            at_ns = _utc_ns(unit.ended_us) if unit.ended_us else look.at_ns
            yield in_words(Event(at_ns, "unit-failure", look.sensor, unit.name, reason=_unit_text(unit)))
        # A unit that was in no trouble at an earlier look, which saw all units, had not restarted then.
        if look.sensor in self._asked:
            self._restarts.setdefault(("unit-restart", unit.name), 0)
        yield from self._restarted(look, "unit-restart", unit.name, unit.restarts, _unit_text(unit))

    def _symptom(self, symptom: Symptom) -> Iterator[Event]:
        """A symptom may come again when more of its lines have come; it is reported again only as another kind."""
        if any(_same(symptom, reported) for reported in self._reported):
            return
        self._reported.append(symptom)
        event = symptom_event(symptom)
        if not self._is_stored(event):
            yield event

    def _is_stored(self, event: Event) -> bool:
        near_ns = max(_SAME_STORED_NS, event.uncertainty_ns // 10)
        return any(abs(event.at_ns - at_ns) <= near_ns for at_ns in self._stored.get(_words(event), ()))

    def _restarted(self, look: Look, kind: str, name: str, times: int, why: str) -> Iterator[Event]:
        before = self._restarts.get((kind, name))
        self._restarts[kind, name] = times
        if before is not None and times > before:
            yield in_words(Event(look.at_ns, kind, look.sensor, name, reason=why, count=times - before))

    def _sight(self, look: Look) -> Iterator[Event]:
        reasons = frozenset(line.reason for line in look.reading.unseen)
        before = self._unseen.get(look.sensor, frozenset())
        self._unseen[look.sensor] = reasons
        for reason in sorted(reasons - before):
            yield Event(look.at_ns, "sensor-blind", "recorder", look.sensor, reason)
        if before and not reasons:
            yield Event(look.at_ns, "sensor-sees", "recorder", look.sensor)


def reported_since_boot(store: Path, now: ClockReading) -> list[Event]:
    """What a store has of the kernel's log of this boot, the latest of it; nothing when it cannot be read."""
    window = now.from_boottime(0) - NS, now.realtime_ns
    try:
        found = landmarks.symptoms(Store(store).snapshot(window), window)
    except (*UNREADABLE, NecroscopeError):
        return []
    return [event for event in found if event.source == KernelLog.name][-_STORED_KEPT:]


def _words(event: Event) -> tuple[str, ...]:
    """What two reports of one symptom share: the count of its repeats may have grown."""
    return event.kind, event.source, event.subject, event.text


def _more(before: UnitState | None, after: UnitState, count: str) -> bool:
    return (getattr(after, count) or 0) > ((getattr(before, count) or 0) if before else 0)


def _utc_ns(monotonic_us: int) -> int:
    return clock.now().from_monotonic(monotonic_us * 1000)


def _same(one: Symptom, other: Symptom) -> bool:
    if one.kind != other.kind or abs(one.first_at_ns - other.first_at_ns) > _SAME_NS:
        return False
    return (one.driver, one.task, one.pid) == (other.driver, other.task, other.pid)


def _unit_text(unit: UnitState) -> str:
    status = f", status {unit.exit_status}" if unit.exit_status is not None else ""
    return f"{unit.result or 'unknown result'}{status}, now {unit.active_state} ({unit.sub_state})"


def _container_text(container: ContainerState) -> str:
    return f"{container.state}, exit status {container.exit_status}, image {container.image}"
