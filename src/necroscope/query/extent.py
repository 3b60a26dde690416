"""The extent of a recording: its first and last moment. Asked here and nowhere else.

`recorded` is what a question without a time means by the recording. The others ask about particular tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from necroscope.errors import DAMAGE_HINT, BadInput
from necroscope.query.sealed import damage, damaged, opened
from necroscope.store.format.arrow import time_range
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window


def extent(snapshot: Snapshot, table: str = "samples", notes: list[str] | None = None) -> tuple[int, int]:
    """Times of the first and the last sample, or row of another table. Few files are opened: the names of
    segments say where to look. `notes` gets damaged ones. `BadInput` where there are no rows, or no readable ones."""
    notes = [] if notes is None else notes
    live = snapshot.live.get(table)
    spans = [_span_of_live(live)] if live is not None and live.num_rows else []
    for segment in sorted(snapshot.segments, key=lambda one: -one.to_ns):
        if spans and segment.to_ns <= max(span[1] for span in spans):
            break
        spans += _span_of(segment, table, notes)
    for segment in sorted(snapshot.segments, key=lambda one: one.from_ns):
        if spans and segment.from_ns >= min(span[0] for span in spans):
            break
        spans += _span_of(segment, table, notes)
    if not spans and (hurt := damaged(notes, table)):
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
