"""Segments: rows sealed into Parquet, one file for each table that has rows. Immutable; small by design.

A segment is written under a name that begins with a dot, every file synced, then renamed: it is there whole or not at
all. Encodings are chosen for size, measured on recordings of busy nodes: times as differences in the order of each
core, stacks as sorted text of which only what differs from the one before is kept, numbers of stacks split by byte.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from necroscope.store.format.arrow import Tables, joined, time_range
from necroscope.store.format.manifest import Listed, listed, write_manifest
from necroscope.store.format.sealed_file import open_sealed
from necroscope.store.format.tables import FORMAT_VERSION, JOURNAL, SEGMENT
from necroscope.store.private_files import make_folder, open_new
from necroscope.store.read.catalog import Segment, parse_segment, segment_name, sync_path

# How hard zstd tries: what is merged stays for days; what is sealed or imported must cost little.
SMALL, FAST = 9, 3

_DELTA = "DELTA_BINARY_PACKED"
_BY_BYTE = "BYTE_STREAM_SPLIT"
_PREFIX = "DELTA_BYTE_ARRAY"
# Columns that are not kept as a dictionary. Plain ones compress better when zstd sees whole bytes.
_ENCODINGS: dict[str, dict[str, str]] = {
    "samples": {"at_ns": _DELTA, "pid": "PLAIN", "stack": _BY_BYTE},
    "stacks": {"stack": _DELTA, "stack_id": "PLAIN", "frames": _PREFIX},
    "flames": {"stack": _DELTA},
    "tasks": {"pid": "PLAIN"},
    "seconds": {"second": _DELTA, "samples": _BY_BYTE, "kernel": _BY_BYTE},
    "series": {"series": _DELTA, "labels": _PREFIX},
    "ticks": {"tick": _DELTA, "at_ns": _DELTA},
    "changes": {"tick": _DELTA, "step": _BY_BYTE, "value": _BY_BYTE},
    "cores": {},
    "events": {"at_ns": _DELTA, "id": "PLAIN", "text": "PLAIN"},
    "symptoms": {"at_ns": _DELTA, "id": "PLAIN", "text": "PLAIN"},
    "core_peaks": {"at_ns": _DELTA},
    "zombies": {"at_ns": _DELTA},
    "units": {"at_ns": _DELTA},
    "processes": {"at_ns": _DELTA, "user_ms": _DELTA, "system_ms": _DELTA, "run_delay_ms": _DELTA, "rss_kib": _DELTA},
    "zombie_names": {"at_ns": _DELTA, "path": _PREFIX, "cgroup": _DELTA},
}
# A reader skips row groups by these; statistics of other columns cost more than they save.
_STATISTICS = ("at_ns", "cpu", "second", "chunk")


@dataclass(frozen=True, slots=True)
class Staged:
    """A segment that is written and not there yet: nobody looks into `hidden`."""

    hidden: Path
    final: Path

    def publish(self) -> Segment | None:
        """Let everybody see it; whoever publishes the last one syncs the folder."""
        self.hidden.rename(self.final)
        return parse_segment(self.final)


def write_segment(folder: Path, tables: Tables, first: int, last: int, level: int = FAST) -> Segment | None:
    """Seal rows, given as a journal has them, as the journals `first` to `last`. None when there are no rows."""
    staged = stage_segment(folder, tables, first, last, level)
    if staged is None:
        return None
    try:
        made = staged.publish()
        sync_path(folder)
    except OSError:
        shutil.rmtree(staged.hidden, ignore_errors=True)
        raise
    return made


def stage_segment(folder: Path, tables: Tables, first: int, last: int, level: int = FAST) -> Staged | None:
    """Write and sync a segment under a name that begins with a dot. None when there are no rows."""
    from necroscope.store.format import pack

    span = time_range(tables)
    if span is None:
        return None
    return stage(folder, pack.packed(tables, first), Segment(first, last, *span, folder), level)


def stage(folder: Path, tables: Iterable[tuple[str, pa.Table, int]], what: Segment, level: int = FAST) -> Staged:
    """Write and sync the files of some tables, each with its rows per row group, and their manifest."""
    hidden = folder / f".{what.first:08d}-{what.last:08d}"
    shutil.rmtree(hidden, ignore_errors=True)
    try:
        make_folder(hidden)
        made = {name: write_table(hidden, name, table, groups, level) for name, table, groups in tables}
        check = write_manifest(hidden, made)
        sync_path(hidden)
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    return Staged(hidden, folder / segment_name(what.from_ns, what.to_ns, what.first, what.last, check))


def read_segment(segment: Segment) -> Tables:
    """The rows of a segment as a journal has them: what `write_segment` was given, in another order."""
    from necroscope.store.format import pack

    stored = {table.name: read_table(segment, table.name) for table in SEGMENT}
    present = {name: table for name, table in stored.items() if table is not None}
    return pack.unpacked(present)


def read_table(segment: Segment, name: str, columns: list[str] | None = None) -> pa.Table | None:
    """One table of a segment; None when it has no rows, or the segment is gone. Raises as `open_sealed` does."""
    try:
        file = open_sealed(segment, name)
    except FileNotFoundError:
        return None
    if file is None:
        return None
    with file:
        return file.read(columns=columns)


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


def write_table(folder: Path, name: str, table: pa.Table, rows_per_group: int, level: int = FAST) -> Listed:
    """Write and sync the file of a table, whose rows are as a segment has them; what a manifest says of it."""
    path = folder / f"{name}.parquet"
    os.close(open_new(path))
    encodings = _ENCODINGS[name]
    options: dict[str, Any] = {
        "use_dictionary": [column for column in table.column_names if column not in encodings],
        "column_encoding": encodings,
        "write_statistics": [column for column in table.column_names if column in _STATISTICS],
    }
    writer = pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        compression_level=level,
        store_schema=False,
        write_page_checksum=True,
        **options,
    )
    with writer:
        writer.write_table(table, row_group_size=rows_per_group)
        writer.add_key_value_metadata({"necroscope": str(FORMAT_VERSION)})
    sync_path(path)
    return listed(path, pq.read_metadata(path))
