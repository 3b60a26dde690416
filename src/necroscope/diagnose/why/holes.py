"""Time that was not recorded, as the recorder itself tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from necroscope.store.tables import Event

_GAP = re.compile(r" from (\S+Z) to (\S+Z) ")


@dataclass(frozen=True, slots=True)
class Hole:
    """Time that was not recorded, and what the recorder says about it."""

    from_ns: int
    to_ns: int
    subject: str
    text: str


def holes_in(told: Iterable[Event]) -> list[Hole]:
    """The holes that events tell of."""
    found = []
    for event in told:
        if event.kind == "recorder-gap" and (ends := _GAP.search(event.text)):
            low, high = (_ns(one) for one in ends.groups())
            found.append(Hole(low, high, event.subject, event.text))
    return found


def _ns(text: str) -> int:
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000) * 1_000_000
