"""The store of a scan: a few looks at one host, in memory. The same questions can be put to it as to one on disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from necroscope.sense.sensor import Look
from necroscope.vocabulary.model import Record, Symptom, Unseen

R = TypeVar("R", bound=Record)

MAX_SYMPTOMS = 2_000
# Two looks place the same line of the log within this; the clocks are read anew each time.
_SAME_NS = 1_000_000


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a signal on the time line."""

    at_ns: int
    labels: tuple[str, ...]
    value: float


class MemoryStore:
    """Looks, in the order in which they were taken. Keeps the last `depth` of each sensor, so that watching
    a node for days does not grow."""

    def __init__(self, depth: int = 2) -> None:
        self._depth = depth
        self._looks: dict[str, list[Look]] = {}
        self._symptoms: list[Symptom] = []

    def add(self, looks: Iterable[Look]) -> None:
        """Put looks on the time line."""
        for look in looks:
            for record in look.reading.records:
                if isinstance(record, Symptom):
                    self._add_symptom(record)
            kept = self._looks.setdefault(look.sensor, [])
            kept.append(look)
            del kept[: -self._depth]

    def signal(self, name: str) -> list[Point]:
        """Every kept value of a signal, oldest first."""
        return [
            Point(look.at_ns, sample.labels, sample.value)
            for looks in self._looks.values()
            for look in looks
            for sample in look.reading.samples
            if sample.signal == name
        ]

    def seen(self, sensor: str) -> bool:
        """True when the sensor's last look saw its subject at all."""
        looks = self._looks.get(sensor)
        if not looks:
            return False
        reading = looks[-1].reading
        return bool(reading.samples or reading.records or not reading.unseen)

    def latest(self, kind: type[R]) -> tuple[R, ...]:
        """Records of one kind from the last look of each sensor."""
        return tuple(
            record
            for looks in self._looks.values()
            if looks
            for record in looks[-1].reading.records
            if isinstance(record, kind)
        )

    def symptoms(self) -> tuple[Symptom, ...]:
        """What happened, from all looks: a symptom does not cease when nobody looks. One that came again, whole,
        replaces its earlier part."""
        return tuple(self._symptoms)

    def _add_symptom(self, symptom: Symptom) -> None:
        self._symptoms = [other for other in self._symptoms if not _same_episode(other, symptom)]
        self._symptoms.append(symptom)
        del self._symptoms[:-MAX_SYMPTOMS]

    def instants(self, sensor: str) -> tuple[int, ...]:
        """When a sensor looked, oldest first."""
        return tuple(look.at_ns for look in self._looks.get(sensor, []))

    def unseen(self) -> tuple[Unseen, ...]:
        """What the last looks could not see, each once."""
        lines = (line for looks in self._looks.values() if looks for line in looks[-1].reading.unseen)
        return tuple(dict.fromkeys(lines))


def _same_episode(one: Symptom, other: Symptom) -> bool:
    """Lines of one complaint may still come in after a look, and its kind and device become clearer."""
    began_together = abs(one.first_at_ns - other.first_at_ns) < _SAME_NS
    return began_together and (one.driver, one.task, one.pid) == (other.driver, other.task, other.pid)
