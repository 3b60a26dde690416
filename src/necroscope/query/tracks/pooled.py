"""Lines pooled to columns: the mean of a column and its highest second, so that neither level nor bursts are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.query.tiles import TILE_S
from necroscope.query.tracks.by_second import Lines
from necroscope.query.tracks.catalogue import TRACKS

F32s = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PooledLine:
    """One line of one track, by column; NaN where nothing is known."""

    track: str
    line: str
    mean: F32s
    most: F32s


def pooled_lines(tiles: Mapping[int, Lines], from_s: int, column_s: int, columns: int) -> tuple[PooledLine, ...]:
    """The lines that anything is known of, in the order of the catalogue."""
    seconds = column_s * columns
    found = []
    for track in TRACKS:
        for line in track.lines:
            key = track.id, line.name
            if any(key in lines for lines in tiles.values()):
                values = _stretch(tiles, key, from_s, seconds).reshape(columns, column_s)
                found.append(PooledLine(track.id, line.name, *_pooled(values)))
    return tuple(found)


def _stretch(tiles: Mapping[int, Lines], key: tuple[str, str], from_s: int, count: int) -> F32s:
    found = np.full(count, np.nan, np.float32)
    for number, lines in tiles.items():
        if key in lines:
            begin = number * TILE_S
            low, high = max(begin, from_s), min(begin + TILE_S, from_s + count)
            if low < high:
                found[low - from_s : high - from_s] = lines[key][low - begin : high - begin]
    return found


def _pooled(values: F32s) -> tuple[F32s, F32s]:
    known = ~np.isnan(values)
    number = known.sum(axis=1)
    filled = np.where(known, values, 0.0)
    mean = np.where(number > 0, filled.sum(axis=1) / np.maximum(1, number), np.nan)
    most = np.where(number > 0, np.where(known, values, -np.inf).max(axis=1), np.nan)
    return mean.astype(np.float32), most.astype(np.float32)
