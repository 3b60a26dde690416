"""The lines of tracks, second by second. What a look tells belongs to the time since the look before it; after a pause
that is too long to be bridged, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.series import Series, series_of
from necroscope.query.tiles import TILE_S
from necroscope.query.tracks.catalogue import SIGNALS, TRACKS, Line
from necroscope.store.read.reader import Snapshot

F32s = NDArray[np.float32]
Lines = dict[tuple[str, str], F32s]
"""By track and line: a value for each second of a tile; NaN where nothing is known."""
_PAUSE_NS = 150 * NS


def lines_of_tile(snapshot: Snapshot, from_s: int, count: int = TILE_S) -> Lines:
    """Every line that anything is known of."""
    window = from_s * NS - _PAUSE_NS, (from_s + count) * NS + _PAUSE_NS
    told = series_of(snapshot, SIGNALS, window, notes=[])
    found: Lines = {}
    for track in TRACKS:
        for line in track.lines:
            values = _line([one for name in line.signals for one in told.get(name, ())], line, from_s, count)
            if values is not None:
                found[track.id, line.name] = values
    return found


def nbytes(lines: Lines) -> int:
    """Memory that they take."""
    return sum(one.nbytes + 200 for one in lines.values())


def _line(series: Sequence[Series], line: Line, from_s: int, count: int) -> F32s | None:
    chosen = [one for one in series if all(one.label(name) == value for name, value in line.labels)]
    rows = [_by_second(one, line.rate, from_s, count) for one in chosen]
    if not rows:
        return None
    put_together = _together(rows, line)
    known: NDArray[np.bool_] = ~np.isnan(put_together)
    return (put_together * line.scale).astype(np.float32) if known.any() else None


def _together(rows: Iterable[NDArray[np.float64]], line: Line) -> NDArray[np.float64]:
    table = np.stack(list(rows))
    known = (~np.isnan(table)).any(axis=0)
    filled = np.nan_to_num(table)
    if line.how == "most":
        found = filled.max(axis=0)
    elif line.how == "mean":
        found = filled.sum(axis=0) / np.maximum(1, (~np.isnan(table)).sum(axis=0))
    else:
        found = filled.sum(axis=0)
    return np.where(known, found, np.nan)


def _by_second(one: Series, rate: bool, from_s: int, count: int) -> NDArray[np.float64]:
    """The value of each second: of the look that ends the time in which its middle lies."""
    found = np.full(count, np.nan)
    if one.at_ns.size < 2:
        return found
    begin, end = one.at_ns[:-1], one.at_ns[1:]
    value = one.value[1:]
    if rate:
        # A counter that begins anew counts from there.
        value = np.maximum(np.diff(one.value), 0.0) / np.maximum((end - begin) / NS, 1e-9)
    middle = (from_s + np.arange(count, dtype=np.int64)) * NS + NS // 2
    place = np.searchsorted(end, middle, side="left")
    inside = place < end.size
    place = np.minimum(place, end.size - 1)
    inside &= (begin[place] < middle) & (end[place] - begin[place] <= _PAUSE_NS)
    found[inside] = value[place[inside]]
    return found
