"""Intervals of sysstat beside a recorder's looks: found by every reader, never counted twice, never taken for seconds."""

# ruff: noqa: E501 - tables of cases

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from necroscope.clock import NS
from necroscope.query.cores.coarse_looks import Looked
from necroscope.query.cores.core_grid import core_grid
from necroscope.query.cores.core_heat import around, core_heat
from necroscope.query.cores.core_time import CoreTime, core_time, spent
from necroscope.query.cores.patterns import patterns
from necroscope.query.cores.starved import mean_busy, runs
from necroscope.query.profile.profile import profile
from necroscope.query.select import Select
from necroscope.query.sql.engine import Engine
from necroscope.record.imports.file_importers import How, import_file
from necroscope.sense.cpu.times import Cpu
from necroscope.sense.host import Host
from necroscope.store.bundle.excerpt import excerpt
from necroscope.store.format.segment import read_table
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import MODES
from stage.looked import One, batch, record
from stage.recorded import LOOP, START_NS

START_S = START_NS // NS


def rows(*given: tuple[float, int, float, float]) -> CoreTime:
    """Rows of: seconds after the start, core, seconds passed, share of them that was idle; the rest is in the kernel."""
    spent = np.zeros((len(given), len(MODES)), np.int64)
    for place, (_, _, passed_s, idle) in enumerate(given):
        spent[place, MODES.index("idle")] = round(1000 * passed_s * idle)
        spent[place, MODES.index("system")] = round(1000 * passed_s * (1 - idle))
    at_ns, passed_ms = (
        [round(one * scale) for one in column]
        for column, scale in (([t[0] for t in given], NS), ([t[2] for t in given], 1000))
    )
    return CoreTime(
        np.array(at_ns, np.int64) + START_NS,
        np.array([one[1] for one in given], np.int32),
        np.array(passed_ms, np.int64),
        spent,
    )


def window(begin_s: float, end_s: float) -> tuple[int, int]:
    return START_NS + round(begin_s * NS), START_NS + round(end_s * NS) - 1


def sysstat(tmp_path: Path, ends_s: list[int], length_s: int, idle: float, cpus: tuple[int, ...] = (0, 1)) -> Path:
    """sadf's JSON; its first interval ends at the first of `ends_s` after the start."""
    import datetime

    entries = []
    for end_s in ends_s:
        at = datetime.datetime.fromtimestamp(START_S + end_s, datetime.UTC)
        stamp = {"date": f"{at:%Y-%m-%d}", "time": f"{at:%H:%M:%S}", "utc": 1, "interval": length_s}
        loads = [{"cpu": str(cpu), "sys": 100 - idle, "idle": idle} for cpu in cpus]
        entries.append({"timestamp": stamp, "cpu-load": loads})
    path = tmp_path / f"sadf-{length_s}.json"
    path.write_text(json.dumps({"sysstat": {"hosts": [{"nodename": "node7", "statistics": entries}]}}))
    return path


def put(store: Path, path: Path) -> None:
    writer = Writer(store, signals=Cpu.signals)
    try:
        assert import_file(writer, path, How(Host()))[1].looks
    finally:
        writer.close(merge=False)


def test_ten_minutes_are_one_row_that_any_part_of_them_finds(tmp_path: Path) -> None:
    store = tmp_path / "store"
    put(store, sysstat(tmp_path, [600, 1200], 600, 75.0))
    part = window(200, 210)
    times = core_time(Store(store).snapshot(part), [part])
    assert [(cpu, ms) for cpu, ms in zip(times.cpu.tolist(), times.passed_ms.tolist(), strict=True)] == [
        (0, 600_000),
        (1, 600_000),
    ]
    found, cores = spent(Store(store).snapshot(part), [part])
    assert cores == 2
    assert (found[0].core_s, found[0].busy_s, found[0].covered_s, found[0].interval_s) == pytest.approx(
        (20, 5, 10, 600)
    )
    (grid,) = [core_heat(Store(store).snapshot(around(part)), Select(part), columns) for columns in ("busy",)]
    assert np.all(grid.values == 0.25)
    assert grid.values.shape == (2, 10)
    assert grid.unit == "share of the core, busy, averages of up to 10 min"


