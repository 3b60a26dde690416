"""Answers of SQL as values that every reader of JSON takes: 64-bit ids as text, times as ISO 8601, no NaN.

Unsigned 64-bit numbers are ids and come as text, because most readers of JSON know 53 bits only. Times are UTC with all
their nanoseconds. What is no number (NaN, infinity) is null. Bytes come as hexadecimal text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns of an answer, and its rows batch by batch as they are computed. Good for one pass."""

    columns: tuple[str, ...]
    batches: Iterator[pa.RecordBatch]

    def values(self) -> Iterator[tuple[Any, ...]]:
        """Rows, each as the values of its columns."""
        for batch in self.batches:
            yield from zip(*(plain_values(column) for column in batch.columns), strict=True)

    def rows(self) -> list[dict[str, Any]]:
        """All rows by name of column; of columns with the same name, the last."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.values()]


def plain_values(array: pa.Array) -> list[Any]:
    """The values of an Arrow array as JSON has them."""
    kind = array.type
    if kinds.is_dictionary(kind):
        return plain_values(array.dictionary_decode())
    if kinds.is_timestamp(kind):
        return [None if at is None else _moment(at, kind.unit) for at in array.cast(pa.int64()).to_pylist()]
    if kinds.is_uint64(kind):
        return [None if value is None else str(value) for value in array.to_pylist()]
    if kinds.is_floating(kind):
        return [value if value is not None and math.isfinite(value) else None for value in array.to_pylist()]
    if kinds.is_decimal(kind):
        return [
            None if value is None else int(value) if kind.scale == 0 else float(value) for value in array.to_pylist()
        ]
    if kinds.is_map(kind):
        return [None if not item.is_valid else [list(pair) for pair in _pairs(item)] for item in array]
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        return [plain_values(item.values) if item.is_valid else None for item in array]
    if kinds.is_struct(kind):
        return _structs(array)
    if kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_fixed_size_binary(kind):
        return [None if value is None else value.hex() for value in array.to_pylist()]
    values: list[Any] = array.to_pylist()
    return [value if isinstance(value, int | str | None) else str(value) for value in values]


def _moment(at: int, unit: str) -> str:
    seconds, rest = divmod(at, _PER_SECOND[unit])
    try:
        whole = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{at} {unit}"
    digits = f"{rest * (1_000_000_000 // _PER_SECOND[unit]):09d}"
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{digits if unit == 'ns' else digits[:6]}Z"


def _structs(array: pa.StructArray) -> list[Any]:
    names = [field.name for field in array.type]
    columns = [plain_values(column) for column in array.flatten()]
    valid = array.is_valid().to_pylist()
    rows = zip(*columns, strict=True) if columns else iter([()] * len(array))
    return [dict(zip(names, row, strict=True)) if there else None for there, row in zip(valid, rows, strict=True)]


def _pairs(item: pa.MapScalar) -> Iterator[tuple[Any, Any]]:
    entries = item.values
    return zip(plain_values(entries.field(0)), plain_values(entries.field(1)), strict=True)
