"""Rows that are alike, found by hashing: for roll-ups, which count the rows of a segment by a few columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.hashing import HashIndex

I64s = NDArray[np.int64]

# Keys that are added at once: the table stays small where few of them differ.
_BLOCK = 1 << 15
_WIDEST = 1 << 62
_LOW = (1 << 32) - 1


def numbered(keys: NDArray[np.uint64]) -> tuple[I64s, I64s]:
    """The number of each key, and for each number where one of its keys is."""
    index = HashIndex(4 * _BLOCK)
    number, one_of = np.empty(keys.size, np.int64), [np.zeros(0, np.int64)]
    for start in range(0, keys.size, _BLOCK):
        number[start : start + _BLOCK], fresh = index.add(keys[start : start + _BLOCK])
        one_of.append(fresh + start)
    return number, np.concatenate(one_of)


def groups(columns: Iterable[NDArray[Any]]) -> tuple[I64s, I64s]:
    """The group of each row, and one row of each group: rows are alike when all their columns are."""
    key, wide = np.zeros(1, np.int64), 1
    for column in columns:
        code, size = _from_zero(column.astype(np.int64))
        if wide * size > _WIDEST:
            key, wide = _narrowed(key)
        if wide * size > _WIDEST:
            code, size = _narrowed(code)
        key, wide = key * size + code, wide * size
    return numbered(key.view(np.uint64))


def sums(group: I64s, values: I64s, count: int) -> I64s:
    """The sum of the values of each of so many groups."""
    low = np.bincount(group, values & _LOW, count).astype(np.int64)
    if values.size and (int(values.max()) > _LOW or int(values.min()) < 0):
        low += np.bincount(group, values >> 32, count).astype(np.int64) << 32
    return low


def _from_zero(column: I64s) -> tuple[I64s, int]:
    """A column that begins at 0, and how far it goes; what goes too far is numbered instead."""
    low, high = (int(column.min()), int(column.max())) if column.size else (0, 0)
    return (column - low, high - low + 1) if high - low < _WIDEST else _narrowed(column)


def _narrowed(column: I64s) -> tuple[I64s, int]:
    number, one_of = numbered(column.view(np.uint64))
    return number, one_of.size
