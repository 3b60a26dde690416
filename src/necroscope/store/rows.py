"""Values of the program -> rows of the journal's tables."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.model import ParentCount, UnitState
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.arrow import from_columns, from_rows
from necroscope.store.tables import EVENTS, LIVE_SAMPLES, UNITS, ZOMBIES, Event, valid_text


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


def event_rows(events: Iterable[Event]) -> pa.Table:
    """Events, each with its id."""
    rows = [(event.id, event.at_ns, *map(valid_text, _texts(event)), event.uncertainty_ns) for event in events]
    return from_rows(EVENTS, rows)


def zombie_rows(at_ns: int, counts: Iterable[ParentCount]) -> pa.Table:
    """Zombies by parent at one instant."""
    return from_rows(ZOMBIES, [(at_ns, valid_text(count.path), count.zombies) for count in counts])


def unit_rows(at_ns: int, units: Iterable[UnitState]) -> pa.Table:
    """Units at one instant."""
    return from_rows(UNITS, [(at_ns, *(_field(unit, name) for name in UNITS.names[1:])) for unit in units])


def _texts(event: Event) -> tuple[str, str, str, str]:
    return event.kind, event.source, event.subject, event.text


def _field(unit: UnitState, name: str) -> object:
    value = getattr(unit, name)
    return valid_text(value) if isinstance(value, str) else value


def _words(codes: NDArray[np.int32], words: tuple[str, ...]) -> pa.DictionaryArray:
    """Only the words that are used: a decoder's list of all names it ever saw may be long."""
    seen = np.zeros(len(words), np.bool_)
    seen[codes] = True
    numbers = (np.cumsum(seen, dtype=np.int32) - 1)[codes]
    texts = pa.array([valid_text(words[code]) for code in np.flatnonzero(seen).tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), texts)
