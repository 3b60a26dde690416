"""The core heat map: what each core did over time. A column that stands for many seconds shows the worst of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from necroscope.quantity import span
from necroscope.query.cores.core_time import CoreTime
from necroscope.query.cores.grid import Grid, columns_of
from necroscope.store.format.core_times import COARSE_NS
from necroscope.store.read.core_peaks import cells, share
from necroscope.vocabulary.event import Window


def core_grid(times: CoreTime, window: Window, look: str = "busy", most_columns: int = 200) -> Grid:
    """Share of each core's time, by core (rows) and time (columns): the highest second of a column, never a mean."""
    from_ns, column_ns, columns = columns_of(window, most_columns)
    cpus = np.unique(times.cpu)
    values = np.full((cpus.size, columns), np.nan)
    row, column = cells(times.at_ns, times.passed_ms, column_ns, from_ns, columns)
    place = np.searchsorted(cpus, times.cpu[row]) * columns + column
    np.fmax.at(values.reshape(-1), place, share(times.spent, look)[row])
    unit = f"share of the core, {look}{averaged(times.whole_ms)}"
    return Grid(tuple(f"cpu {cpu}" for cpu in cpus.tolist()), values, from_ns, column_ns, unit)


def averaged(passed_ms: NDArray[np.int64]) -> str:
    """What a picture has to say of looks that cover intervals as a whole; nothing where there are none."""
    longest_ms = int(passed_ms.max(initial=0))
    return f", averages of up to {span(longest_ms / 1000)}" if longest_ms * 1_000_000 > COARSE_NS else ""
