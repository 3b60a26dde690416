"""Rows that are alike are found, whatever their columns hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from necroscope.sense.perf.decode import native
from necroscope.store.format.grouping import groups, numbered, sums

FAR = 1 << 62


@pytest.fixture(params=["1", "0"], autouse=True)
def _loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the loops in C, and without."""
    monkeypatch.setenv(native.SWITCH, request.param)
    native.loops.cache_clear()
    yield
    native.loops.cache_clear()


@pytest.mark.parametrize("count", [0, 1, 5, 100_000])
def test_each_key_has_a_number(count: int) -> None:
    keys = np.random.default_rng(1).integers(0, max(1, count // 3), count).astype(np.uint64)
    number, one_of = numbered(keys)
    assert np.array_equal(keys[one_of][number], keys)
    assert one_of.size == np.unique(keys).size


@pytest.mark.parametrize("far", [1, 1 << 20, FAR])
@pytest.mark.parametrize("count", [1, 3, 70_000])
def test_rows_are_alike_when_all_columns_are(count: int, far: int) -> None:
    draw = np.random.default_rng(2)
    columns = [draw.integers(-5, 5, count) * far // 5, draw.integers(0, 7, count).astype(np.int32)]
    columns += [draw.integers(0, 3, count) * far, draw.integers(0, 2, count) * (far // 2)]
    group, one_of = groups(columns)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert [rows[at] for at in one_of[group]] == rows
    assert one_of.size == len(set(rows))


def test_the_widest_column() -> None:
    ends = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max, 0, 0], np.int64)
    group, one_of = groups([ends, np.array([1, 1, 1, 2])])
    assert sorted(group.tolist()) == [0, 1, 2, 3]
    assert one_of[group].tolist() == [0, 1, 2, 3]


def test_sums_are_exact() -> None:
    values = np.array([(1 << 53) + 1, 1, (1 << 40) + 7, -3, -(1 << 41)], np.int64)
    assert sums(np.array([0, 0, 1, 1, 2]), values, 4).tolist() == [(1 << 53) + 2, (1 << 40) + 4, -(1 << 41), 0]
    assert sums(np.zeros(0, np.int64), np.zeros(0, np.int64), 2).tolist() == [0, 0]
