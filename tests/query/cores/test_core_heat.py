"""The core heat map: the same cells from roll-ups and from seconds, and from whatever is left of either."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.cores.core_heat import around, core_heat
from necroscope.query.cores.grid import Grid
from necroscope.query.events.landmarks import symptoms
from necroscope.query.select import Select
from necroscope.store.format.arrow import from_rows
from necroscope.store.format.rows import event_rows
from necroscope.store.format.segment import write_segment
from necroscope.store.format.tables import CORES
from necroscope.store.read import rollups
from necroscope.store.read.catalog import create, segments
from necroscope.store.read.core_peaks import LOOKS
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Event, Window

START_NS = 1_767_323_043 * NS
SECONDS, PART_S, CPUS = 3600, 120, 3
WHOLE = START_NS, START_NS + SECONDS * NS - 1
_noise = np.random.default_rng(5)
SPENT = _noise.integers(0, 200, (SECONDS, CPUS, 6))
RESET = Event(START_NS + 1000 * NS, "nic-reset", "kmsg", "eth0", "reset")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An hour of three cores in half a minute's pieces, rolled up; its last pieces are not."""
    store = tmp_path_factory.mktemp("heat") / "s"
    create(store)
    for number in range(SECONDS // PART_S):
        rows = [
            (START_NS + (second + 1) * NS - 20_000_000, cpu, 1000, *SPENT[second, cpu].tolist())
            for second in range(number * PART_S, (number + 1) * PART_S)
            for cpu in range(CPUS)
        ]
        at_ns = START_NS + number * PART_S * NS
        events = [Event(at_ns, "cgroup-mkdir", "perf", "/a", "")] + ([RESET] if number == 8 else [])
        tables = {"cores": from_rows(CORES, rows), "events": event_rows(events)}
        write_segment(store / "segments", tables, number + 1, number + 1)
    rollups.Roller(store).tidy(segments(store))
    assert len(rollups.rollups(store)) == 3
    return store


@pytest.fixture
def store(built: Path, tmp_path: Path) -> Path:
    """The same, to be damaged."""
    shutil.copytree(built, tmp_path / "s")
    return tmp_path / "s"


def heat(store: Path, look: str = "busy", window: Window = WHOLE, cpus: frozenset[int] = frozenset()) -> Grid:
    """The grid, with columns of half a minute for the whole hour."""
    return core_heat(Store(store).snapshot(around(window)), Select(window, cpus=cpus), look, 120)


def expected(look: str, grid: Grid) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The worst second of each cell, counted by hand."""
    total = SPENT.sum(axis=2)
    parts = dict(zip(("user", "system", "irq", "softirq", "steal", "idle"), np.moveaxis(SPENT, 2, 0), strict=True))
    parts |= {"irq": parts["irq"] + parts["softirq"], "busy": total - parts["idle"]}
    share = parts[look] / total
    found = np.full((CPUS, grid.columns), np.nan)
    for second in range(SECONDS):
        column = (START_NS + second * NS + NS // 2 - grid.from_ns) // grid.column_ns
        found[:, column] = np.fmax(found[:, column], share[second])
    return found


@pytest.mark.parametrize("look", LOOKS)
def test_a_cell_is_its_worst_second(built: Path, look: str) -> None:
    grid = heat(built, look)
    assert (grid.from_ns % (10 * NS), grid.column_ns % (10 * NS)) == (0, 0)
    assert grid.rows == ("cpu 0", "cpu 1", "cpu 2")
    np.testing.assert_allclose(grid.values, expected(look, grid), atol=1e-12)


def test_without_roll_ups_it_is_the_same(built: Path, store: Path) -> None:
    shutil.rmtree(store / "rollups")
    np.testing.assert_array_equal(heat(store).values, heat(built).values)


def test_roll_ups_are_what_is_read(built: Path, store: Path) -> None:
    for segment in segments(store)[:24]:
        segment.file("cores").unlink()
    np.testing.assert_array_equal(heat(store).values, heat(built).values)


@pytest.mark.parametrize("damage", [b"", b"no parquet"])
def test_a_damaged_roll_up_is_passed_over(built: Path, store: Path, damage: bytes) -> None:
    rollups.rollups(store)[1].file("core_peaks").write_bytes(damage)
    np.testing.assert_array_equal(heat(store).values, heat(built).values)


def test_a_roll_up_that_is_gone_is_passed_over(built: Path, store: Path) -> None:
    snapshot = Store(store).snapshot(around(WHOLE))
    shutil.rmtree(store / "rollups")
    found = core_heat(snapshot, Select(WHOLE), "busy", 120)
    np.testing.assert_array_equal(found.values, heat(built).values)
    assert [event.kind for event in symptoms(snapshot, WHOLE)] == ["nic-reset"]


def test_one_core_of_some_minutes(built: Path) -> None:
    window = START_NS + 1234 * NS, START_NS + 3333 * NS
    grid = heat(built, "system", window, frozenset({1}))
    assert grid.rows == ("cpu 1",)
    inner = slice(1, grid.columns - 1)
    whole = core_heat(Store(built).snapshot(around(WHOLE)), Select(window), "system", 120)
    np.testing.assert_array_equal(grid.values[0, inner], whole.values[1, inner])


def test_few_seconds_are_shown_as_they_are(built: Path) -> None:
    window = START_NS + 100 * NS, START_NS + 160 * NS - 1
    grid = heat(built, "idle", window)
    assert grid.column_ns == NS
    np.testing.assert_allclose(grid.values[2], (SPENT[100:160, 2, 5] / SPENT[100:160, 2].sum(axis=1)))


def test_symptoms_come_from_roll_ups_and_from_what_is_not_rolled_up(built: Path, store: Path) -> None:
    later = Event(WHOLE[1] - NS, "oom-kill", "kmsg", "x", "")
    last = segments(store)[-1].last
    write_segment(store / "segments", {"events": event_rows([later])}, last + 1, last + 1)
    for segment in segments(store)[:24]:
        segment.file("events").unlink()
    found = symptoms(Store(store).snapshot(WHOLE), WHOLE)
    assert [event.kind for event in found] == ["nic-reset", "oom-kill"]
    assert found[0] == RESET
    assert symptoms(Store(built).snapshot(WHOLE), (RESET.at_ns + 1, WHOLE[1])) == []
