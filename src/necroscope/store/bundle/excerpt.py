"""A window of a store as a store of its own: what is sealed and what is not, every table, no row of another time.

A segment is read, cut and written at a time, so memory goes with a segment and not with the window. Two things reach
beyond the rows of the window, so that questions have the same answers: values of signals carry what they were before,
and the looks at the cores that came just after it tell about its last second.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.store.bundle.cut_signals import cut_signals
from necroscope.store.format.arrow import WORD, Tables
from necroscope.store.format.sealed_file import UNREADABLE, SealedFile, open_sealed
from necroscope.store.format.segment import merged, size_bytes, write_segment
from necroscope.store.format.tables import JOURNAL, SEGMENT
from necroscope.store.read.catalog import Segment, create
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.event import Window

LATER_NS = 6 * NS
ROWS_A_SEGMENT = 400_000
LEVEL = 9

_MS_NS = 1_000_000
_ROLLED = ("flames", "tasks", "seconds")
_SIGNALS = ("series", "ticks", "changes")


@dataclass(slots=True)
class Excerpt:
    """What was taken: rows of each table, and what could not be read."""

    folder: Path
    rows: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    segments: int = 0
    bytes: int = 0


def excerpt(
    store: Store,
    window: Window,
    folder: Path,
    change: Callable[[Tables], Tables] = lambda tables: tables,
    on_progress: Callable[[float], None] = lambda done: None,
    most_bytes: int = 1 << 62,
) -> Excerpt:
    """Write the window as a new store; what was in the folder is gone. Its rows go through `change`.

    `FileNotFoundError`: a segment was merged away meanwhile, so begin again. `BadInput` beyond `most_bytes`.
    """
    shutil.rmtree(folder, ignore_errors=True)
    create(folder)
    made = Excerpt(folder)
    snapshot = store.snapshot((window[0], window[1] + LATER_NS))
    made.notes += snapshot.notes
    parts: list[Tables] = []
    for part in _parts(snapshot, lambda tables: change(cut(tables, window)), window, made.notes, on_progress):
        parts.append(part)
        if sum(_rows(one) for one in parts) >= ROWS_A_SEGMENT:
            _write(made, parts, most_bytes)
            parts = []
    _write(made, parts, most_bytes)
    on_progress(1.0)
    return made


def _write(made: Excerpt, parts: list[Tables], most_bytes: int) -> None:
    tables = merged([part for part in parts if part])
    segment = write_segment(made.folder / "segments", tables, made.segments + 1, made.segments + 1, LEVEL)
    if segment is None:
        return
    made.segments += 1
    made.bytes += size_bytes(segment)
    for name, table in tables.items():
        made.rows[name] = made.rows.get(name, 0) + table.num_rows
    if made.bytes > most_bytes:
        raise BadInput("The window is too large for one file.", "take a shorter one, or copy the store's folder")


def _rows(tables: Tables) -> int:
    return sum(table.num_rows for table in tables.values())


def _parts(
    snapshot: Snapshot,
    change: Callable[[Tables], Tables],
    window: Window,
    notes: list[str],
    on_progress: Callable[[float], None],
) -> Iterator[Tables]:
    for done, segment in enumerate(snapshot.segments):
        on_progress(done / (len(snapshot.segments) + 1))
        try:
            yield change(_unsealed(segment, window))
        except FileNotFoundError:
            raise
        except UNREADABLE as error:
            if not segment.path.exists():
                raise FileNotFoundError(segment.path) from error
            notes.append(f"{segment.path} is damaged and left out")
    yield change(snapshot.live)


def _unsealed(segment: Segment, window: Window) -> Tables:
    """The rows of a segment as a journal has them; of the samples, those of the window."""
    from necroscope.store.format import pack

    found = {}
    for table in SEGMENT:
        if table.name not in _ROLLED and (rows := _table(segment, table.name, window)) is not None:
            found[table.name] = rows
    if "samples" not in found or not found["samples"].num_rows:
        found.pop("samples", None)
        found.pop("stacks", None)
    return pack.unpacked(found)


def _table(segment: Segment, name: str, window: Window) -> pa.Table | None:
    file = open_sealed(segment, name)
    if file is None:
        return None
    with file:
        if name != "samples":
            return file.read(use_threads=False)
        table = file.read_row_groups(_groups(file, window), use_threads=False)
        return table.filter(pa.array(_inside(table, window)))


def _groups(file: SealedFile, window: Window) -> list[int]:
    """Row groups that may have rows of the window."""
    column = file.schema_arrow.get_field_index("at_ns")
    spans = [file.metadata.row_group(group).column(column).statistics for group in range(file.num_row_groups)]
    return [
        group
        for group, span in enumerate(spans)
        if span is None or not span.has_min_max or (span.min <= window[1] and span.max >= window[0])
    ]


def cut(tables: Tables, window: Window) -> Tables:
    """Rows of a window, of rows as a journal has them. No word is left that no row says."""
    kept: Tables = {}
    for declared in JOURNAL:
        rows = tables.get(declared.name)
        if rows is not None and declared.time and declared.name not in _SIGNALS:
            mask = _of_cores(rows, window) if declared.name == "cores" else _inside(rows, window)
            kept[declared.name] = rows.filter(pa.array(mask))
    if all(name in tables for name in _SIGNALS):
        kept |= cut_signals(tables["series"], tables["ticks"], tables["changes"], window)
    if "samples" in kept and "stacks" in tables:
        used = np.unique(kept["samples"]["stack_id"].to_numpy())
        kept["stacks"] = tables["stacks"].filter(pa.array(np.isin(tables["stacks"]["stack_id"].to_numpy(), used)))
    return {name: _said(table) for name, table in kept.items() if table.num_rows}


def _inside(rows: pa.Table, window: Window) -> NDArray[np.bool_]:
    at_ns = rows["at_ns"].to_numpy()
    inside: NDArray[np.bool_] = (at_ns >= window[0]) & (at_ns <= window[1])
    return inside


def _of_cores(rows: pa.Table, window: Window) -> NDArray[np.bool_]:
    """Looks at the cores that tell about the window."""
    at_ns = rows["at_ns"].to_numpy()
    began_ns = at_ns - rows["passed_ms"].to_numpy().astype(np.int64) * _MS_NS
    near: NDArray[np.bool_] = (at_ns >= window[0]) & (began_ns <= window[1])
    return near


def _said(table: pa.Table) -> pa.Table:
    """The same rows; a dictionary would keep the words of rows that are gone."""
    for number, name in enumerate(table.column_names):
        if table[name].type == WORD:
            words = pa.chunked_array([_whole(table[name].cast(pa.string())).dictionary_encode()], WORD)
            table = table.set_column(number, table.schema.field(number), words)
    return table.combine_chunks()


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
