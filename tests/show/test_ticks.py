"""Axes have round figures, and not too many of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.show.ticks import number_ticks, time_ticks

MIDNIGHT = 1_767_312_000 * NS  # 2026-01-02


def test_round_times() -> None:
    assert time_ticks(MIDNIGHT + 3 * NS, MIDNIGHT + 33 * NS, 4) == [
        (MIDNIGHT + 10 * NS, "00:00:10"),
        (MIDNIGHT + 20 * NS, "00:00:20"),
        (MIDNIGHT + 30 * NS, "00:00:30"),
    ]
    assert [label for _, label in time_ticks(MIDNIGHT, MIDNIGHT + 12 * 3600 * NS, 5)] == [
        "00:00",
        "03:00",
        "06:00",
        "09:00",
    ]
    assert time_ticks(MIDNIGHT, MIDNIGHT + NS // 5, 3)[1] == (MIDNIGHT + NS // 10, "00:00:00.100")
    assert [label for _, label in time_ticks(MIDNIGHT, MIDNIGHT + 9 * 86_400 * NS, 4)] == ["01-04", "01-07", "01-10"]


@given(st.integers(0, 2**61), st.integers(1, 10**18), st.integers(0, 40))
def test_ticks_lie_inside_and_are_few(from_ns: int, span_ns: int, most: int) -> None:
    ticks = time_ticks(from_ns, from_ns + span_ns, most)
    assert len(ticks) <= most
    assert all(from_ns <= at_ns < from_ns + span_ns for at_ns, _ in ticks)
    assert len({at_ns for at_ns, _ in ticks}) == len(ticks)


def test_round_numbers() -> None:
    assert number_ticks(5.9, 6) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert number_ticks(0.4, 4) == [0.0, 0.1, 0.2, 0.30000000000000004, 0.4]
    assert number_ticks(0.0, 5) == [0.0]
    assert number_ticks(float("nan"), 5) == [0.0]


@given(st.floats(1e-9, 1e9), st.integers(1, 20))
def test_numbers_start_at_zero_and_end_below_the_top(top: float, most: int) -> None:
    ticks = number_ticks(top, most)
    assert ticks[0] == 0.0
    assert ticks[-1] <= top * 1.001
    assert len(ticks) <= most + 2
