"""The change that is asked about, and the windows before and after it that a recording has."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.clock import NS, iso
from necroscope.errors import BadInput
from necroscope.query.events.event_names import find_event
from necroscope.query.rows import rows_of
from necroscope.query.series import series_of
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.conclusions.validation import Change
from necroscope.vocabulary.event import CHANGE_KINDS, Window

SETTLE_NS = 5 * NS
"""What the change itself stirs up is over by then, as a rule."""
PATIENCE_NS = 25 * NS
"""The looks that confirm come every ten seconds, and may be late."""
_EVER: Window = (0, (1 << 63) - 1)
_TEXT_LEAST = 3
_SETTLE_PART = 3


@dataclass(frozen=True, slots=True)
class Sides:
    """The windows: before, where anything of it was recorded, and after, which begins anew with a boot."""

    before: Window | None
    after: Window
    booted_ns: int | None = None


def change_of(snapshot: Snapshot, name: str) -> Change | None:
    """The change that a mark tells of: by its id, its kind (the latest), or a part of its words; None where none is."""
    if (found := find_event(snapshot, name)) is not None:
        return Change(found.at_ns, " ".join(filter(None, (found.kind, found.subject))))
    marks = rows_of(snapshot, "events", _EVER, ["at_ns", "kind", "source", "subject", "text"], _is_mark)
    said = [row for row in marks if len(name) >= _TEXT_LEAST and name.lower() in (row["text"] or "").lower()]
    return Change(said[-1]["at_ns"], f"{said[-1]['kind']}: {said[-1]['text']}") if said else None


def latest_change(snapshot: Snapshot) -> Change | None:
    """The latest mark of an intervention."""
    columns = ["at_ns", "kind", "source", "subject", "text"]
    marks = rows_of(snapshot, "events", _EVER, columns, lambda row: _is_mark(row) and row["kind"] in CHANGE_KINDS)
    return Change(marks[-1]["at_ns"], f"{marks[-1]['kind']}: {marks[-1]['text']}") if marks else None


def _is_mark(row: dict[str, object]) -> bool:
    return row["source"] == "mark"


def sides(change: Change, wanted_s: float, recorded: Window, booted: list[int], looks_ns: list[int]) -> Sides:
    """The windows that a recording has. `BadInput` where the recording ends before the change."""
    wanted_ns = round(wanted_s * NS)
    if recorded[1] <= change.at_ns:
        raise BadInput(
            f"The recording ends at {iso(recorded[1])}, before the change.",
            "record on, or name an earlier change with --change",
        )
    before = max(recorded[0], change.at_ns - wanted_ns), change.at_ns
    boot = max((at for at in booted if change.at_ns < at <= change.at_ns + wanted_ns + PATIENCE_NS), default=None)
    begin = boot if boot is not None else change.at_ns + min(SETTLE_NS, wanted_ns // _SETTLE_PART)
    end = (boot if boot is not None else change.at_ns) + wanted_ns
    # A look a little later than the end still tells of what was before it.
    later = [at for at in looks_ns if end <= at <= end + PATIENCE_NS]
    end = min([*later[:1], recorded[1]]) if later else min(end, recorded[1])
    return Sides(before if before[0] < before[1] else None, (min(begin, end), end), boot)


def seen_until(store: Store) -> int:
    """Until when both zombies and the cores' counters were looked at; 0: never. Only the latest minutes are read."""
    snapshot = store.snapshot()
    live = snapshot.live.get("ticks")
    last = [int(live["at_ns"].to_numpy().max())] if live is not None and live.num_rows else []
    last += [segment.to_ns for segment in snapshot.segments]
    if not last:
        return 0
    window = max(last) - 600 * NS, max(last)
    found = series_of(store.snapshot(window), ("memcg_zombies", "cpu_time_seconds"), window)
    ends = [max((int(one.at_ns[-1]) for one in found.get(name, ()) if one.at_ns.size), default=0) for name in found]
    return min(ends, default=0)