def test_zoomed_out_every_ten_seconds_of_an_interval_are_filled(tmp_path: Path) -> None:
    store = tmp_path / "store"
    put(store, sysstat(tmp_path, [600], 600, 75.0))
    whole = window(0, 3000)
    grid = core_heat(Store(store).snapshot(around(whole)), Select(whole), most_columns=100)
    known = ~np.isnan(grid.values[0])
    assert grid.column_ns == 40 * NS
    assert known.tolist() == [True] * 16 + [False] * (known.size - 16)
    assert grid.unit.endswith("averages of up to 10 min")


def test_where_a_recorder_looked_too_its_seconds_count_and_nothing_twice(tmp_path: Path) -> None:
    store = tmp_path / "store"
    record(store, 8, sealed=(2, 5)).close(merge=False)
    both = window(0, 20)
    (before,), _ = spent(Store(store).snapshot(both), [both])
    put(store, sysstat(tmp_path, [20], 20, 50.0))
    (found,), cores = spent(Store(store).snapshot(both), [both])
    assert cores == 2
    assert found.core_s == pytest.approx(40.0)
    assert found.busy_s == pytest.approx(before.busy_s + 12.0)
    assert found.interval_s == 20.0
    times = core_time(Store(store).snapshot(both), [both])
    assert times.spent_in(both).core_s == pytest.approx(40.0)
    assert times.close().spent_in(both).core_s == pytest.approx(before.core_s)
    grid = core_grid(times, both)
    assert np.all(grid.values[:, 8:] == 0.5)
    alone = core_grid(core_time(Store(store).snapshot(both), [both]).close(), both)
    assert np.array_equal(grid.values[:, :8], alone.values[:, :8])


