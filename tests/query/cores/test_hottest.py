"""The rows of a heat map that stand out."""

from __future__ import annotations

import numpy as np

from necroscope.clock import NS
from necroscope.query.cores.grid import Grid
from necroscope.query.cores.hottest import hottest
from stage.recorded import START_NS


def test_a_burst_is_hotter_than_a_higher_mean() -> None:
    values = np.full((3, 100), 0.3)
    values[1] = 0.1
    values[1, 70:80] = 0.9
    grid = Grid(("a", "b", "c"), values, START_NS, NS, "x")
    assert [(hot.row, hot.at_ns) for hot in hottest(grid, 1)] == [("b", START_NS + 70 * NS)]


def test_rows_of_which_nothing_is_known_are_left_out() -> None:
    values = np.array([[np.nan, np.nan], [np.nan, 0.5]])
    (row,) = hottest(Grid(("a", "b"), values, START_NS, NS, "x"), 5)
    assert (row.row, row.mean, row.most, row.at_ns) == ("b", 0.5, 0.5, START_NS + NS)
    assert hottest(Grid((), np.zeros((0, 2)), START_NS, NS, "x"), 5) == ()
