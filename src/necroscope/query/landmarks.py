"""Where things are on the timeline: a recording's first and last moment, an event, the symptoms of a window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.errors import DAMAGE_HINT, BadInput
from necroscope.query.remembered import remembered_table
from necroscope.query.sealed import damage, damaged, opened
from necroscope.store.format.arrow import time_range
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
    """The events of a window, oldest first; with `sources`, those that one of these told; with `kinds`, those of kinds
    that it wants. Of damaged files `notes` tell."""
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
    """Events of these kinds that one source told, in the whole recording, oldest first: when, and of which process.
    Of what cannot be read nothing is told."""
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
    """What somebody suffered from: lines of logs, and marks. Of damaged files `notes` tell."""
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


def extent(snapshot: Snapshot, table: str = "samples", notes: list[str] | None = None) -> tuple[int, int]:
    """Times of the first and the last sample, or row of another table. Few files are opened: segments tell by name
    where to look. Of damaged ones `notes` tell. `BadInput` where there are no rows, or none that can be read."""
    told = [] if notes is None else notes
    live = snapshot.live.get(table)
    spans = [_span_of_live(live)] if live is not None and live.num_rows else []
    for segment in sorted(snapshot.segments, key=lambda one: -one.to_ns):
        if spans and segment.to_ns <= max(span[1] for span in spans):
            break
        spans += _span_of(segment, table, told)
    for segment in sorted(snapshot.segments, key=lambda one: one.from_ns):
        if spans and segment.from_ns >= min(span[0] for span in spans):
            break
        spans += _span_of(segment, table, told)
    if not spans and (hurt := damaged(told, table)):
        raise BadInput(f"The {table} of the store cannot be read: {hurt[0]}.", DAMAGE_HINT)
    if not spans:
        raise BadInput("The store has no samples.", "record first (`necroscope record`), or give another --store")
    return min(span[0] for span in spans), max(span[1] for span in spans)


def extent_of(snapshot: Snapshot, tables: Sequence[str], notes: list[str] | None = None) -> Window | None:
    """Times of the first and the last row of several tables; None where there are none."""
    spans = []
    for table in tables:
        with suppress(BadInput):
            spans.append(extent(snapshot, table, notes))
    return _hull(spans)


def extent_of_all(snapshot: Snapshot) -> Window | None:
    """Times of the first and the last row of any table; None where there are none."""
    live = time_range(snapshot.live)
    return _hull([*((one.from_ns, one.to_ns) for one in snapshot.segments), *([live] if live else [])])


def recorded(snapshot: Snapshot, notes: list[str] | None = None) -> Window | None:
    """First and last moment of a recording: of its samples, else of all its rows. None: it is empty."""
    return extent_of(snapshot, ["samples"], notes) or extent_of_all(snapshot)


def _hull(spans: Sequence[Window]) -> Window | None:
    return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None


def _span_of_live(table: Any) -> Window:
    at_ns = table["at_ns"].to_numpy()
    return int(at_ns.min()), int(at_ns.max())


def _span_of(segment: Segment, table: str, notes: list[str]) -> list[Window]:
    """Times of a segment's first and last row; empty when it has none, or cannot be read."""
    with damage(segment.file(table), notes):
        file = opened(segment, table)
        if file is not None:
            with file:
                return [_span_of_groups(segment, file.metadata)]
    return []


def _span_of_groups(segment: Segment, metadata: Any) -> Window:
    column = metadata.schema.to_arrow_schema().get_field_index("at_ns")
    spans = [metadata.row_group(group).column(column).statistics for group in range(metadata.num_row_groups)]
    if not spans or any(span is None or not span.has_min_max for span in spans):
        return segment.from_ns, segment.to_ns
    return min(span.min for span in spans), max(span.max for span in spans)
