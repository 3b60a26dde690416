"""The map of cores at any zoom: a column that stands for many seconds tells their mean, their highest second and the
longest stretch in which the core was full.

By the mean alone, six full seconds in a column of half a minute would look like a fifth of a core. By the highest
second alone, a core that is full for one second looks like one that is full all the time. Both are told, and the
stretch decides what is striking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.cores.seconds import FULL, UNKNOWN, Seconds
from necroscope.vocabulary.event import Window

Bytes = NDArray[np.uint8]
HELD = 0.97
"""A second with so much of a look counts as full."""
_HELD_BYTE = int(np.ceil(HELD * FULL))
_MOST_HELD = (1 << 16) - 1


@dataclass(frozen=True, slots=True)
class Pooled:
    """By core and column: bytes of `mean` and `peak` (0 to `FULL`, or `UNKNOWN`), and `held`, the longest stretch of
    full seconds. A column is `column_s` long; the first begins at `from_s`."""

    from_s: int
    column_s: int
    cpus: tuple[int, ...]
    look: str
    mean: Bytes
    peak: Bytes
    held: NDArray[np.uint16]

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return int(self.mean.shape[1])


def columns_in(window: Window, most: int) -> tuple[int, int, int]:
    """First second, seconds of a column, and number of columns: whole seconds, at most one column more than `most`.

    Columns lie on a grid of their own width, so that a view that is moved shows the same cells again.
    """
    low, high = window[0] // NS, window[1] // NS + 1
    column_s = max(1, -(-(high - low) // max(1, most)))
    low = low // column_s * column_s
    return low, column_s, -(-(high - low) // column_s)


def pooled(told: Seconds, look: str, column_s: int) -> Pooled:
    """Columns of so many seconds; the last may have fewer."""
    values = told.of(look)
    cores, count = values.shape
    columns = -(-count // column_s)
    if columns * column_s > count:
        values = np.pad(values, ((0, 0), (0, columns * column_s - count)), constant_values=UNKNOWN)
    cells = values.reshape(cores, columns, column_s)
    known = cells != UNKNOWN
    number = known.sum(axis=2)
    total = np.where(known, cells, 0).sum(axis=2, dtype=np.int64)
    mean = np.where(number > 0, np.rint(total / np.maximum(1, number)), UNKNOWN).astype(np.uint8)
    peak = np.where(number > 0, np.where(known, cells, 0).max(axis=2, initial=0), UNKNOWN).astype(np.uint8)
    return Pooled(told.from_s, column_s, told.cpus, look, mean, peak, _longest(cells))


def _longest(cells: Bytes) -> NDArray[np.uint16]:
    """The longest stretch of full seconds within each column. A second that nobody looked at ends it."""
    full = (cells >= _HELD_BYTE) & (cells != UNKNOWN)
    running = np.zeros(cells.shape[:2], np.int64)
    longest = np.zeros(cells.shape[:2], np.int64)
    for second in range(cells.shape[2]):
        running = (running + 1) * full[:, :, second]
        np.maximum(longest, running, out=longest)
    return np.minimum(longest, _MOST_HELD).astype(np.uint16)
