"""What a recorder tells while it records. It calls from its own thread: nobody may make it wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from necroscope.sense.sensor import Look
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Sample

if TYPE_CHECKING:
    from necroscope.record.recorder import RecorderStatus


class Observer(Protocol):
    """Whoever watches a recording."""

    def happened(self, events: Sequence[Event]) -> None:
        """Events that the recording got, each once; marks of others too."""

    def looked(self, looks: Sequence[Look]) -> None:
        """Looks of sensors."""

    def measured(self, samples: Sequence[Sample]) -> None:
        """What the recorder measured of itself, once a second."""

    def stands(self, status: RecorderStatus) -> None:
        """How it goes, once a second, after all else of that second."""


class Nobody:
    """Watches nothing."""

    def happened(self, events: Sequence[Event]) -> None:
        """Nothing."""

    def looked(self, looks: Sequence[Look]) -> None:
        """Nothing."""

    def measured(self, samples: Sequence[Sample]) -> None:
        """Nothing."""

    def stands(self, status: RecorderStatus) -> None:
        """Nothing."""
