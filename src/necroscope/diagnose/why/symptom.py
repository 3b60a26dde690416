"""Which events are symptoms of starvation, and which of them a question is about.

What the kernel's log tells of memory, disks or hardware is evidence, not a symptom of a core that somebody took: it can
be asked about (`--event`), but nobody is blamed for it unasked. A mark is a symptom when its kind or words say that
something went wrong.
"""

from __future__ import annotations

import re

from necroscope.clock import NS, iso
from necroscope.errors import BadInput, Unavailable
from necroscope.query.landmarks import symptoms as told_symptoms
from necroscope.query.rows import rows_of
from necroscope.query.sealed import DAMAGE_HINT, damaged
from necroscope.store.catalog import Window
from necroscope.store.reader import Snapshot
from necroscope.store.tables import SYMPTOM_SOURCES, Event
from necroscope.verdict import Complaint

STARVATION = frozenset(
    {
        "nic-reset",
        "nic-tx-timeout",
        "netdev-watchdog",
        "nic-tx-late",
        "nic-rx-refill",
        "soft-lockup",
        "hard-lockup",
        "rcu-stall",
        "rcu-starved",
        "hung-task",
        "workqueue-lockup",
        "workqueue-hog",
        "softirq-pending",
        "clocksource-unstable",
        "storage-timeout",
    }
)
"""Kinds of the kernel's log that a taken core can cause."""

ASKED = "asked"
"""The source of a moment that nobody complained of: it was asked about."""

NOTICED = frozenset({"mark", "ray"})
"""Sources of what somebody noticed, as opposed to what the kernel said."""

EVER: Window = (0, (1 << 63) - 1)
_NEAR_NS = 60 * NS
_MOST_UNCERTAIN_NS = 120 * NS
_WENT_WRONG = re.compile(
    r"(?:\b|_|-)(?:fail|error|lost|timed?[ -]?out|timeout|reset|stall|stuck|crash|kill|hang|hung|slow|dead|died|abort|"
    r"unreachable|disconnect|drop|starv|late|miss)",
    re.IGNORECASE,
)


def is_symptom(event: Event) -> bool:
    """Whether an event tells of something that a taken core can cause."""
    if event.source in NOTICED:
        return event.kind in STARVATION or bool(_WENT_WRONG.search(f"{event.kind} {event.text}"))
    return event.source in SYMPTOM_SOURCES and event.kind in STARVATION


def symptoms_in(snapshot: Snapshot, window: Window = EVER, notes: list[str] | None = None) -> list[Event]:
    """The symptoms of a window, oldest first. Of events that cannot be read `notes` tell."""
    return [event for event in told_symptoms(snapshot, window, notes) if is_symptom(event)]


def choose(
    snapshot: Snapshot,
    recorded: Window,
    at_ns: int | None = None,
    event: int | str | None = None,
    notes: list[str] | None = None,
) -> Complaint | None:
    """The symptom that is asked about; without a wish, the latest that the recording can tell about. None: none.

    Of events that cannot be read `notes` tell.
    """
    told_of = [] if notes is None else notes
    if event is not None:
        return _by_name(snapshot, str(event), told_of)
    found = symptoms_in(snapshot, notes=told_of)
    if at_ns is not None:
        near = [one for one in found if abs(one.at_ns - at_ns) <= _NEAR_NS]
        if near:
            return complaint(min(near, key=lambda one: abs(one.at_ns - at_ns)))
        return Complaint("moment", at_ns, ASKED, f"what happened at {iso(at_ns)}")
    told = [one for one in found if recorded[0] <= one.at_ns and one.uncertainty_ns <= _MOST_UNCERTAIN_NS]
    # What the kernel said comes before what somebody noticed afterwards, when both are about the same moment.
    if not told:
        return complaint(found[-1]) if found else None
    last = told[-1]
    same = [one for one in told if last.at_ns - one.at_ns <= 15 * NS and one.source not in NOTICED]
    return complaint(same[-1] if same and last.source in NOTICED else last)


def complaint(event: Event) -> Complaint:
    """An event as the symptom of a verdict."""
    return Complaint(
        event.kind, event.at_ns, event.source, event.text, event.subject, event.uncertainty_ns, id=event.id
    )


def _by_name(snapshot: Snapshot, name: str, notes: list[str]) -> Complaint:
    """An event by its id, or the last of a kind."""
    column, wanted = ("id", int(name)) if name.isascii() and name.isdigit() else ("kind", name)
    columns = ["id", "at_ns", "kind", "source", "subject", "text", "uncertainty_ns"]
    found = rows_of(snapshot, "events", EVER, columns, lambda row: row[column] == wanted, notes=notes)
    if not found and (hurt := damaged(notes, "events")):
        raise Unavailable(f"No event {name} is among those that can be read: {hurt[0]}.", DAMAGE_HINT)
    if not found:
        raise BadInput(f"The store has no event {name}.", "`necroscope events --json` lists them with their ids")
    last = dict(found[-1])
    del last["id"]
    return complaint(Event(**last))


_NAMED_CPU = (
    re.compile(r"\bnapi CPU: (\d{1,5})"),
    re.compile(r"\bCPU#(\d{1,5})\b"),
    re.compile(r"\bCPU: ?(\d{1,5})\b"),
    re.compile(r"\bon CPU ?(\d{1,5})\b"),
    re.compile(r"^cpu(\d{1,5})$"),
)


def named_cpu(symptom: Complaint) -> int | None:
    """The core that the complaint itself names; None when it names none."""
    for text in (symptom.text, symptom.subject):
        for pattern in _NAMED_CPU:
            if found := pattern.search(text):
                return int(found[1])
    return None


_NAMED_QUEUE = re.compile(r"\b(?:TX q|(?:tx)?[Qq]ueue[:,]?|txq|[Qq]id:?|Q) ?#?(\d{1,4})\b")


def named_queue(symptom: Complaint) -> int | None:
    """The queue of a device that the complaint names; None when it names none."""
    found = _NAMED_QUEUE.search(symptom.text)
    return int(found[1]) if found else None
