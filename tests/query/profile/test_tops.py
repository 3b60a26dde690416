"""Who took the cores, and what of it is unusual."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.query.profile.tops import DIMENSIONS, Dimension, Top, tops
from necroscope.query.samples.sample_counts import SampleCounts, Task
from stage.looked import HZ, counts_of, noisy, text

TASKS = (
    Task(10, 12, "helper", "/a"),
    Task(10, 10, "server", "/a"),
    Task(20, 20, "other", ""),
    Task(-1, -1, "nameless", "/b"),
)
MAIN, GO, SYS = ("main", "server"), ("go", "server"), ("sys", "[kernel]")
STACKS = (text([MAIN, GO, GO]), text([MAIN, SYS]), text([SYS]), "")


def listed(counts: SampleCounts, by: Dimension, cores: int = 2) -> list[Top]:
    seconds = np.full(len(counts.windows), 5.0)
    return tops(counts, by, seconds, seconds * cores, 1e-9)


@pytest.fixture
def small() -> SampleCounts:
    return counts_of(np.array([[40], [30], [20], [10]]), STACKS, TASKS, np.arange(4))


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("process", [("server", "10", 70), ("other", "20", 20), ("nameless", "", 10)]),
        ("thread", [("helper", "12", 40), ("server", "10", 30), ("other", "20", 20), ("nameless", "", 10)]),
        ("cgroup", [("/a", "", 70), ("[unknown]", "", 20), ("/b", "", 10)]),
        ("function", [("main", "server", 70), ("sys", "[kernel]", 50), ("go", "server", 40)]),
        ("self", [("sys", "[kernel]", 50), ("go", "server", 40)]),
        ("module", [("server", "", 70), ("[kernel]", "", 50)]),
    ],
)
def test_rows_of_every_kind(small: SampleCounts, by: Dimension, expected: list[tuple[str, str, int]]) -> None:
    found = listed(small, by)
    assert [(row.name, row.detail, row.samples) for row in found] == expected
    assert [row.cores for row in found] == pytest.approx([row.samples / HZ / 5 for row in found])
    assert all(row.before is None and row.lift is None and not row.significant for row in found)


def test_every_kind_is_tested() -> None:
    assert set(DIMENSIONS) == {"process", "thread", "cgroup", "function", "self", "module"}


def test_what_is_unusual_comes_first_and_the_rest_by_size() -> None:
    steady, grown, small = [400] * 25, [300] + [50] * 24, [60] * 25
    counts = counts_of(np.array([steady, small, grown]), STACKS[:3], TASKS[:3], np.arange(3))
    found = listed(counts, "thread")
    assert [row.name for row in found] == ["other", "helper", "server"]
    assert [row.significant for row in found] == [True, False, False]
    assert found[0].lift == pytest.approx(6.0)
    assert found[0].before == pytest.approx(50 / HZ / 5)


def test_what_was_not_there_before_has_no_finite_lift() -> None:
    counts = counts_of(np.array([[30] + [0] * 24, [30] * 25]), STACKS[:2], TASKS[:2], np.arange(2))
    assert listed(counts, "thread")[0].lift == float("inf")


@pytest.mark.parametrize("by", DIMENSIONS)
def test_an_empty_window_has_no_rows(by: Dimension) -> None:
    assert listed(counts_of(np.zeros((0, 2), np.int64), (), (), np.zeros(0, np.int64)), by) == []


def test_what_has_no_samples_is_no_row() -> None:
    counts = counts_of(np.array([[5, 5], [7, 0]]), STACKS[:2], TASKS[:2], np.arange(2))
    assert [row.name for row in listed(counts.without(np.array([True, False])), "self")] == ["sys"]


@pytest.mark.parametrize("cores", [2, 96])
@pytest.mark.parametrize("by", ["function", "self"])
def test_two_percent_of_a_core_in_five_seconds_are_found_and_come_first(cores: int, by: Dimension) -> None:
    found = [listed(noisy(cores, seed, planted=0.02), by, cores)[0] for seed in range(10)]
    assert sum(row.name == "planted" and row.significant for row in found) >= 9


@pytest.mark.parametrize("cores", [2, 96])
@pytest.mark.parametrize("by", ["function", "process"])
def test_noise_is_not_taken_for_a_change(cores: int, by: Dimension) -> None:
    runs = [listed(noisy(cores, seed), by, cores)[0].significant for seed in range(100, 120)]
    assert sum(runs) <= 1
