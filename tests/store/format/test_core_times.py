"""What cores did between two looks."""

from __future__ import annotations

from necroscope.clock import NS
from necroscope.store.format.core_times import CoreTimes
from necroscope.vocabulary.model import Sample

MS = NS // 1000


def _look(cores: dict[int, dict[str, float]]) -> list[Sample]:
    return [
        Sample("cpu_time_seconds", value, (str(cpu), mode))
        for cpu, modes in cores.items()
        for mode, value in modes.items()
    ]


def test_the_first_look_tells_nothing_and_the_second_what_was_between() -> None:
    times = CoreTimes()
    assert times.rows(10 * NS, _look({0: {"user": 5.0, "nice": 1.0, "system": 2.0, "idle": 90.0, "iowait": 3.0}})) == []
    now = _look({0: {"user": 5.25, "nice": 1.05, "system": 2.1, "idle": 90.5, "iowait": 3.1}})
    assert times.rows(11 * NS + 345_678, now) == [(11 * NS, 0, 1000, 300, 100, None, None, None, 600)]


def test_other_signals_are_passed_over() -> None:
    times = CoreTimes()
    noise = [
        Sample("host_cpus", 4.0),
        Sample("cpu_time_seconds", 1.0, ("all", "user")),
        Sample("cpu_time_seconds", 1.0, ("0",)),
        Sample("other", 1.0, ("0", "user")),
    ]
    assert times.rows(NS, noise) == []
    assert times.rows(2 * NS, _look({0: {"user": 1.0}})) == []
    assert times.rows(3 * NS, noise) == []
    assert times.rows(4 * NS, _look({0: {"user": 1.5}})) == [(4 * NS, 0, 2000, 500, *[None] * 5)]


def test_a_core_that_goes_offline_and_comes_back() -> None:
    times = CoreTimes()
    both = {0: {"idle": 1.0}, 1: {"idle": 1.0}}
    times.rows(1 * NS, _look(both))
    assert [row[1] for row in times.rows(2 * NS, _look({0: {"idle": 2.0}}))] == [0]
    assert [row[1] for row in times.rows(3 * NS, _look({0: {"idle": 3.0}, 1: {"idle": 1.2}}))] == [0]
    back = times.rows(4 * NS, _look({0: {"idle": 4.0}, 1: {"idle": 2.2}}))
    assert [(row[1], row[-1]) for row in back] == [(0, 1000), (1, 1000)]


def test_small_steps_back_are_jitter_and_large_ones_a_core_that_counts_anew() -> None:
    times = CoreTimes()
    times.rows(1 * NS, _look({0: {"idle": 100.0, "system": 5.0}}))
    assert times.rows(2 * NS, _look({0: {"idle": 99.95, "system": 6.0}})) == [
        (2 * NS, 0, 1000, None, 1000, None, None, None, 0)
    ]
    assert times.rows(3 * NS, _look({0: {"idle": 0.5, "system": 0.1}})) == []
    assert times.rows(4 * NS, _look({0: {"idle": 1.4, "system": 0.2}})) == [
        (4 * NS, 0, 1000, None, 100, None, None, None, 900)
    ]


def test_a_core_that_counted_nothing_has_no_row() -> None:
    """It would look like one that was never idle."""
    times = CoreTimes()
    times.rows(1 * NS, _look({0: {"idle": 100.0, "user": 1.0}}))
    assert times.rows(2 * NS, _look({0: {"idle": 100.0, "user": 1.0}})) == []
    assert times.rows(3 * NS, _look({0: {"idle": 99.95, "user": 1.0}})) == []


def test_a_long_pause_and_a_clock_that_steps_back_say_nothing() -> None:
    times = CoreTimes()
    times.rows(10 * NS, _look({0: {"idle": 1.0}}))
    assert times.rows(16 * NS, _look({0: {"idle": 7.0}})) == []
    assert times.rows(15 * NS, _look({0: {"idle": 8.0}})) == []
    assert times.rows(15 * NS, _look({0: {"idle": 8.5}})) == []
    assert times.rows(16 * NS, _look({0: {"idle": 9.5}}))[0][-1] == 1000
