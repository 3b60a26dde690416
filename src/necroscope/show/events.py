"""Events for people, a line each, and as a document.

In a terminal, what does not fit beside the time goes below it; piped, every event is one line, however long.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from necroscope.clock import NS, iso
from necroscope.quantity import count
from necroscope.query.cores.patterns import Pattern
from necroscope.query.events.event_list import EventList, ListedEvent
from necroscope.show.plain import plain, shortened
from necroscope.vocabulary.event import SHORT_ID
from necroscope.vocabulary.event_sentence import sentence

_BESIDE = 28
"""Columns that a symptom's sign and the time take."""
_NARROW, _LEAST_SUBJECT = 60, 12
_MOST_LINES = 4


def event_lines(found: EventList, width: int | None = None) -> Iterator[str]:
    """The events by time, patterns among them, no line wider than `width`; None: a line for each."""
    lines = [(one.event.at_ns, _event(one)) for one in found.events]
    lines += [(one.from_ns, _pattern(one)) for one in found.patterns or ()]
    for _, (head, subject, text) in sorted(lines, key=lambda line: line[0]):
        yield from _fitted(head, plain(subject), plain(text), width)


def left_out(found: EventList) -> str:
    """What is not shown, and how to see it; empty when that is nothing."""
    if not found.left_out:
        return ""
    kinds = ", ".join(f"{count(number)} {plain(kind)}" for kind, number in found.left_out.items())
    return f"not shown: {kinds} (--all shows them)"


def _event(one: ListedEvent) -> tuple[str, str, str]:
    event = one.event
    sign, about = "▲" if one.symptom else " ", "~" if event.uncertainty_ns >= NS else " "
    return f"{sign}{about}{iso(event.at_ns)}  {event.short_id}  {plain(event.kind)}", event.subject, sentence(event)


def _pattern(one: Pattern) -> tuple[str, str, str]:
    subject = "all cores" if one.cpu is None else f"cpu {one.cpu}"
    return f"  {iso(one.from_ns)}  {'-' * SHORT_ID}  {one.kind}", subject, one.text


def _fitted(head: str, subject: str, text: str, width: int | None) -> Iterator[str]:
    whole = "  ".join(part for part in (head, subject, text) if part)
    if width is None or len(whole) <= width:
        yield whole
        return
    yield f"{head}  {shortened(subject, max(_LEAST_SUBJECT, width - len(head) - 2))}".rstrip()
    indent = " " * (_BESIDE if width >= _NARROW else 4)
    yield from textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, max_lines=_MOST_LINES, placeholder=" …"
    )


def events_document(found: EventList) -> dict[str, Any]:
    """The document of `events --json`."""
    document: dict[str, Any] = {
        "schema": "necroscope.events/1",
        "events": [_entry(one) for one in found.events],
        "left_out": found.left_out,
        "notes": list(found.notes),
    }
    if found.patterns is not None:
        document["patterns"] = [
            {"kind": one.kind, "from": iso(one.from_ns), "to": iso(one.to_ns), "cpu": one.cpu, "text": one.text}
            for one in found.patterns
        ]
    return document


def _entry(one: ListedEvent) -> dict[str, Any]:
    """What an event says, and what it leaves open left out; its text is the sentence that its fields make."""
    event = one.event
    names = {"id": str(event.id), "short_id": event.short_id, "at": one.at}
    return names | event.fields | {"symptom": one.symptom, "text": sentence(event)}
