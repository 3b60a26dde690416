"""When the kernel and recorders began, in the whole recording. It takes a look at every file of events, so it is asked
for only where something depends on it, and kept for all symptoms of a question."""

from __future__ import annotations

from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.events.landmarks import in_short
from necroscope.query.unrecorded import STARTED
from necroscope.vocabulary.event import Event

BOOT, RECORDER = "boot", "recorder"


def boots(store: FixedStore) -> list[int]:
    """When the kernel started."""
    return [one.at_ns for one in _beginnings(store) if one.kind == BOOT]


def recorder_at(store: FixedStore, at_ns: int) -> int | None:
    """The process of the recorder that ran at a moment: the last one that had begun by then."""
    began = [one.pid for one in _beginnings(store) if one.kind == STARTED and one.at_ns <= at_ns]
    return began[-1] if began else None


def _beginnings(store: FixedStore) -> list[Event]:
    return store.once("beginnings", lambda: in_short(store.snapshot(), frozenset({BOOT, STARTED}), RECORDER))
