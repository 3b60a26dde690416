"""The sub-second heat map: offset within the second by second, from the samples: bursts that averages hide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.event import Window
from necroscope.query.chunk import Chunk
from necroscope.query.coverage import profiled
from necroscope.query.grid import Grid, columns_of
from necroscope.query.sample_time import timed
from necroscope.query.select import Select
from necroscope.sense.perf.event_names import is_time
from necroscope.sense.perf.idle import idle
from necroscope.store.reader import Snapshot


def sub_seconds(
    snapshot: Snapshot, select: Select, cores: int = 0, most_columns: int = 200, notes: list[str] | None = None
) -> Grid:
    """Busy share of so many cores, where the samples fall; samples of idle cores are left out. Empty without samples.

    Without a number of cores, those are meant that any sample is of.
    """
    counted = SubSeconds(select.window, cores, most_columns=most_columns)
    for chunk in timed(snapshot, select, notes=notes):
        counted.add(chunk, ~_idle(chunk))
    return _without_holes(counted.grid(), profiled(snapshot, select.window))


def _without_holes(grid: Grid, sampled: Sequence[Window]) -> Grid:
    """Columns in which nobody took samples are unknown, not idle."""
    for column in range(grid.values.shape[1]):
        begin = grid.from_ns + column * grid.column_ns
        if not any(low < begin + grid.column_ns and high >= begin for low, high in sampled):
            grid.values[:, column] = np.nan
    return grid


def _idle(chunk: Chunk) -> NDArray[np.bool_]:
    numbers, place = np.unique(chunk.stack, return_inverse=True)
    of_sample: NDArray[np.bool_] = idle(chunk.stacks.frames(numbers))[place.reshape(-1)]
    return of_sample


class SubSeconds:
    """Counts samples by offset within the second (rows) and second (columns): bursts that averages hide."""

    def __init__(self, window: Window, cores: int = 0, rows: int = 50, most_columns: int = 200) -> None:
        self._from_ns, self._column_ns, columns = columns_of(window, most_columns)
        self._rows, self._window = rows, window
        self._counts = np.zeros((rows, columns))
        self._cores, self._cpus = cores, set[int]()
        self._clock = True
        self._samples = 0

    def add(self, chunk: Chunk, busy: NDArray[np.bool_]) -> None:
        """Count the samples that are marked as busy."""
        self._samples += len(chunk)
        self._cpus.update(np.unique(chunk.cpu).tolist())
        self._clock &= all(is_time(chunk.event.names[code]) for code in np.unique(chunk.event.codes))
        at_ns = chunk.at_ns[busy]
        column = (at_ns - self._from_ns) // self._column_ns
        row = at_ns % NS * self._rows // NS
        inside = (column >= 0) & (column < self._counts.shape[1])
        np.add.at(self._counts, (row[inside], column[inside]), chunk.weight[busy][inside].astype(np.float64))

    def grid(self) -> Grid:
        """How busy the cores were in each cell; for events that are no clocks, against the busiest cell."""
        if not self._samples:
            return Grid((), np.zeros((0, self._counts.shape[1])), self._from_ns, self._column_ns, "")
        cores = self._cores or max(1, len(self._cpus))
        whole = self._column_ns / self._rows * cores if self._clock else max(1.0, float(self._counts.max()))
        values = self._counts / whole
        begins = self._from_ns + np.arange(values.shape[1]) * self._column_ns
        if self._column_ns == NS:
            ends = begins + (np.arange(self._rows)[:, None] + 1) * NS // self._rows
            outside = (ends <= self._window[0]) | (ends - NS // self._rows > self._window[1])
            values[outside] = np.nan
        labels = tuple(f"{1000 * row // self._rows} ms" for row in range(self._rows))
        return Grid(
            labels,
            values,
            self._from_ns,
            self._column_ns,
            "share of the cores, busy" if self._clock else "busy, against the busiest cell",
        )
