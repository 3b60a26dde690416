"""The flags of a window: symptoms and marks, and what the recorder says of itself."""

from __future__ import annotations

from typing import Any

from necroscope.query.case.symptom import is_symptom
from necroscope.query.events.landmarks import symptoms
from necroscope.query.tiles import around
from necroscope.serve.answers.answer import Answer, document
from necroscope.serve.asked import Asked
from necroscope.serve.opened import Opened, spans_of
from necroscope.vocabulary.event import SYMPTOM_SOURCES, Event
from necroscope.vocabulary.event_sentence import sentence

MOST = 2000
_READ_S = 0.4
_LONGEST = 600


def events(opened: Opened, asked: Asked) -> Answer:
    """The latest of them, oldest first."""
    window = asked.window
    snapshot = opened.store.snapshot(around(window)) if not opened.source.bundle else opened.whole()
    notes: list[str] = []
    complaints = symptoms(snapshot, window, notes)
    found, missing = opened.flags.of(snapshot, window, _READ_S)
    others = [one for part in found.values() for one in part if window[0] <= one.at_ns <= window[1]]
    every = sorted({one.id: one for one in (*complaints, *others)}.values(), key=lambda one: (one.at_ns, one.id))
    return document(
        {
            "schema": "necroscope.flags/1",
            "flags": [_flag(one) for one in every[-MOST:]],
            "left_out": max(0, len(every) - MOST),
            "not_read": spans_of(missing, window),
            "notes": notes[:50],
        }
    )


def _flag(event: Event) -> dict[str, Any]:
    return {
        "id": str(event.id),
        "at_ns": event.at_ns,
        "kind": event.kind,
        "source": event.source,
        "subject": event.subject[:_LONGEST],
        "text": sentence(event)[:_LONGEST],
        "role": _role(event),
        "cpu": event.cpu,
        "uncertainty_ns": event.uncertainty_ns,
        "from_ns": event.from_ns,
        "to_ns": event.to_ns,
    }


def _role(event: Event) -> str:
    """What a flag looks like: symptom, complaint (of something else), mark, gap, or note."""
    if is_symptom(event):
        return "symptom"
    if event.source == "mark":
        return "mark"
    if event.source in SYMPTOM_SOURCES:
        return "complaint"
    return "gap" if event.kind == "recorder-gap" else "note"
