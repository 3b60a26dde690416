"""What a run reports at its end: symptoms, episodes, decoys, figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from necroscope import clock
from necroscope.lab.environment.symptom_source import Symptom
from necroscope.lab.scoring.asking import FirstAnswer


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the run in which the incident went on."""

    began_ns: int
    ended_ns: int

    @property
    def seconds(self) -> float:
        """How long it was."""
        return (self.ended_ns - self.began_ns) / clock.NS


@dataclass(slots=True)
class RunReport:
    """Filled while a scenario plays; the runner writes it down."""

    symptoms: list[Symptom] = field(default_factory=list)
    episodes: list[Window] = field(default_factory=list)
    decoys: list[dict[str, str]] = field(default_factory=list)
    baseline: Window | None = None
    happened: dict[str, Any] = field(default_factory=dict)
    answer: FirstAnswer | None = None
    """The first answer of `why` at the last symptom."""
