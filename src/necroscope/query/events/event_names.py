"""How people name an event: by its id, by the beginning of its id in hexadecimal (`events` prints it), or by its kind.

A name that fits in several ways is taken in this order. Of a kind, the latest event is meant.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from necroscope.errors import BadInput
from necroscope.query.events.landmarks import event_tables
from necroscope.store.format.tables import valid_text
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Event, event_of

_BRIEF = ["id", "at_ns", "kind", "source", "subject"]
_ID_BITS = 64
_PREFIX = re.compile(r"[0-9a-f]{4,16}")
_LISTED = 12
# Names come from anybody.
_LONGEST = 60
# Kinds that are listed after the others: few look for them.
_ROUTINE = ("cgroup-", "perf-", "recorder-")


@dataclass(frozen=True)
class EventName:
    """A name that somebody gave."""

    given: str

    @cached_property
    def number(self) -> int | None:
        """The id that it is; None for what can be none."""
        digits = self.given.isascii() and self.given.isdigit() and len(self.given) <= 20
        number = int(self.given) if digits else 1 << _ID_BITS
        return number if number < 1 << _ID_BITS else None

    @cached_property
    def ids(self) -> tuple[int, int] | None:
        """First and last id that begins with it in hexadecimal; None: it is no such beginning."""
        if not _PREFIX.fullmatch(self.given):
            return None
        low = int(self.given.ljust(_ID_BITS // 4, "0"), 16)
        return low, low + (1 << (_ID_BITS - 4 * len(self.given))) - 1

    def of(self, table: pa.Table) -> pa.Table:
        """The rows that it may mean."""
        fits = pc.equal(table["kind"].cast(pa.string()), pa.scalar(valid_text(self.given)))
        whole = None if self.number is None else (self.number, self.number)
        for low, high in (one for one in (whole, self.ids) if one is not None):
            least, most = pa.scalar(low, pa.uint64()), pa.scalar(high, pa.uint64())
            between = pc.and_(pc.greater_equal(table["id"], least), pc.less_equal(table["id"], most))
            fits = pc.or_(fits, between)
        return table.filter(fits)

    def meant(self, events: Iterable[Event]) -> Event | None:
        """Which of these it means; `BadInput` where it is the beginning of several ids."""
        latest = sorted(events, key=lambda event: event.at_ns, reverse=True)
        for event in latest:
            if event.id == self.number:
                return event
        for event in latest:
            if event.kind == self.given:
                return event
        if len({event.id for event in latest}) > 1:
            several = ", ".join(f"{event.id:016x} ({event.kind})" for event in latest[:_LISTED])
            raise BadInput(f"{self.given} is the beginning of several ids.", f"give more of it: {several}")
        return latest[0] if latest else None


def find_event(snapshot: Snapshot, name: str) -> Event | None:
    """The event of this name: when it was, its kind, source and subject, and no more; None when there is none."""
    wanted = EventName(name)
    rows = (row for table in event_tables(snapshot, _BRIEF) for row in wanted.of(table).to_pylist())
    return wanted.meant({event.id: event for event in map(event_of, rows)}.values())


def kinds_there(snapshot: Snapshot) -> Counter[str]:
    """How many events of each kind a recording has."""
    found: Counter[str] = Counter()
    for table in event_tables(snapshot, ["kind"]):
        for one in pc.value_counts(table["kind"].cast(pa.string())).to_pylist():
            found[one["values"]] += one["counts"]
    return found


def no_such(what: str, name: str, there: Iterable[str]) -> BadInput:
    """What to say of a name that nothing has: the nearest ones first, then what else there is."""
    known = sorted(set(there), key=lambda kind: (kind.startswith(_ROUTINE), kind))
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    listed = [one[:_LONGEST] for one in (*near, *(one for one in known if one not in near))]
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    hint = f"kinds of events there: {', '.join(listed[:_LISTED])}{more}" if listed else "it has no events at all"
    return BadInput(f"The recording has no {what} {name[:_LONGEST]}.", hint)
