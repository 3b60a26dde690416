"""The events of a window that somebody wants to read: by default without what cgroups did, which is most of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from necroscope.clock import NS, iso
from necroscope.errors import Unavailable
from necroscope.query.case.symptom import is_symptom
from necroscope.query.cores.patterns import KINDS as PATTERNS
from necroscope.query.cores.patterns import Pattern, patterns_in
from necroscope.query.events.event_names import kinds_there, no_such
from necroscope.query.extent import extent_of_all
from necroscope.query.sql.engine import Engine
from necroscope.sense.log.symptoms import catalogue
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import SYMPTOM_SOURCES, Event, Window, event_of
from necroscope.vocabulary.event_sentence import OWN_KINDS

TRAFFIC = frozenset({"cgroup-mkdir", "cgroup-rmdir", "cgroup-release", "cgroup-churn"})
"""Kinds of events that are listed on request only."""
# Rows reach a store seconds after they happened: nothing of the last moments is no sign of a recording that ended.
_LATE_NS = 20 * NS


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An event, when it was to the nanosecond, and whether somebody complained."""

    event: Event
    at: str
    symptom: bool


@dataclass(frozen=True, slots=True)
class EventList:
    """Events, oldest first; how many of which kinds were left out; patterns, where they were asked for; and what of the
    recording could not be read."""

    events: tuple[ListedEvent, ...]
    left_out: dict[str, int]
    patterns: tuple[Pattern, ...] | None
    notes: tuple[str, ...]

    @property
    def symptoms(self) -> bool:
        """Whether something wrong is among them."""
        return any(one.symptom for one in self.events)


def event_list(
    store: Store, window: Window, kinds: Sequence[str] = (), every: bool = False, with_patterns: bool = False
) -> EventList:
    """What happened in a window. `BadInput` for a kind that neither the recording nor the program has; `Unavailable`
    for a window in which nothing was recorded."""
    with Engine(store, window) as engine:
        counts = {row["kind"]: row["n"] for row in engine.ask(_COUNTS).rows()}
        _check_kinds(store, [kind for kind in kinds if kind not in counts], with_patterns)
        if not counts:
            _check_window(store, window)
        wanted = [kind for kind in counts if (kind in kinds if kinds else every or kind not in TRAFFIC)]
        rows = engine.ask(_of_kinds(wanted)).rows() if wanted else []
        notes = engine.notes
    left_out = {} if kinds else {kind: n for kind, n in sorted(counts.items()) if kind not in wanted}
    seen = [one for one in patterns_in(store, window) if not kinds or one.kind in kinds] if with_patterns else []
    return EventList(tuple(map(_listed, rows)), left_out, tuple(seen) if with_patterns else None, notes)


_COUNTS = "select kind, count(*) as n from events group by kind"


def _of_kinds(kinds: Sequence[str]) -> str:
    listed = ", ".join("'" + kind.replace("'", "''") + "'" for kind in kinds)
    return f"select * from events where kind in ({listed}) order by at_ns, id"


def _check_kinds(store: Store, absent: Sequence[str], with_patterns: bool) -> None:
    """A kind that is known and did not happen is an answer; one that nobody knows is a mistake."""
    known = {*catalogue().kinds, *OWN_KINDS, *(PATTERNS if with_patterns else ())}
    strange = [kind for kind in absent if kind not in known]
    if not strange:
        return
    there = kinds_there(store.snapshot())
    for kind in strange:
        if kind not in there:
            raise no_such("event of kind", kind, there)


def _check_window(store: Store, window: Window) -> None:
    whole = extent_of_all(store.snapshot())
    if whole is not None and (window[1] < whole[0] or window[0] > whole[1] + _LATE_NS):
        hint = f"the recording goes from {iso(whole[0])} to {iso(whole[1])}"
        raise Unavailable("Nothing of that time was recorded, so nobody knows what happened.", hint)


def _listed(row: dict[str, Any]) -> ListedEvent:
    event = event_of({name: value for name, value in row.items() if name != "at"})
    return ListedEvent(event, row["at"], _is_complaint(event))


def _is_complaint(event: Event) -> bool:
    """Somebody told of trouble, and not only of what is worth mentioning."""
    if is_symptom(event):
        return True
    kind = catalogue().kinds.get(event.kind)
    return event.source in SYMPTOM_SOURCES and kind is not None and kind.severity != "info"
