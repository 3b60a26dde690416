"""The sub-second heat map: offset within the second by second, from the samples: bursts that averages hide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.cores.grid import Grid, columns_of
from necroscope.query.coverage import joined, profiled
from necroscope.query.samples.chunk import Chunk
from necroscope.query.samples.sample_time import timed
from necroscope.query.select import Select
from necroscope.sense.perf.event_names import is_time
from necroscope.sense.perf.idle import idle
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

F64s = NDArray[np.float64]


def sub_seconds(
    snapshot: Snapshot, select: Select, cores: int = 0, most_columns: int = 200, notes: list[str] | None = None
) -> Grid:
    """Busy share of so many cores, where the samples fall; samples of idle cores are left out. Empty without samples.

    Without a number of cores, those are meant that any sample is of.
    """
    counted = SubSeconds(select.window, cores, most_columns=most_columns)
    for chunk in timed(snapshot, select, notes=notes):
        counted.add(chunk, ~_idle(chunk))
    return counted.grid(profiled(snapshot, select.window))


def _idle(chunk: Chunk) -> NDArray[np.bool_]:
    numbers, place = np.unique(chunk.stack, return_inverse=True)
    of_sample: NDArray[np.bool_] = idle(chunk.stacks.frames(numbers))[place.reshape(-1)]
    return of_sample


class SubSeconds:
    """Counts samples by offset within the second (rows) and second (columns): bursts that averages hide."""

    def __init__(self, window: Window, cores: int = 0, rows: int = 50, most_columns: int = 200) -> None:
        self._from_ns, self._column_ns, columns = columns_of(window, most_columns)
        self._rows, self._window = rows, window
        self._counts: F64s = np.zeros((rows, columns))
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

    def grid(self, sampled: Sequence[Window]) -> Grid:
        """How busy the cores were in each cell while samples were taken; unknown where nobody took any.

        For events that are no clocks, against the busiest cell.
        """
        if not self._samples:
            return Grid((), np.zeros((0, self._counts.shape[1])), self._from_ns, self._column_ns, "")
        cores = self._cores or max(1, len(self._cpus))
        seen = self._seen_ns(sampled)
        whole = seen * cores if self._clock else max(1.0, float(self._counts.max()))
        values = np.divide(self._counts, whole, out=np.full(seen.shape, np.nan), where=seen > 0)
        labels = tuple(f"{1000 * row // self._rows} ms" for row in range(self._rows))
        return Grid(
            labels,
            values,
            self._from_ns,
            self._column_ns,
            "share of the cores, busy" if self._clock else "busy, against the busiest cell",
        )

    def _seen_ns(self, sampled: Sequence[Window]) -> F64s:
        """How long each cell was looked at: in the window, and in these stretches. What has a part of a cell of a
        second has the whole of it."""
        rows, columns = self._counts.shape
        cells = columns * self._column_ns * rows // NS
        window = self._cell_of(self._window[0]), self._cell_of(self._window[1])
        ends = np.zeros(cells + 1, np.int64)
        for low, high in joined([(self._cell_of(low), self._cell_of(high)) for low, high in sampled], 0):
            first, last = max(low, window[0]), min(high, window[1])
            if first <= last:
                ends[first] += 1
                ends[last + 1] -= 1
        looked_at = np.cumsum(ends[:-1]).reshape(columns, -1, rows).sum(axis=1).T
        seen: F64s = looked_at * (NS / rows)
        return seen

    def _cell_of(self, at_ns: int) -> int:
        """The cell of its second that an instant is in, counted through all seconds."""
        return (at_ns - self._from_ns) * self._rows // NS
