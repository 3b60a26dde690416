"""Where things are on the timeline: an event, the events and the symptoms of a window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.query.remembered import remembered_table
from necroscope.query.sealed import damage, opened
from necroscope.store.format.segment import read_table
from necroscope.store.format.tables import EVENTS, SYMPTOM_SOURCES
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot
from necroscope.store.read.rollups import left_over
from necroscope.vocabulary.event import Event, Window, event_of

_FIELDS = list(EVENTS.names)


def events(
    snapshot: Snapshot,
    window: Window,
    sources: tuple[str, ...] = (),
    kinds: Callable[[str], bool] | None = None,
    notes: list[str] | None = None,
) -> list[Event]:
    """The events of a window, oldest first; `sources` and `kinds` choose among them. `notes` gets damaged files."""
    return _chosen(_event_tables(snapshot, window, _FIELDS, [] if notes is None else notes), window, sources, kinds)


def _chosen(
    tables: Iterable[Any], window: Window, sources: tuple[str, ...], kinds: Callable[[str], bool] | None = None
) -> list[Event]:
    found: dict[int, Event] = {}
    for table in tables:
        at_ns = table["at_ns"].to_numpy()
        inside = (at_ns >= window[0]) & (at_ns <= window[1])
        if sources:
            inside &= _says(table["source"], lambda source: source in sources)
        if kinds is not None:
            inside &= _says(table["kind"], kinds)
        for row in table.filter(pa.array(inside)).select(_FIELDS).to_pylist():
            event = event_of(row)
            found[event.id] = event
    return sorted(found.values(), key=lambda event: event.at_ns)


def in_short(snapshot: Snapshot, kinds: frozenset[str], source: str) -> list[Event]:
    """Events of these kinds from one source, in the whole recording, oldest first: when, and of which process. What
    cannot be read is left out silently."""
    found: set[Event] = set()
    for table in _event_tables(snapshot, None, ["at_ns", "kind", "source", "pid"], []):
        there = _says(table["kind"], kinds.__contains__) & _says(table["source"], source.__eq__)
        if there.any():
            found.update(event_of(row) for row in table.filter(pa.array(there)).to_pylist())
    return sorted(found, key=lambda event: event.at_ns)


def _says(column: pa.ChunkedArray, wanted: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Where a column of words has a wanted one; each word is asked about once."""
    parts = [np.zeros(0, np.bool_)]
    for chunk in column.chunks:
        words = chunk if isinstance(chunk, pa.DictionaryArray) else chunk.dictionary_encode()
        known = np.array([wanted(word) for word in words.dictionary.to_pylist()], np.bool_)
        parts.append(known[words.indices.to_numpy()])
    return np.concatenate(parts)


def symptoms(snapshot: Snapshot, window: Window, notes: list[str] | None = None) -> list[Event]:
    """What somebody suffered from: lines of logs, and marks. `notes` gets damaged files."""
    return _chosen(_symptom_tables(snapshot, window, [] if notes is None else notes), window, SYMPTOM_SOURCES)


def event_tables(snapshot: Snapshot, columns: list[str]) -> Iterator[Any]:
    """These columns of all events of a recording, the latest segment first. What cannot be read is left out."""
    return _event_tables(snapshot, None, columns, [])


def _event_tables(snapshot: Snapshot, window: Window | None, columns: list[str], notes: list[str]) -> Iterator[Any]:
    """Events that are not sealed yet, then those of the segments, the latest first."""
    if (live := snapshot.live.get("events")) is not None:
        yield live.select(columns)
    for segment in sorted(snapshot.segments, key=lambda one: -one.to_ns):
        if segment.overlaps(window) and (table := _table(segment, "events", columns, notes)) is not None:
            yield table


def _table(segment: Segment, name: str, columns: list[str], notes: list[str]) -> Any:
    """Columns of a table; None when the segment has none of it, or it cannot be read."""
    with damage(segment.file(name), notes):
        return remembered_table(("table", segment.path, name, *columns), partial(_read, segment, name, columns))
    return None


def _read(segment: Segment, name: str, columns: list[str]) -> pa.Table | None:
    file = opened(segment, name)
    if file is None:
        return None
    with file:
        return file.read(columns=columns, use_threads=False)


def _symptom_tables(snapshot: Snapshot, window: Window, notes: list[str]) -> Iterator[Any]:
    """Like `_event_tables`, from roll-ups where there are some."""
    rolled = []
    for rollup in snapshot.rollups:
        try:
            table = read_table(rollup, "symptoms", _FIELDS)
        except (OSError, pa.ArrowException):
            continue
        if table is not None or rollup.path.exists():
            rolled.append(rollup)
        if table is not None and rollup.overlaps(window):
            yield table
    segments = left_over(snapshot.segments, rolled)
    yield from _event_tables(replace(snapshot, segments=tuple(segments)), window, _FIELDS, notes)
