"""Questions that a recording cannot answer: it was not made then, or what the answer rests on cannot be read.

That no symptom is in what is left of a damaged recording does not say that there was none.
"""

from __future__ import annotations

from collections.abc import Sequence

from necroscope.clock import iso
from necroscope.errors import DAMAGE_HINT
from necroscope.query.case.surroundings import CLOSE_NS
from necroscope.query.extent import extent_of
from necroscope.query.rows import rows_of
from necroscope.query.sealed import damaged
from necroscope.query.unrecorded import unrecorded
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.verdict import Missing, Verdict

_BLIND = frozenset({"sensor-blind", "perf-unavailable"})
_WATCHING = _BLIND | {"sensor-sees", "perf-started", "perf-sampling"}
_NEEDED = (
    ("kmsg", "symptoms, which come from the kernel's log", "record as root, or with CAP_SYSLOG"),
    ("perf", "who was on the cores", "record as root, or with CAP_PERFMON; necroscope record says what perf lacks"),
)


def held_by(snapshot: Snapshot, recorded: Window, notes: list[str]) -> Window:
    """First and last moment that samples or the cores' counters cover; without any of them, that of all rows."""
    return extent_of(snapshot, ("samples", "cores"), notes) or recorded


def is_held(at_ns: int, held: Window) -> bool:
    """Whether a recording has anything about a moment, or at least about the seconds just before it."""
    return held[0] <= at_ns <= held[1] + CLOSE_NS


def not_held(at_ns: int, held: Window, notes: Sequence[str]) -> Verdict:
    """The answer about a moment that the recording does not hold."""
    first, last = (iso(one) for one in held)
    what = f"what happened at {iso(at_ns)}: the recording holds {first} to {last}"
    missing = Missing(what, "ask about a moment of that time, or give the recording of that moment with --store")
    return Verdict("unexplained", missing=(missing,), notes=tuple(notes))


def unwatched(store: Store, snapshot: Snapshot, window: Window, notes: list[str]) -> Verdict | None:
    """The answer of a recorder that could not watch for symptoms, or keep what it saw; None where it could.

    What it could not see for good, and not only for a while: the kernel's log, which has the symptoms, and samples,
    which show who was on a core. What it could not keep: the end of its time, or most of it.
    """
    columns = ["at_ns", "kind", "subject", "text"]
    rows = rows_of(snapshot, "events", window, columns, lambda row: row["kind"] in _WATCHING, notes=notes)
    last = {(row["subject"], row["kind"] in _BLIND): row for row in rows}
    missing = [
        Missing(f"{what}: {row['text']}", hint)
        for subject, what, hint in _NEEDED
        if (row := last.get((subject, True))) is not None
        and ((seen := last.get((subject, False))) is None or seen["at_ns"] < row["at_ns"])
    ]
    missing += unrecorded(store.folder, snapshot, notes)
    return Verdict("unexplained", missing=tuple(missing), notes=tuple(notes)) if missing else None


def not_readable(notes: Sequence[str]) -> Verdict:
    """The answer where no symptom is in what can be read, and not everything can be."""
    what = "part of the recording, which cannot be read, as the notes say: no symptom is in the rest of it"
    hint = DAMAGE_HINT if damaged(notes) else ""
    return Verdict("unexplained", missing=(Missing(what, hint),), notes=tuple(notes))
