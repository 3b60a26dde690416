"""Values of the program -> rows of the journal's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.format.arrow import from_columns, from_rows
from necroscope.store.format.tables import (
    CORES,
    EVENTS,
    LIVE_SAMPLES,
    PROCESSES,
    UNITS,
    ZOMBIE_NAMES,
    ZOMBIES,
    valid_text,
)
from necroscope.vocabulary.event import TYPED, Event
from necroscope.vocabulary.model import Census, ParentCount, ProcessUse, Record, UnitState, ZombieName

_INT64 = (1 << 63) - 1
_LIMITS = {"int32": 1 << 31, "int64": 1 << 63, "float64": 1 << 63}
_BASIC = attrgetter("kind", "source", "subject", "text")
_TYPED = attrgetter(*TYPED)
_MOST = tuple(_LIMITS.get(column.type, 0) for column in EVENTS.columns if column.later)


def sample_rows(batch: SampleBatch) -> pa.Table:
    """Samples whose times are UTC."""
    columns = {
        "at_ns": batch.at_ns,
        "cpu": batch.cpu,
        "pid": batch.pid,
        "tid": batch.tid,
        "comm": _words(batch.comm, batch.comms),
        "cgroup": _words(batch.cgroup, batch.cgroups),
        "event": _words(batch.event, batch.events),
        "weight": batch.weight,
        "stack_id": batch.stack_id,
    }
    return from_columns(LIVE_SAMPLES, columns)


def core_rows(rows: Sequence[Sequence[int | None]]) -> pa.Table:
    """What cores did between two looks."""
    return from_rows(CORES, rows)


def event_rows(events: Iterable[Event]) -> pa.Table:
    """Events, each with its id."""
    return from_rows(EVENTS, [_event_row(event) for event in events])


def zombie_rows(at_ns: int, counts: Iterable[ParentCount]) -> pa.Table:
    """Zombies by parent at one instant."""
    return from_rows(ZOMBIES, [(at_ns, valid_text(count.path), count.zombies) for count in counts])


def unit_rows(at_ns: int, units: Iterable[UnitState]) -> pa.Table:
    """Units at one instant."""
    return from_rows(UNITS, [(at_ns, *(_field(unit, name) for name in UNITS.names[1:])) for unit in units])


def process_rows(at_ns: int, uses: Iterable[ProcessUse]) -> pa.Table:
    """Busy processes at one instant, in whole units: nobody reads more digits, and they would cost most of the room."""
    rows = [
        (
            at_ns,
            use.pid,
            use.start_ticks,
            valid_text(use.comm),
            valid_text(use.cgroup),
            round(use.user_s * 1000),
            round(use.system_s * 1000),
            None if use.run_delay_s is None else round(use.run_delay_s * 1000),
            use.rss_bytes >> 10,
            use.cpu,
        )
        for use in uses
    ]
    return from_rows(PROCESSES, rows)


def zombie_name_rows(at_ns: int, zombies: Iterable[ZombieName]) -> pa.Table:
    """Zombies that were first seen at this instant."""
    rows = [
        (
            at_ns,
            valid_text(one.path),
            valid_text(one.family),
            one.cgroup_id & _INT64,
            None if one.age_s is None else round(one.age_s, 1),
            one.bytes,
            one.pinned_by,
        )
        for one in zombies
    ]
    return from_rows(ZOMBIE_NAMES, rows)


def record_rows(at_ns: int, records: Sequence[Record]) -> Iterator[tuple[str, pa.Table]]:
    """The tables that one look's records belong to, with their rows; records that have no table are left out."""
    counts = [count for record in records if isinstance(record, Census) for count in record.by_parent]
    if counts:
        yield ZOMBIES.name, zombie_rows(at_ns, counts)
    if units := [record for record in records if isinstance(record, UnitState)]:
        yield UNITS.name, unit_rows(at_ns, units)
    if uses := [record for record in records if isinstance(record, ProcessUse)]:
        yield PROCESSES.name, process_rows(at_ns, uses)
    if names := [record for record in records if isinstance(record, ZombieName)]:
        yield ZOMBIE_NAMES.name, zombie_name_rows(at_ns, names)


def _event_row(event: Event) -> tuple[Any, ...]:
    typed = [None if value is None else _typed(value, most) for value, most in zip(_TYPED(event), _MOST, strict=True)]
    return (event.id, event.at_ns, *map(valid_text, _BASIC(event)), event.uncertainty_ns, *typed)


def _typed(value: Any, most: int) -> Any:
    """A value of a field as its column takes it; null for what says nothing, and for a number that nobody can mean."""
    if isinstance(value, str):
        return valid_text(value) or None
    return value if -most <= value < most else None


def _field(unit: UnitState, name: str) -> object:
    value = (*unit.wanted_by, *unit.required_by) if name == "wanted_by" else getattr(unit, name)
    if isinstance(value, tuple):
        value = " ".join(dict.fromkeys(value))
    return valid_text(value) if isinstance(value, str) else value


def _words(codes: NDArray[np.int32], words: tuple[str, ...]) -> pa.DictionaryArray:
    """Only the words that are used: a decoder's list of all names it ever saw may be long."""
    seen = np.zeros(len(words), np.bool_)
    seen[codes] = True
    numbers = (np.cumsum(seen, dtype=np.int32) - 1)[codes]
    texts = pa.array([valid_text(words[code]) for code in np.flatnonzero(seen).tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), texts)
