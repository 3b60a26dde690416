"""Cores with next to no idle time."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.core_time import CoreTime
from necroscope.query.starved import from_samples, mean_busy, runs, within
from stage.recorded import START_NS

# user, system, irq, softirq, steal, idle: milliseconds of a second
IDLE = (100, 100, 0, 0, 0, 800)
KERNEL = (10, 980, 0, 10, 0, 0)
USER = (990, 10, 0, 0, 0, 0)
NEARLY = (880, 30, 0, 0, 0, 90)
THROTTLED = (900, 60, 0, 0, 0, 40)


def _times(*cores: list[tuple[int, ...]], passed_ms: int = 1000) -> CoreTime:
    rows = [
        (START_NS + (second + 1) * passed_ms * 1_000_000, cpu, spent)
        for cpu, looks in enumerate(cores)
        for second, spent in enumerate(looks)
    ]
    rows.sort(key=lambda row: row[0])
    return CoreTime(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.int32),
        np.full(len(rows), passed_ms, np.int64),
        np.array([row[2] for row in rows], np.int64),
    )


def test_a_run_is_one_core_busy_in_every_look() -> None:
    found = runs(_times([IDLE] * 3 + [KERNEL] * 4 + [IDLE], [IDLE] * 8), 0.97, 2.0)
    assert [(one.cpu, one.from_ns - START_NS, one.seconds) for one in found] == [(0, 3 * NS, 4.0)]
    assert found[0].share("system") == pytest.approx(0.98)
    assert found[0].kernel == pytest.approx(0.99)
    assert found[0].overlaps((START_NS, START_NS + 3 * NS))
    assert not found[0].overlaps((START_NS, START_NS + 3 * NS - 1))


def test_one_second_is_no_run() -> None:
    assert runs(_times([IDLE, KERNEL, IDLE, KERNEL, IDLE]), 0.97, 2.0) == []


def test_nearly_busy_between_two_busy_looks_goes_on() -> None:
    assert [one.seconds for one in runs(_times([USER, NEARLY, USER, IDLE, NEARLY]), 0.97, 2.0)] == [3.0]


def test_the_part_in_the_kernel_is_found_in_a_longer_run() -> None:
    times = _times([USER] * 3 + [KERNEL] * 4 + [USER] * 3)
    assert [one.seconds for one in runs(times, 0.97, 2.0)] == [10.0]
    assert [(one.from_ns - START_NS, one.seconds) for one in runs(times, 0.97, 2.0, kernel=0.75)] == [(3 * NS, 4.0)]


def test_a_hole_ends_a_run() -> None:
    times = _times([KERNEL] * 6)
    holed = CoreTime(*(column[[0, 1, 4, 5]] for column in (times.at_ns, times.cpu, times.passed_ms, times.spent)))
    assert [one.seconds for one in runs(holed, 0.97, 2.0)] == [2.0, 2.0]


def test_a_part_of_a_run_has_what_the_core_did_in_it() -> None:
    times = _times([USER] * 4 + [KERNEL] * 4)
    whole = runs(times, 0.97, 2.0)[0]
    part = within(times, whole, (START_NS + 4 * NS, START_NS + 20 * NS))
    assert (part.from_ns, part.to_ns) == (START_NS + 4 * NS, whole.to_ns)
    assert part.kernel == pytest.approx(0.99)


def test_runs_by_samples_alone() -> None:
    busy = {10: (0.99, 0.9), 11: (1.0, 1.0), 12: (0.2, 0.1), 13: (1.0, 0.0)}
    found = from_samples({3: busy, 4: {10: (0.5, 0.5)}}, 0.9, 2)
    assert [(one.cpu, one.from_ns, one.to_ns, one.counted) for one in found] == [(3, 10 * NS, 12 * NS - 1, False)]
    assert found[0].kernel == pytest.approx(1.9 / 1.99)


def test_the_average_hides_it() -> None:
    times = _times([KERNEL] * 4, [IDLE] * 4)
    assert mean_busy(times, (START_NS, START_NS + 4 * NS - 1)) == pytest.approx(0.6)
    assert mean_busy(times, (START_NS + 50 * NS, START_NS + 60 * NS)) is None


def test_interrupts_that_leave_a_little_idle_time() -> None:
    called = (100, 20, 10, 690, 0, 180)
    times = _times([IDLE] * 3 + [called] * 5 + [IDLE], [USER] * 9)
    found = runs(times, 0.8, 3.0, interrupts=0.5)
    assert [(one.cpu, one.seconds) for one in found] == [(0, 5.0)]
    assert found[0].busy == pytest.approx(0.82)


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        # Real-time priority: throttled for a twentieth of each second once the others have nothing left to do.
        ([IDLE, *[USER] * 3, *[THROTTLED] * 3, IDLE], [(1, 6.0)]),
        ([IDLE, *[THROTTLED] * 2, *[USER] * 3, IDLE], [(1, 5.0)]),
        # Nearly busy for long is another thing than full: one such look is as far as the average goes.
        ([*[NEARLY] * 9, *[USER] * 3, *[NEARLY] * 9], [(9, 4.0)]),
        ([*[USER] * 3, *[THROTTLED] * 9, *[USER] * 3], [(0, 15.0)]),
        ([THROTTLED] * 9, []),
    ],
)
def test_not_quite_full_looks_belong_to_a_run_that_is_full_on_average(
    looks: list[tuple[int, ...]], expected: list[tuple[int, float]]
) -> None:
    found = runs(_times(looks), 0.97, 2.0)
    assert [((one.from_ns - START_NS) // NS, one.seconds) for one in found] == expected
    assert all(one.busy >= 0.97 for one in found)
