"""Samples as one Parquet table with their stacks spelled out, for pandas, DuckDB, Polars, Spark.

A row group at a time: memory does not grow with the window.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from necroscope.query.samples.chunk import Chunk, Words
from necroscope.show.export.frames import FrameTable
from necroscope.show.export.source import Source

_WORD = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("at", pa.timestamp("ns", "UTC")),
        ("at_ns", pa.int64()),
        ("cpu", pa.int32()),
        ("pid", pa.int32()),
        ("tid", pa.int32()),
        ("comm", _WORD),
        ("cgroup", _WORD),
        ("event", _WORD),
        ("weight", pa.int64()),
        ("stack_id", pa.uint64()),
        ("frames", pa.list_(_WORD)),
        ("modules", pa.list_(_WORD)),
    ]
)
"""`frames` and `modules` are lists of texts of equal length, outermost first; dictionaries are how Arrow holds them."""


def write(source: Source, file: BinaryIO) -> None:
    """The samples of a source, some at a time, sorted by time within each row group."""
    # Not the Arrow schema in the file: other readers, and pandas, are to see plain lists of text.
    with pq.ParquetWriter(file, SCHEMA, compression="zstd", store_schema=False) as writer:
        for chunk in source.chunks():
            writer.write_table(_table(chunk), row_group_size=max(1, len(chunk)))


def _table(chunk: Chunk) -> pa.Table:
    chunk = chunk.taken(np.argsort(chunk.at_ns, kind="stable"))
    numbers, place = np.unique(chunk.stack, return_inverse=True)
    frames, modules = _lists(chunk.stacks.frames(numbers))
    taken = pa.array(place.reshape(-1))
    columns = [
        pa.array(chunk.at_ns).cast(SCHEMA.field("at").type),
        pa.array(chunk.at_ns),
        pa.array(chunk.cpu, pa.int32()),
        pa.array(chunk.pid, pa.int32()),
        pa.array(chunk.tid, pa.int32()),
        *(_coded(words) for words in (chunk.comm, chunk.cgroup, chunk.event)),
        pa.array(chunk.weight, pa.int64()),
        pa.array(chunk.stacks.ids(numbers)).take(taken),
        frames.take(taken),
        modules.take(taken),
    ]
    return pa.table(columns, schema=SCHEMA)


def _coded(words: Words) -> pa.Array:
    return pa.DictionaryArray.from_arrays(words.codes.astype(np.int32), pa.array(words.names, pa.string()))


def _lists(stacks: list[str]) -> tuple[pa.Array, pa.Array]:
    """Names and modules of the frames of each stack."""
    table = FrameTable()
    numbers = [table.numbers(stack) for stack in stacks]
    ends = np.cumsum([0, *map(len, numbers)], dtype=np.int64).astype(np.int32)
    flat = np.array([number for stack in numbers for number in stack], np.int64)
    made = []
    for part in (0, 1):
        words: dict[str, int] = {}
        codes = [words.setdefault(frame[part], len(words)) for frame in table.frames()]
        coded = np.array(codes, np.int32)[flat] if flat.size else np.zeros(0, np.int32)
        values = pa.DictionaryArray.from_arrays(coded, pa.array(list(words), pa.string()))
        made.append(pa.ListArray.from_arrays(pa.array(ends), values))
    return made[0], made[1]
