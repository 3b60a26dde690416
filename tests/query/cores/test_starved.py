"""Cores with next to no idle time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.query.cores.core_time import CoreTime
from necroscope.query.cores.starved import from_samples, full_parts, mean_busy, runs, within
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.model import MODES
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


# -- the same, core by core and look by look ----------------------------------------------------------------------


def _one_by_one(times: CoreTime, busy: float, seconds: float, kernel: float, interrupts: float) -> list[Run]:
    """What `runs` finds, as it can be read: each core for itself, each look for itself."""
    found: list[Run] = []
    for cpu in sorted(set(times.cpu.tolist())):
        found += _of_core(times.of(frozenset({cpu})), cpu, busy, seconds, kernel, interrupts)
    return sorted(found, key=lambda run: (run.from_ns, run.cpu))


def _of_core(times: CoreTime, cpu: int, busy: float, seconds: float, kernel: float, interrupts: float) -> list[Run]:
    total = np.maximum(1, times.spent.sum(axis=1))
    used = 1.0 - times.spent[:, MODES.index("idle")] / total
    inside = times.spent[:, [MODES.index(mode) for mode in ("system", "irq", "softirq")]].sum(axis=1) / total
    called = times.spent[:, [MODES.index(mode) for mode in ("irq", "softirq")]].sum(axis=1) / total
    full, nearly = (
        (used >= busy - less) & (inside >= kernel - less) & (called >= interrupts - less) for less in (0.0, 0.07)
    )
    for look in np.flatnonzero(times.coarse).tolist():
        full[look] &= (1.0 - used[look]) * times.whole_ms[look] <= 100.0
        nearly[look] = full[look]
    full = [
        one or (n and full[at - 1] and full[(at + 1) % len(full)])
        for at, (one, n) in enumerate(zip(full, nearly, strict=True))
    ]
    found, at = [], 0
    while at < len(full):
        end = at
        while end < len(full) and nearly[end] and (end == at or not _hole(times, end)):
            end += 1
        for low, high in full_parts(full[at:end], (used[at:end] - busy).tolist()):
            spent = times.spent[at + low : at + high].sum(axis=0)
            shares = tuple(float(one) for one in spent / max(1, int(spent.sum())))
            run = Run(cpu, int(times.begin_ns[at + low]), int(times.at_ns[at + high - 1]), shares)
            found += [run] if run.seconds >= seconds - 0.05 else []
        at = max(end, at + 1)
    return found


def _hole(times: CoreTime, look: int) -> bool:
    return bool(times.begin_ns[look] - times.at_ns[look - 1] > 300_000_000)


@st.composite
def _looked(draw: st.DrawFn) -> CoreTime:
    """Cores looked at every second or so, with holes, coarse looks and looks that tell nothing, in order of time."""
    rows: list[tuple[int, int, int, tuple[int, ...]]] = []
    kinds = st.sampled_from([IDLE, KERNEL, KERNEL, USER, USER, NEARLY, THROTTLED, (100, 20, 10, 690, 0, 180), (0,) * 6])
    for cpu in draw(st.sets(st.integers(0, 40), min_size=1, max_size=4)):
        at_ns = START_NS + draw(st.integers(0, NS))
        for spent in draw(st.lists(kinds, max_size=14)):
            passed_ms = draw(st.sampled_from([1000, 1000, 1000, 997, 1040, 600_000]))
            at_ns += passed_ms * 1_000_000 + draw(st.sampled_from([0, 0, 0, 3_000_000, 300_000_001, 5 * NS]))
            rows.append((at_ns, cpu, passed_ms, tuple(one * passed_ms // 1000 for one in spent)))
    rows.sort(key=lambda row: row[0])
    at, cpus, passed, spents = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    spent_ms = np.array(spents, np.int64).reshape(-1, len(MODES))
    return CoreTime(np.array(at, np.int64), np.array(cpus, np.int32), np.array(passed, np.int64), spent_ms)


@settings(max_examples=400)
@given(
    _looked(),
    st.sampled_from([(0.97, 2.0, 0.0, 0.0), (0.97, 2.0, 0.75, 0.0), (0.8, 3.0, 0.0, 0.5), (0.9, 0.5, 0.0, 0.0)]),
)
def test_all_cores_at_once_are_each_core_for_itself(times: CoreTime, asked: tuple[float, float, float, float]) -> None:
    assert runs(times, *asked) == _one_by_one(times, *asked)


@pytest.mark.parametrize(
    ("above", "parts"),
    [
        ([5, -4, 5], [(0, 3)]),
        ([5, -4, -4, 5], [(0, 4)]),
        ([5, -4, -4, -4, 5], [(0, 2), (3, 5)]),
        ([-9, 5, -9], [(1, 2)]),
        ([-4, -4], []),
    ],
)
def test_parts_are_full_on_average(above: list[float], parts: list[tuple[int, int]]) -> None:
    assert full_parts([one > 0 for one in above], above) == parts
