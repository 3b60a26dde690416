"""The core heat map."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.cores.core_grid import core_grid
from necroscope.query.cores.core_time import CoreTime
from necroscope.vocabulary.model import MODES
from stage.recorded import START_NS

WINDOW = (START_NS, START_NS + 4 * NS - 1)


def _times(rows: list[tuple[float, int, dict[str, int]]]) -> CoreTime:
    return CoreTime(
        np.array([START_NS + round(at * NS) for at, _, _ in rows], np.int64),
        np.array([cpu for _, cpu, _ in rows], np.int32),
        np.full(len(rows), 1000, np.int64),
        np.array([[spent.get(mode, 0) for mode in MODES] for _, _, spent in rows], np.int64).reshape(-1, len(MODES)),
    )


def test_a_cell_is_a_second_and_unknown_is_not_zero() -> None:
    times = _times([(1, 0, {"idle": 1000}), (2, 0, {"user": 250, "idle": 750}), (2.1, 3, {"system": 990, "idle": 10})])
    grid = core_grid(times, WINDOW)
    assert grid.rows == ("cpu 0", "cpu 3")
    assert (grid.from_ns, grid.column_ns, grid.columns) == (START_NS, NS, 4)
    assert grid.values[0, :2].tolist() == [0.0, 0.25]
    assert grid.values[1, 1] == pytest.approx(0.99)
    assert np.isnan(grid.values[0, 2:]).all()
    assert np.isnan(grid.values[1, [0, 2, 3]]).all()


def test_a_column_of_many_seconds_shows_the_worst() -> None:
    times = _times([(n + 1, 0, {"system": 1000 if n == 2 else 0, "idle": 0 if n == 2 else 1000}) for n in range(4)])
    grid = core_grid(times, WINDOW, most_columns=2)
    assert (grid.column_ns, grid.values.tolist()) == (2 * NS, [[0.0, 1.0]])


@pytest.mark.parametrize(
    ("look", "expected"),
    [("busy", 0.7), ("user", 0.1), ("system", 0.2), ("irq", 0.25), ("steal", 0.15), ("idle", 0.3)],
)
def test_every_look(look: str, expected: float) -> None:
    spent = {"user": 100, "system": 200, "irq": 50, "softirq": 200, "steal": 150, "idle": 300}
    grid = core_grid(_times([(1, 0, spent)]), WINDOW, look)
    assert grid.values[0, 0] == pytest.approx(expected)
    assert grid.unit == f"share of the core, {look}"


def test_nobody_looked() -> None:
    assert core_grid(_times([]), WINDOW).values.shape == (0, 4)
