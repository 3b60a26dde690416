"""The worst look of every ten seconds of each core: what a zoomed-out heat map shows. Maxima of maxima are right, so
that it does not matter in how many pieces, or how often, the same rows are rolled up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.store.format.arrow import from_columns
from necroscope.store.format.core_times import COARSE_NS
from necroscope.store.format.tables import CORE_PEAKS
from necroscope.vocabulary.model import MODES

F64s = NDArray[np.float64]
I64s = NDArray[np.int64]
PEAK_NS = 10 * NS
_MOST_CPUS = 1 << 20
LOOKS = ("busy", "system", "user", "irq", "steal", "idle")
"""What can be looked at; `irq` is interrupts and soft interrupts together."""

COLUMNS = ["at_ns", "cpu", "passed_ms", *(f"{mode}_ms" for mode in MODES)]
"""What has to be read of `cores`."""


def numbers(cores: pa.Table) -> tuple[I64s, I64s, I64s, I64s]:
    """Time, core, milliseconds passed and (rows, modes) of milliseconds spent; unknown ones are 0."""
    at_ns, cpu, passed_ms, *spent = (np.nan_to_num(cores[name].to_numpy()).astype(np.int64) for name in COLUMNS)
    return at_ns, cpu, passed_ms, np.stack(spent, axis=1)


def middle(at_ns: I64s, passed_ms: I64s) -> I64s:
    """Where on the timeline a row belongs: it tells about the time before it."""
    found: I64s = at_ns - passed_ms * 500_000
    return found


def cells(
    at_ns: I64s, passed_ms: I64s, cell_ns: int, from_ns: int = 0, count: int | None = None
) -> tuple[NDArray[np.intp], I64s]:
    """Which rows belong to which cells of the timeline, as numbers of both. A row that tells about an interval as a
    whole belongs to every cell of it."""
    low = high = (middle(at_ns, passed_ms) - from_ns) // cell_ns
    wide = coarse(passed_ms)
    if wide.any():
        low = np.where(wide, (at_ns - passed_ms * 1_000_000 - from_ns) // cell_ns, low)
        high = np.where(wide, (at_ns - 1 - from_ns) // cell_ns, high)
    if count is not None:
        low, high = np.maximum(low, 0), np.minimum(high, count - 1)
    width = np.maximum(0, high - low + 1)
    row = np.repeat(np.arange(at_ns.size), width)
    column: I64s = low[row] + np.arange(row.size) - np.repeat(np.cumsum(width) - width, width)
    return row, column


def share(spent: I64s, look: str) -> F64s:
    """What a look sees in each row, from 0 to 1 of the time that the core accounted for."""
    total = np.maximum(1, spent.sum(axis=1))
    place = {mode: number for number, mode in enumerate(MODES)}
    modes = {"busy": ("idle",), "irq": ("irq", "softirq")}.get(look, (look,))
    found: F64s = spent[:, [place[mode] for mode in modes]].sum(axis=1) / total
    return 1.0 - found if look == "busy" else found


def peaks(cores: Sequence[pa.Table]) -> pa.Table:
    """The rows of `core_peaks` of rows of `cores`, in their order. Beside looks of a second averages do not count."""
    parts = [numbers(table) for table in cores]
    at_ns, cpu, passed_ms, spent = (np.concatenate(column) for column in zip(*parts, strict=True))
    row, begin = cells(at_ns, passed_ms, PEAK_NS)
    if (wide := coarse(passed_ms[row])).any():
        kept = ~hidden(begin * PEAK_NS, cpu[row], wide)
        row, begin = row[kept], begin[kept]
    cpu, spent, passed_ms = cpu[row], spent[row], passed_ms[row]
    order = np.lexsort((begin, cpu))
    begin, cpu, spent, passed_ms = begin[order], cpu[order], spent[order], passed_ms[order]
    first = np.flatnonzero((np.diff(begin, prepend=begin[0] - 1) != 0) | (np.diff(cpu, prepend=cpu[0]) != 0))
    worst = {look: np.maximum.reduceat(share(spent, look), first) for look in LOOKS}
    longest = np.maximum.reduceat(passed_ms, first).astype(np.int32)
    columns = {"at_ns": begin[first] * PEAK_NS, "cpu": cpu[first].astype(np.int32), **worst, "passed_ms": longest}
    return from_columns(CORE_PEAKS, columns)


def coarse(passed_ms: I64s) -> NDArray[np.bool_]:
    """Which rows tell about an interval as a whole."""
    found: NDArray[np.bool_] = passed_ms * 1_000_000 > COARSE_NS
    return found


def hidden(at_ns: I64s, cpu: I64s, wide: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the wide cells are covered more closely by others."""
    keys = at_ns // PEAK_NS * _MOST_CPUS + cpu
    found: NDArray[np.bool_] = wide & np.isin(keys, keys[~wide])
    return found
