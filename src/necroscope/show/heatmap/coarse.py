"""Fewer rows and columns than a heat map has, without losing its peaks: a cell shows the highest of what it covers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from necroscope.query.cores.grid import F64s, Grid

_NUMBERED = re.compile(r"(?P<kind>\D*)(?P<low>\d+)(?:-(?P<high>\d+))?(?P<unit>\D*)")


def coarse(grid: Grid, rows: int, columns: int) -> Grid:
    """The grid with at most so many rows and columns; neighbours are grouped evenly. Unknown stays unknown."""
    tall, wide = -(-len(grid.rows) // max(1, rows)), -(-grid.columns // max(1, columns))
    if (tall <= 1 and wide <= 1) or not grid.values.size:
        return grid
    starts = range(0, len(grid.rows), tall)
    values: F64s = np.fmax.reduceat(grid.values, np.arange(0, len(grid.rows), tall), axis=0)
    values = np.fmax.reduceat(values, np.arange(0, grid.columns, wide), axis=1)
    return replace(
        grid,
        rows=tuple(group_label(grid.rows[start], grid.rows[min(start + tall, len(grid.rows)) - 1]) for start in starts),
        values=values,
        column_ns=grid.column_ns * wide,
        marks=tuple(replace(mark, column=mark.column / wide) for mark in grid.marks),
    )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Columns of a map spread over cells of a terminal, more or fewer: each cell shows the highest of its columns."""

    columns: int
    cells: int

    @property
    def starts(self) -> NDArray[np.int64]:
        """The column at which each cell begins."""
        return np.arange(self.cells, dtype=np.int64) * self.columns // max(1, self.cells)

    def spread(self, values: F64s) -> F64s:
        """The values of each cell; unknown stays unknown."""
        if not values.size:
            return values
        found: F64s = np.fmax.reduceat(values, self.starts, axis=1)
        return found

    def cell(self, column: float) -> int:
        """The cell of a place in a column, one that shows this column."""
        starts, whole = self.starts, int(column)
        first = int(np.searchsorted(starts, whole, "left"))
        last = int(np.searchsorted(starts, whole, "right")) - 1
        return min(max(int(column * self.cells / self.columns), first), last)


def group_label(first: str, last: str) -> str:
    """cpu 40-43 for cpu 40 up to cpu 43, or for cpu 40-41 and cpu 42-43; other names are both given."""
    one, other = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if first == last:
        return first
    if one and other and (one["kind"], one["unit"]) == (other["kind"], other["unit"]):
        return f"{one['kind']}{one['low']}-{other['high'] or other['low']}{one['unit']}"
    return f"{first} … {last}"
