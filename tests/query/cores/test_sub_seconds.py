"""The inside of seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.cores.sub_seconds import sub_seconds
from necroscope.query.select import Select
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from stage.looked import IDLE, LOOP, TICK, One, batch
from stage.recorded import START_NS

WINDOW = (START_NS, START_NS + 3 * NS - 1)
A_CELL = NS // 50


def _store(folder: Path, ones: list[One]) -> Store:
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    writer.add_samples(batch(ones))
    writer.close()
    return Store(folder)


def _ones(event: str = "cpu-clock") -> list[One]:
    """The first 100 ms of every second are full on core 1; core 0 is idle, but for one interrupt at 500 ms."""
    busy = [
        One(START_NS + second * NS + cell * A_CELL, cpu=1, weight=A_CELL, event=event)
        for second in range(3)
        for cell in range(5)
    ]
    idle = [One(START_NS + cell * A_CELL, IDLE, cpu=0, weight=A_CELL, event=event) for cell in range(25)]
    ends = One(START_NS + 3 * NS - A_CELL, IDLE, cpu=0, weight=A_CELL, event=event)
    return [*busy, *idle, One(START_NS + NS // 2, TICK, cpu=0, weight=A_CELL, event=event), ends]


def test_bursts_are_seen_and_idle_samples_are_not(tmp_path: Path) -> None:
    snapshot = _store(tmp_path, _ones()).snapshot()
    grid = sub_seconds(snapshot, Select(WINDOW))
    expected = np.zeros((50, 3))
    expected[:5] = 0.5
    expected[25, 0] = 0.5
    assert grid.values == pytest.approx(expected)
    assert (grid.rows[0], grid.rows[25], grid.unit) == ("0 ms", "500 ms", "share of the cores, busy")
    assert sub_seconds(snapshot, Select(WINDOW, cpus=frozenset({1}))).values[0].tolist() == pytest.approx([1, 1, 1])


def test_shares_are_of_all_cores_not_of_those_with_samples(tmp_path: Path) -> None:
    grid = sub_seconds(_store(tmp_path, _ones()).snapshot(), Select(WINDOW), cores=8)
    assert grid.values[0].tolist() == pytest.approx([1 / 8] * 3)


def test_columns_of_several_seconds_are_means(tmp_path: Path) -> None:
    ones = [One(START_NS, LOOP, weight=A_CELL), One(START_NS + 3 * NS, LOOP, weight=A_CELL)]
    window = (START_NS, START_NS + 4 * NS - 1)
    grid = sub_seconds(_store(tmp_path, ones).snapshot(), Select(window), cores=1, most_columns=2)
    assert (grid.column_ns, grid.values[0].tolist()) == (2 * NS, pytest.approx([0.5, 0.5]))


def test_what_lies_outside_of_the_window_is_unknown(tmp_path: Path) -> None:
    window = (START_NS + NS // 2, START_NS + 2 * NS + NS // 4 - 1)
    grid = sub_seconds(_store(tmp_path, _ones()).snapshot(), Select(window))
    assert np.isnan(grid.values[:25, 0]).all()
    assert not np.isnan(grid.values[25:, 0]).any()
    assert not np.isnan(grid.values[:, 1]).any()
    assert np.isnan(grid.values[13:, 2]).all()


def test_events_that_tell_no_time_are_shown_against_the_busiest_cell(tmp_path: Path) -> None:
    grid = sub_seconds(
        _store(tmp_path, _ones("page-faults")).snapshot(), Select(WINDOW, events=frozenset({"page-faults"}))
    )
    assert (np.nanmax(grid.values), grid.unit) == (1.0, "busy, against the busiest cell")


def test_no_samples_no_rows(tmp_path: Path) -> None:
    grid = sub_seconds(_store(tmp_path, _ones()).snapshot(), Select(WINDOW, cpus=frozenset({99})))
    assert (grid.rows, grid.values.size) == ((), 0)


def test_damage_is_told(tmp_path: Path) -> None:
    store = _store(tmp_path, _ones())
    segments(tmp_path)[0].file("samples").write_bytes(b"")
    notes: list[str] = []
    assert sub_seconds(store.snapshot(), Select(WINDOW), notes=notes).values.size == 0
    assert len(notes) == 1


def test_time_without_any_sample_is_unknown_and_not_idle(tmp_path: Path) -> None:
    first = [One(START_NS + second * NS, LOOP, weight=A_CELL) for second in range(3)]
    again = [One(START_NS + second * NS, LOOP, weight=A_CELL) for second in range(12, 15)]
    window = (START_NS, START_NS + 15 * NS - 1)
    grid = sub_seconds(_store(tmp_path, [*first, *again]).snapshot(), Select(window), cores=1)
    assert np.isnan(grid.values).all(axis=0).tolist() == [*[False] * 2, False, *[True] * 9, *[False] * 3]


@pytest.mark.parametrize("event", ["cpu-clock", "page-faults"])
def test_a_gap_within_a_second_is_not_drawn_as_idle(tmp_path: Path, event: str) -> None:
    """Samples end 100 ms after a second began, and come again 900 ms after another."""
    times = [*range(3 * 50 + 5), *range(10 * 50 + 45, 13 * 50)]
    ones = [One(START_NS + cell * A_CELL, LOOP, weight=A_CELL, event=event) for cell in times]
    select = Select((START_NS, START_NS + 13 * NS - 1), events=frozenset({event}))
    grid = sub_seconds(_store(tmp_path, ones).snapshot(), select, cores=1)
    unknown = np.isnan(grid.values)
    assert unknown[:, 3].tolist() == [False] * 5 + [True] * 45
    assert unknown[:, 4:10].all()
    assert unknown[:, 10].tolist() == [True] * 45 + [False] * 5
    assert grid.values[~unknown] == pytest.approx(1.0)
    assert not unknown[:, [*range(3), 11, 12]].any()


def test_a_gap_within_a_long_column_takes_no_part_in_its_mean(tmp_path: Path) -> None:
    """Busy all the time that was recorded, which is half of the second column."""
    times = [*range(15 * 50), *range(20 * 50, 30 * 50)]
    ones = [One(START_NS + cell * A_CELL, LOOP, weight=A_CELL) for cell in times]
    window = START_NS, START_NS + 30 * NS - 1
    grid = sub_seconds(_store(tmp_path, ones).snapshot(), Select(window), cores=1, most_columns=3)
    assert grid.values == pytest.approx(1.0)


def test_what_a_long_column_has_after_the_window_takes_no_part_in_its_mean(tmp_path: Path) -> None:
    ones = [One(START_NS + cell * A_CELL, LOOP, weight=A_CELL) for cell in range(12 * 50)]
    window = START_NS, START_NS + 9 * NS - 1
    grid = sub_seconds(_store(tmp_path, ones).snapshot(), Select(window), cores=1, most_columns=2)
    assert (grid.column_ns, grid.values.shape) == (5 * NS, (50, 2))
    assert grid.values == pytest.approx(1.0)
