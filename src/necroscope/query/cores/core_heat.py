"""The core heat map of any window. Zoomed out, where a column is ten seconds and more, it comes from roll-ups: the
worst second of a cell is the same, and hours take tens of files instead of thousands.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.query.cores.core_grid import averaged, core_grid
from necroscope.query.cores.core_time import core_time
from necroscope.query.cores.grid import Grid, columns_of
from necroscope.query.sealed import damage, opened
from necroscope.query.select import Select
from necroscope.store.format.segment import read_table
from necroscope.store.read.catalog import Segment
from necroscope.store.read.core_peaks import COLUMNS, PEAK_NS, coarse, hidden, peaks
from necroscope.store.read.reader import Snapshot
from necroscope.store.read.rollups import left_over
from necroscope.vocabulary.event import Window

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]
_Part = tuple[I64s, NDArray[np.int32], F64s, I64s]


def around(window: Window) -> Window:
    """What a snapshot has to hold for `core_heat`: columns may begin a little before the window, and the look after
    it covers its end."""
    return window[0] - 2 * PEAK_NS, window[1] + 2 * PEAK_NS


def core_heat(
    snapshot: Snapshot, select: Select, look: str = "busy", most_columns: int = 200, notes: list[str] | None = None
) -> Grid:
    """What the selected cores did: the highest second of each cell, never a mean. `notes` gets damaged files."""
    if columns_of(select.window, most_columns)[1] >= PEAK_NS:
        return _from_peaks(snapshot, select, look, most_columns, notes)
    times = core_time(snapshot, [select.window], notes).of(select.cpus)
    return core_grid(times, select.window, look, most_columns)


def _from_peaks(snapshot: Snapshot, select: Select, look: str, most_columns: int, notes: list[str] | None) -> Grid:
    from_ns, column_ns, columns = columns_of(select.window, most_columns, PEAK_NS)
    parts = list(_parts(snapshot, look, notes))
    at_ns, cpu, share, passed_ms = (np.concatenate(column) for column in zip(_NOTHING, *parts, strict=True))
    column = (at_ns - from_ns) // column_ns
    rows = (column >= 0) & (column < columns)
    if select.cpus:
        rows &= np.isin(cpu, list(select.cpus))
    if (wide := coarse(passed_ms)).any():
        rows &= ~hidden(at_ns, cpu, wide)
    cpus, row = np.unique(cpu[rows], return_inverse=True)
    values = np.full(cpus.size * columns, np.nan)
    np.fmax.at(values, row.reshape(-1) * columns + column[rows], share[rows])
    labels = tuple(f"cpu {one}" for one in cpus.tolist())
    unit = f"share of the core, {look}{averaged(passed_ms[rows])}"
    return Grid(labels, values.reshape(-1, columns), from_ns, column_ns, unit)


_NOTHING: _Part = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64)


def _parts(snapshot: Snapshot, look: str, notes: list[str] | None) -> Iterator[_Part]:
    """Times, cores, what the look sees, and the longest look; the same ten seconds may be there more than once."""
    rolled = [(one, part) for one in snapshot.rollups if (part := _rolled(one, look)) is not None]
    yield from (part for _, part in rolled)
    for segment in left_over(snapshot.segments, [one for one, _ in rolled]):
        for table in _read(segment, "cores", COLUMNS, notes):
            yield _columns(peaks([table]), look)
    live = snapshot.live.get("cores")
    if live is not None and live.num_rows:
        yield _columns(peaks([live]), look)


def _rolled(rollup: Segment, look: str) -> _Part | None:
    """What a roll-up has; None when it is damaged or gone, as then the segments are still there."""
    try:
        table = read_table(rollup, "core_peaks", ["at_ns", "cpu", look, "passed_ms"])
        if table is None:
            return _NOTHING if rollup.path.exists() else None
        return _columns(table, look)
    except (OSError, pa.ArrowException, KeyError):
        return None


def _read(segment: Segment, name: str, columns: list[str], notes: list[str] | None) -> list[pa.Table]:
    with damage(segment.file(name), notes):
        file = opened(segment, name)
        if file is not None:
            with file:
                return [file.read(columns=columns, use_threads=False)]
    return []


def _columns(table: pa.Table, look: str) -> _Part:
    has_lengths = "passed_ms" in table.column_names  # older roll-ups are of recorders' looks only
    passed_ms = (
        np.nan_to_num(table["passed_ms"].to_numpy()).astype(np.int64)
        if has_lengths
        else np.zeros(table.num_rows, np.int64)
    )
    return table["at_ns"].to_numpy(), table["cpu"].to_numpy(), table[look].to_numpy(), passed_ms
