"""The core heat map: what each core did over time. A column that stands for many seconds shows the worst of them."""

from __future__ import annotations

import numpy as np

from necroscope.query.core_time import CoreTime
from necroscope.query.grid import Grid, columns_of
from necroscope.store.catalog import Window
from necroscope.store.core_peaks import middle, share


def core_grid(times: CoreTime, window: Window, look: str = "busy", most_columns: int = 200) -> Grid:
    """Share of each core's time, by core (rows) and time (columns): the highest second of a column, never a mean."""
    from_ns, column_ns, columns = columns_of(window, most_columns)
    cpus = np.unique(times.cpu)
    values = np.full((cpus.size, columns), np.nan)
    # A row tells about the time before it: its middle says which column that is.
    column = (middle(times.at_ns, times.passed_ms) - from_ns) // column_ns
    inside = (column >= 0) & (column < columns)
    place = np.searchsorted(cpus, times.cpu[inside]) * columns + column[inside]
    np.fmax.at(values.reshape(-1), place, share(times.spent, look)[inside])
    return Grid(tuple(f"cpu {cpu}" for cpu in cpus.tolist()), values, from_ns, column_ns, f"share of the core, {look}")
