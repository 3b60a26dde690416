"""From looks to events: what happened between two looks at the same thing, told once.

A symptom of the kernel's log, a restart of a unit or container, a sensor that stopped seeing or sees again. Looks tell
how things stand; the timeline wants what happened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from necroscope.model import ContainerState, Symptom, UnitState
from necroscope.sense.sensor import Look
from necroscope.store.tables import Event

# Two looks place the same line of the log within this; the clocks are read anew each time.
_SAME_NS = 1_000_000
_SYMPTOMS_KEPT = 512


class Chronicle:
    """Remembers the last look at each thing, and the newest symptoms."""

    def __init__(self) -> None:
        self._restarts: dict[tuple[str, str], int] = {}
        self._unseen: dict[str, frozenset[str]] = {}
        self._told: deque[Symptom] = deque(maxlen=_SYMPTOMS_KEPT)

    def events(self, looks: Iterable[Look]) -> list[Event]:
        """What happened since the last looks. How a thing stood when it was first seen is no event."""
        return [event for look in looks for event in self._of(look)]

    def _of(self, look: Look) -> Iterator[Event]:
        for record in look.reading.records:
            if isinstance(record, Symptom):
                yield from self._symptom(record)
            elif isinstance(record, UnitState):
                yield from self._restarted(look, "unit-restart", record.name, record.restarts, _unit_text(record))
            elif isinstance(record, ContainerState):
                times = max(record.restarts or 0, record.deaths or 0)
                yield from self._restarted(look, "container-restart", record.name, times, _container_text(record))
        yield from self._sight(look)

    def _symptom(self, symptom: Symptom) -> Iterator[Event]:
        """A symptom may come again when more of its lines have come; it is told again only as another kind."""
        if any(_same(symptom, told) for told in self._told):
            return
        self._told.append(symptom)
        subject = symptom.device or (f"cpu{symptom.cpu}" if symptom.cpu is not None else symptom.task)
        times = f" (×{symptom.repeats})" if symptom.repeats > 1 else ""
        text = symptom.text + times
        yield Event(symptom.at_ns, symptom.kind, symptom.source, subject, text, symptom.uncertainty_ns)

    def _restarted(self, look: Look, kind: str, name: str, times: int, text: str) -> Iterator[Event]:
        before = self._restarts.get((kind, name))
        self._restarts[kind, name] = times
        if before is not None and times > before:
            yield Event(look.at_ns, kind, look.sensor, name, f"{times - before} more, {times} in all: {text}")

    def _sight(self, look: Look) -> Iterator[Event]:
        reasons = frozenset(line.reason for line in look.reading.unseen)
        before = self._unseen.get(look.sensor, frozenset())
        self._unseen[look.sensor] = reasons
        for reason in sorted(reasons - before):
            yield Event(look.at_ns, "sensor-blind", "recorder", look.sensor, reason)
        if before and not reasons:
            yield Event(look.at_ns, "sensor-sees", "recorder", look.sensor, "sees again")


def _same(one: Symptom, other: Symptom) -> bool:
    if one.kind != other.kind or abs(one.first_at_ns - other.first_at_ns) > _SAME_NS:
        return False
    return (one.driver, one.task, one.pid) == (other.driver, other.task, other.pid)


def _unit_text(unit: UnitState) -> str:
    status = f", status {unit.exit_status}" if unit.exit_status is not None else ""
    return f"{unit.result or 'unknown result'}{status}, now {unit.active_state} ({unit.sub_state})"


def _container_text(container: ContainerState) -> str:
    return f"{container.state}, exit status {container.exit_status}, image {container.image}"