def test_of_two_intervals_the_shorter_counts(tmp_path: Path) -> None:
    store = tmp_path / "store"
    put(store, sysstat(tmp_path, [600], 600, 90.0, (0,)))
    put(store, sysstat(tmp_path, [120, 180], 60, 10.0, (0,)))
    times = core_time(Store(store).snapshot(), [window(0, 600)])
    given = sorted(
        zip(
            ((times.begin_ns - START_NS) // NS).tolist(),
            ((times.at_ns - START_NS) // NS).tolist(),
            times.whole_ms.tolist(),
            strict=True,
        )
    )
    assert given == [(0, 60, 600_000), (60, 120, 60_000), (120, 180, 60_000), (180, 600, 600_000)]
    assert times.spent_in(window(0, 600)).busy_s == pytest.approx(0.1 * 480 + 0.9 * 120)


@pytest.mark.parametrize(
    ("idle", "starved"), [(0.0, True), (0.0001, True), (0.001, False), (0.02, False), (0.5, False)]
)
def test_an_average_tells_of_a_starved_core_only_where_all_of_it_is_full(idle: float, starved: bool) -> None:
    found = runs(rows((600, 3, 600, idle), (1200, 3, 600, 0.9)), 0.97, 2.0)
    assert [(run.from_ns - START_NS, run.to_ns - START_NS) for run in found] == ([(0, 600 * NS)] if starved else [])


def test_ten_seconds_of_an_average_are_no_fuller_than_it() -> None:
    """Beside a recorder's looks only ten seconds are left of an interval that was idle for 6 s of 600."""
    part = CoreTime(
        *(
            column
            for column in (
                rows((600, 3, 10, 0.01)).at_ns,
                np.array([3], np.int32),
                np.array([10_000]),
                np.array([[0, 9_900, 0, 0, 0, 100]]),
            )
        ),
        np.array([600_000]),
    )
    assert runs(part, 0.97, 2.0) == []


def test_averages_have_no_pattern_and_do_not_tell_how_busy_a_part_was() -> None:
    full = rows((600, 0, 600, 0.0), (600, 1, 600, 1.0), (1200, 0, 600, 0.0), (1200, 1, 600, 1.0))
    assert patterns(full) == []
    assert mean_busy(full, window(100, 110)) is None
    assert mean_busy(full, window(0, 600)) == pytest.approx(0.5)


def test_a_bundle_takes_the_interval_around_its_window(tmp_path: Path) -> None:
    put(tmp_path / "store", sysstat(tmp_path, [600, 1200], 600, 75.0))
    part = window(300, 310)
    excerpt(Store(tmp_path / "store"), part, tmp_path / "bundle")
    times = core_time(Store(tmp_path / "bundle").snapshot(part), [part])
    assert times.passed_ms.tolist() == [600_000, 600_000]


def test_sql_tells_how_long_the_time_was(tmp_path: Path) -> None:
    put(tmp_path / "store", sysstat(tmp_path, [600], 600, 75.0, (0,)))
    with Engine(Store(tmp_path / "store")) as engine:
        assert list(engine.ask("select cpu, system, idle, seconds from cores").rows()) == [
            {"cpu": 0, "system": 0.25, "idle": 0.75, "seconds": 600.0}
        ]


def test_holes_in_what_was_looked_at() -> None:
    looked = Looked()
    looked.add_looks(np.array([5, 0, 1]) * NS, np.array([6, 1, 2]) * NS, np.array([1, 1, 1], np.int32))
    assert list(looked.holes(1, 0, 10 * NS)) == [(2 * NS, 5 * NS), (6 * NS, 10 * NS)]
    assert list(looked.holes(2, 0, NS)) == [(0, NS)]
    looked.add(1, NS, 7 * NS)
    assert list(looked.holes(1, 0, 10 * NS)) == [(7 * NS, 10 * NS)]
    assert list(looked.holes(1, 3 * NS, 4 * NS)) == []


def test_rolled_up_averages_are_told_apart_from_seconds(tmp_path: Path) -> None:
    store = tmp_path / "store"
    record(store, 8, sealed=(2, 5)).close(merge=False)
    put(store, sysstat(tmp_path, [600, 1200], 600, 25.0))
    whole = window(0, 1200)
    snapshot = Store(store).snapshot(around(whole))
    (cells,) = [read_table(one, "core_peaks") for one in snapshot.rollups]
    after = core_heat(snapshot, Select(whole), most_columns=60)
    shutil.rmtree(store / "rollups")
    before = core_heat(Store(store).snapshot(around(whole)), Select(whole), most_columns=60)
    for grid in (before, after):
        assert grid.unit == "share of the core, busy, averages of up to 10 min"
        # The ten seconds in which a recorder looked are its own.
        alone = core_grid(core_time(snapshot, [whole]).close(), window(0, 8), most_columns=1)
        assert np.nanmax(alone.values) < 0.75
    assert np.array_equal(before.values, after.values, equal_nan=True)
    assert cells is not None
    first = cells.filter(pc.equal(cells["at_ns"], START_NS // (10 * NS) * 10 * NS))
    assert first["passed_ms"].to_pylist() == [1000, 1000]


def test_cycles_of_a_burst_are_not_flattened_by_an_average(tmp_path: Path) -> None:
    """97 samples in each of the first two seconds, then one in each: the average of ten minutes tells nothing of that."""
    store = tmp_path / "store"
    writer = Writer(store, flush_s=1e9, segment_s=1e9)
    at_ns = [START_NS + n * NS // 97 for n in range(194)] + [START_NS + n * NS for n in range(2, 20)]
    writer.add_samples(batch([One(at, LOOP, event="cycles:P", weight=30_000_000) for at in at_ns]))
    writer.close(merge=False)
    part = window(0, 20)
    before = profile(Store(store), Select(part)).counts.weight.sum()
    put(store, sysstat(tmp_path, [600], 600, 50.0, (0,)))
    after = profile(Store(store), Select(part))
    assert after.counted
    assert after.core_seconds.tolist() == pytest.approx([20.0])
    assert after.counts.weight.sum() == pytest.approx(before)
    assert after.notes == (
        "what the cores did is known as averages of up to 10 min only; shares of shorter times are rough",
    )
