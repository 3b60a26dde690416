"""Rows of the small tables (units, zombies, processes, ...) of a window, sealed and live together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from necroscope.query.remembered import remembered_table
from necroscope.query.sealed import damage, opened
from necroscope.store.format.tables import SEGMENT
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

Row = dict[str, Any]
_TABLES = {table.name: table for table in SEGMENT}


def rows_of(
    snapshot: Snapshot,
    table: str,
    window: Window,
    columns: list[str],
    wanted: Callable[[Row], bool] | None = None,
    most: int = 500_000,
    notes: list[str] | None = None,
) -> list[Row]:
    """The rows of a table within a window, oldest first; of too many, the latest `most`. Damage is noted.

    A column that an earlier version did not write is None.
    """
    notes = [] if notes is None else notes
    found: list[Row] = []
    for part in _newest_first(snapshot, table, window, columns, notes):
        at_ns = part["at_ns"].to_numpy()
        inside = np.flatnonzero((at_ns >= window[0]) & (at_ns <= window[1]))
        rows = part.take(pa.array(inside)).to_pylist() if inside.size < at_ns.size else part.to_pylist()
        found += rows if wanted is None else filter(wanted, rows)
        if len(found) > most:
            if (note := f"of {table}, only the latest {most:,} rows were looked at") not in notes:
                notes.append(note)
            break
    return sorted(found, key=_when)[-most:]


def _when(row: Row) -> int:
    at_ns: int = row["at_ns"]
    return at_ns


def _newest_first(
    snapshot: Snapshot, table: str, window: Window, columns: list[str], notes: list[str]
) -> Iterator[pa.Table]:
    live = snapshot.live.get(table)
    if live is not None and live.num_rows:
        yield _with_all(live.select([name for name in columns if name in live.column_names]), columns)
    for segment in sorted(snapshot.segments, key=lambda one: -one.to_ns):
        if segment.overlaps(window):
            with damage(segment.file(table), notes):
                key = "rows", segment.path, table, *columns
                found = remembered_table(key, partial(_of_segment, segment, table, columns))
                if found is not None:
                    yield found


def _of_segment(segment: Segment, table: str, columns: list[str]) -> pa.Table | None:
    file = opened(segment, table)
    if file is None:
        return None
    with file:
        there = [name for name in columns if name in file.schema_arrow.names]
        if lost := (set(columns) & set(_TABLES[table].as_it_began.names)) - set(there):
            raise KeyError(f"no {', '.join(sorted(lost))}")
        return _with_all(file.read(columns=there, use_threads=False), columns)


def _with_all(table: pa.Table, columns: list[str]) -> pa.Table:
    for name in columns:
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(table.num_rows, pa.string()))
    return table
