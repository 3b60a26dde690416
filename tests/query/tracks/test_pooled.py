"""Pooled lines: neither the level nor a burst is lost, and unknown stays unknown."""

from __future__ import annotations

import numpy as np

from necroscope.query.tiles import TILE_S
from necroscope.query.tracks.pooled import pooled_lines


def test_a_column_tells_its_mean_and_its_highest_second() -> None:
    values = np.full(TILE_S, 2.0, np.float32)
    values[5] = 100.0
    values[10:20] = np.nan
    (line,) = pooled_lines({7: {("faults", "all"): values}}, 7 * TILE_S, 10, 3)
    assert (line.track, line.line) == ("faults", "all")
    assert line.most.tolist()[0] == 100.0
    assert line.mean[0] == np.float32(11.8)
    assert np.isnan(line.mean[1])
    assert np.isnan(line.most[1])
    assert line.mean[2] == 2.0


def test_a_line_may_be_there_in_some_tiles_only() -> None:
    tiles = {7: {}, 8: {("gpu", "mean"): np.full(TILE_S, 5.0, np.float32)}}
    (line,) = pooled_lines(tiles, 8 * TILE_S - 4, 4, 2)
    assert np.isnan(line.mean[0])
    assert line.mean[1] == 5.0
    assert pooled_lines({7: {}}, 7 * TILE_S, 4, 2) == ()
