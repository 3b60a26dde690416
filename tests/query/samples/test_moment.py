"""The inside of a moment: time is kept whatever the bins, and nobody's time is unknown."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.extent import extent_of_all
from necroscope.query.profile.sifted import wanted_stacks
from necroscope.query.samples.moment import SHORTEST_NS, bin_of, moment
from necroscope.query.select import Select
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window
from stage.incidents import INCIDENTS, unpacked


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(unpacked(INCIDENTS / "gpu-training.ncb", tmp_path_factory.mktemp("moment")))


@pytest.fixture(scope="module")
def window(store: Store) -> Window:
    whole = extent_of_all(store.snapshot())
    assert whole is not None
    return whole[0] + 10 * NS, whole[0] + 30 * NS


def test_bins_are_whole_tens_of_milliseconds() -> None:
    assert bin_of((0, NS - 1), 1000) == SHORTEST_NS
    assert bin_of((0, 60 * NS - 1), 1000) == 60_000_000
    assert bin_of((0, 60 * NS - 1), 999) == 70_000_000


@pytest.mark.parametrize("bins", [40, 333, 2000])
def test_the_time_of_all_samples_is_kept_whatever_the_bins(store: Store, window: Window, bins: int) -> None:
    made = moment(store.snapshot(window), Select(window), "core", bins)
    usual = moment(store.snapshot(window), Select(window), "core", 20)
    total = np.nansum(made.cores) * made.bin_ns
    assert total == pytest.approx(np.nansum(usual.cores) * usual.bin_ns, rel=0.01)


def test_rows_by_whatever_add_up_to_the_same(store: Store, window: Window) -> None:
    snapshot = store.snapshot(window)
    sums = [
        np.nansum(moment(snapshot, Select(window), by, 200).cores) for by in ("core", "process", "thread", "cgroup")
    ]
    assert sums == pytest.approx([sums[0]] * 4)


def test_a_core_that_was_asked_for_has_a_row_though_it_was_idle(store: Store, window: Window) -> None:
    made = moment(store.snapshot(window), Select(window), "core", 100, cpus=(0, 4, 77))
    assert made.rows[-1].label == "cpu 77"
    assert np.nansum(made.cores[-1]) == 0
    assert [row.cpu for row in made.rows] == sorted(row.cpu for row in made.rows)


def test_what_is_searched_for_is_a_part_of_what_is_kept(store: Store, window: Window) -> None:
    made = moment(store.snapshot(window), Select(window), "process", 100, search=wanted_stacks("mem_cgroup"))
    assert made.match is not None
    assert (np.nan_to_num(made.match) <= np.nan_to_num(made.cores) + 1e-9).all()
    assert 0 < np.nansum(made.match) < np.nansum(made.cores)
    kept = moment(store.snapshot(window), Select(window), "process", 100, keep=wanted_stacks("mem_cgroup"))
    assert np.nansum(kept.cores) == pytest.approx(np.nansum(made.match), rel=1e-6)


def test_where_nobody_took_samples_nothing_is_known(store: Store, window: Window) -> None:
    whole = extent_of_all(store.snapshot())
    assert whole is not None
    late = whole[1] - 2 * NS, whole[1] + 20 * NS
    made = moment(store.snapshot(late), Select(late), "core", 100)
    assert np.isnan(made.cores[:, -50:]).all()
    assert not np.isnan(made.cores[:, 2]).any()


def test_no_samples_make_no_rows(store: Store, window: Window) -> None:
    before = window[0] - 3600 * NS, window[0] - 3590 * NS
    made = moment(store.snapshot(before), Select(before), "core", 100)
    assert made.rows == ()
    assert made.cores.shape == (0, made.bins)
