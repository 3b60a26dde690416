"""Segments: rows sealed into Parquet, one file for each table that has rows. Immutable; small by design.

A segment is written under a name that begins with a dot, every file synced, then renamed: it is there whole or not at
all. Encodings are chosen for size, measured on recordings of busy nodes: times as differences in the order of each
core, stacks as sorted text of which only what differs from the one before is kept, numbers of stacks split by byte.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from necroscope.store import pack
from necroscope.store.arrow import Tables, joined, time_range
from necroscope.store.catalog import Segment, parse_segment, segment_name, sync_path
from necroscope.store.tables import FORMAT_VERSION, JOURNAL, SEGMENT

# How hard zstd tries: a recorder has two minutes for a segment, whoever waits for an import has not.
SMALL, FAST = 15, 6

_DELTA = "DELTA_BINARY_PACKED"
_BY_BYTE = "BYTE_STREAM_SPLIT"
_PREFIX = "DELTA_BYTE_ARRAY"
# Columns that are not kept as a dictionary. Plain ones compress better when zstd sees whole bytes.
_ENCODINGS: dict[str, dict[str, str]] = {
    "samples": {"at_ns": _DELTA, "pid": "PLAIN", "stack": _BY_BYTE},
    "stacks": {"stack": _DELTA, "stack_id": "PLAIN", "frames": _PREFIX},
    "seconds": {"second": _DELTA, "samples": _BY_BYTE, "kernel": _BY_BYTE},
    "series": {"series": _DELTA, "labels": _PREFIX},
    "ticks": {"tick": _DELTA, "at_ns": _DELTA},
    "changes": {"tick": _DELTA, "step": _BY_BYTE, "value": _BY_BYTE},
    "events": {"at_ns": _DELTA, "id": "PLAIN", "text": "PLAIN"},
    "zombies": {"at_ns": _DELTA},
    "units": {"at_ns": _DELTA},
}
# A reader skips row groups by these; statistics of other columns cost more than they save.
_STATISTICS = ("at_ns", "cpu", "second", "chunk")


def write_segment(folder: Path, tables: Tables, first: int, last: int, level: int = SMALL) -> Segment | None:
    """Seal rows, given as a journal has them, as the journals `first` to `last`. None when there are no rows."""
    span = time_range(tables)
    if span is None:
        return None
    temporary = folder / f".{first:08d}-{last:08d}"
    final = folder / segment_name(*span, first, last)
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir(mode=0o750)
        for name, table, groups in pack.packed(tables, first):
            _write(temporary / f"{name}.parquet", name, table, groups, level)
        sync_path(temporary)
        temporary.rename(final)
        sync_path(folder)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return parse_segment(final)


def read_segment(segment: Segment) -> Tables:
    """The rows of a segment as a journal has them: what `write_segment` was given, in another order."""
    stored = {table.name: read_table(segment, table.name) for table in SEGMENT}
    present = {name: table for name, table in stored.items() if table is not None}
    return pack.unpacked(present)


def read_table(segment: Segment, name: str, columns: list[str] | None = None) -> pa.Table | None:
    """One table of a segment; None when it has no rows."""
    try:
        with pq.ParquetFile(segment.file(name)) as file:
            return file.read(columns=columns, use_threads=False)
    except FileNotFoundError:
        return None


def merged(parts: list[Tables]) -> Tables:
    """The rows of several segments together. Stacks may be there more than once."""
    together = ((table, [part[table.name] for part in parts if table.name in part]) for table in JOURNAL)
    return {table.name: joined(table, found) for table, found in together if found}


def size_bytes(segment: Segment) -> int:
    """What the segment takes."""
    try:
        return sum(path.stat().st_size for path in segment.path.iterdir())
    except FileNotFoundError:
        return 0


def _write(path: Path, name: str, table: pa.Table, rows_per_group: int, level: int) -> None:
    encodings = _ENCODINGS[name]
    options: dict[str, Any] = {
        "use_dictionary": [column for column in table.column_names if column not in encodings],
        "column_encoding": encodings,
        "write_statistics": [column for column in table.column_names if column in _STATISTICS],
    }
    metadata = table.replace_schema_metadata({"necroscope": str(FORMAT_VERSION)})
    pq.write_table(
        metadata,
        path,
        row_group_size=rows_per_group,
        compression="zstd",
        compression_level=level,
        store_schema=False,
        **options,
    )
    sync_path(path)
