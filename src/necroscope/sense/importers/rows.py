"""What importers yield beside samples: events at an instant, and signals with their time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from necroscope.sense.perf.samples import SampleBatch
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Sample, Symptom

_HEAVIEST = 1 << 42
"""No sample stands for more: over an hour in nanoseconds, a quarter of one in cycles. Sums of more would wrap."""


@dataclass(frozen=True, slots=True)
class LogEvent(Event):
    """Something that a log tells. `symptom` is the whole of it where the line was the kernel's."""

    symptom: Symptom | None = None


@dataclass(frozen=True, slots=True)
class SignalsAt:
    """Values of signals at one instant. `source` is who reads these signals on a live host."""

    at_ns: int
    source: str
    samples: tuple[Sample, ...]


def log_event(symptom: Symptom) -> LogEvent:
    """A symptom as an event, as the recorder tells it."""
    from necroscope.sense.log.symptom_event import symptom_event

    return LogEvent(**symptom_event(symptom).fields, symptom=symptom)


def with_sane_weights(batch: SampleBatch) -> tuple[SampleBatch, int]:
    """The samples, those with a period that no event has weighing 1, and how many these are."""
    odd = (batch.weight < 0) | (batch.weight > _HEAVIEST)
    count = int(np.count_nonzero(odd))
    return (replace(batch, weight=np.where(odd, 1, batch.weight)), count) if count else (batch, 0)
