"""The rows of a heat map that stand out, by name and in figures: what a picture of 96 rows cannot show exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from necroscope.query.cores.grid import Grid


@dataclass(frozen=True, slots=True)
class HotRow:
    """A row: its mean, its highest value, and when it was first (nearly) that high."""

    row: str
    mean: float
    most: float
    at_ns: int


def hottest(grid: Grid, number: int) -> tuple[HotRow, ...]:
    """So many rows, the hottest first: by the mean of their highest tenth, so that bursts count as well as load."""
    values = np.nan_to_num(grid.values, nan=-np.inf)
    if not values.size:
        return ()
    tenth = max(1, grid.columns // 10)
    peaks = np.sort(values, axis=1)[:, -tenth:].mean(axis=1)
    known = np.flatnonzero((values > -np.inf).any(axis=1))
    mean = np.nanmean(grid.values[known], axis=1)
    order = sorted(range(known.size), key=lambda place: (-peaks[known[place]], -mean[place]))
    found = []
    for place in order[: max(0, number)]:
        row = int(known[place])
        most = float(values[row].max())
        first = int(np.argmax(values[row] >= most - 0.05 * abs(most)))
        found.append(HotRow(grid.rows[row], float(mean[place]), most, grid.from_ns + first * grid.column_ns))
    return tuple(found)
