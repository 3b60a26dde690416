"""Which events are symptoms of starvation, and which of them a question is about.

What the kernel's log says of memory, disks or hardware is evidence, not a symptom of a core that somebody took: it can
be asked about (`--event`), but nobody is blamed for it unasked. A mark is a symptom when its kind or words say that
something went wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from necroscope.clock import NS, iso
from necroscope.errors import DAMAGE_HINT, Unavailable
from necroscope.query.events.event_names import find_event, kinds_there, no_such
from necroscope.query.events.landmarks import symptoms as recorded_symptoms
from necroscope.query.rows import rows_of
from necroscope.query.sealed import damaged
from necroscope.sense.log.symptoms import catalogue
from necroscope.store.format.tables import EVENTS
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import CHANGE_KINDS, SYMPTOM_SOURCES, Event, Window, event_of
from necroscope.vocabulary.event_sentence import sentence
from necroscope.vocabulary.symptom_kind import Kind
from necroscope.vocabulary.verdict import ASKED, NOTICED, Complaint

S = TypeVar("S", Event, Complaint)

EVER: Window = (0, (1 << 63) - 1)
_NEAR_NS = 60 * NS
_SAME_MOMENT_NS = 15 * NS
_MOST_UNCERTAIN_NS = 120 * NS
_NEGATION = 60
# Whole words, or the parts of a kind such as job-failed: "latest" is not late, and a failover did not fail.
_WENT_WRONG = re.compile(
    r"(?<![a-z])(?:fail(?:s|ed|ing|ures?)?|err(?:ors?|ored)?|lost|losing|tim(?:es?|ed|ing)[ -]?out|timeouts?|"
    r"resets?|resetting|stall(?:s|ed|ing)?|stuck|crash(?:es|ed|ing)?|kill(?:s|ed|ing)?|hang(?:s|ing)?|hung|"
    r"slow(?:s|ed|er|ing|ly)?|slowdown|dead|died|dying|dies|deadlock(?:ed)?|abort(?:s|ed|ing)?|unreachable|"
    r"unresponsive|not responding|no response|disconnect(?:s|ed|ing|ion)?|drop(?:s|ped|ping)?|starv(?:es|ed|ing|ation)|"
    r"late|missed|misses|missing|preempted|evicted)(?![a-z])",
    re.IGNORECASE,
)
# What says that it did not happen: "no errors", "0 failed", "did not crash", "errors: 0", "without a timeout".
_DID_NOT = re.compile(
    r"(?:\b(?:no|not|without|never|none|zero|0|nothing|fixed|resolved|recovered from|cleared)|n't)(?:\s+\w+){0,2}\s+$",
    re.IGNORECASE,
)
_NONE = re.compile(r"\s*(?:[:=]\s*|\s)(?:0|none|no|nil)\b(?![.:]\d)", re.IGNORECASE)
# Kinds of marks that report progress, whatever their words are.
_PROGRESS = CHANGE_KINDS | {
    *("job-started", "job-finished", "job-succeeded", "job-progress", "job-resumed", "checkpoint"),
}


@cache
def _kinds() -> dict[str, Kind]:
    return catalogue().kinds


def may_be_starvation(kind: str) -> bool:
    """Whether a starved core can be the reason of a kind of complaint."""
    known = _kinds().get(kind)
    return known is not None and known.starved


def is_hardware(kind: str) -> bool:
    """Whether with this kind of complaint the hardware complains."""
    known = _kinds().get(kind)
    return known is not None and known.hardware


def patience_ns(kind: str) -> int:
    """How long the reason of a complaint may have gone on before the kernel complained, where that is long."""
    known = _kinds().get(kind)
    return round(known.patience_s * NS) if known is not None else 0


def is_symptom(event: Event) -> bool:
    """Whether an event is about something that a starved core can cause."""
    if event.source in NOTICED:
        return may_be_starvation(event.kind) or (event.kind not in _PROGRESS and _went_wrong(event.kind, event.text))
    return event.source in SYMPTOM_SOURCES and may_be_starvation(event.kind)


def _went_wrong(kind: str, text: str) -> bool:
    """Whether a kind, or a sentence, says that something went wrong, and not that it did not."""
    if _WENT_WRONG.search(kind):
        return True
    return any(
        not _DID_NOT.search(text, max(0, found.start() - _NEGATION), found.start())
        and not _NONE.match(text, found.end())
        for found in _WENT_WRONG.finditer(text)
    )


def symptoms_in(snapshot: Snapshot, window: Window = EVER, notes: list[str] | None = None) -> list[Event]:
    """The symptoms of a window, oldest first. `notes` gets what cannot be read."""
    return [event for event in recorded_symptoms(snapshot, window, notes) if is_symptom(event)]


def latest_other(snapshot: Snapshot, window: Window) -> Event | None:
    """The latest complaint of a window that no starved core causes and that is more than information: failing hardware,
    a process killed for lack of memory. None: there is none."""
    wrong = {kind.name for kind in _kinds().values() if kind.severity != "info" and not kind.starved}
    found = (one for one in recorded_symptoms(snapshot, window, []) if one.source not in NOTICED and one.kind in wrong)
    return max(found, key=lambda one: one.at_ns, default=None)


def choose(
    snapshot: Snapshot,
    recorded: Window,
    at_ns: int | None = None,
    event: int | str | None = None,
    notes: list[str] | None = None,
) -> Complaint | None:
    """The symptom that is asked about; otherwise the latest one within the recording. None: there is none.

    `notes` gets what cannot be read.
    """
    notes = [] if notes is None else notes
    if event is not None:
        return _by_name(snapshot, str(event), notes)
    found = symptoms_in(snapshot, notes=notes)
    if at_ns is not None:
        near = [one for one in found if abs(one.at_ns - at_ns) <= _NEAR_NS]
        if near:
            return complaint(min(near, key=lambda one: abs(one.at_ns - at_ns)))
        return Complaint("moment", at_ns, ASKED, f"what happened at {iso(at_ns)}")
    within = [one for one in found if recorded[0] <= one.at_ns and one.uncertainty_ns <= _MOST_UNCERTAIN_NS]
    if not within:
        return complaint(found[-1]) if found else None
    return complaint(latest_of(within))


def latest_of(found: Sequence[S]) -> S:
    """The latest of some symptoms, oldest first. What the kernel said comes before what somebody noticed afterwards,
    when both are about the same moment."""
    last = found[-1]
    same = [one for one in found if last.at_ns - one.at_ns <= _SAME_MOMENT_NS and one.source not in NOTICED]
    return same[-1] if same and last.source in NOTICED else last


def complaint(event: Event) -> Complaint:
    """An event as the symptom of a verdict."""
    return Complaint(
        event.kind,
        event.at_ns,
        event.source,
        sentence(event),
        event.subject,
        event.uncertainty_ns,
        id=event.id,
        cpu=event.cpu,
        queue=event.queue,
        device=event.device,
    )


def _by_name(snapshot: Snapshot, name: str, notes: list[str]) -> Complaint:
    """An event by its id, short or whole, or the last of a kind."""
    event = find_event(snapshot, name)
    wanted = event.id if event is not None else None
    found = rows_of(snapshot, "events", EVER, list(EVENTS.names), lambda row: row["id"] == wanted, notes=notes)
    if not found and (hurt := damaged(notes, "events")):
        raise Unavailable(f"No event {name} is among those that can be read: {hurt[0]}.", DAMAGE_HINT)
    if not found:
        raise no_such("event", name, kinds_there(snapshot))
    return complaint(event_of(found[-1]))
