"""When perf reads its rings and when that is taken, at any moment of a second."""

from __future__ import annotations

import pytest

from necroscope.clock import NS
from necroscope.sense.perf.launch.rounds import leave_record, until_pass_s, until_take_s

MS = 1_000_000


@pytest.mark.parametrize(
    ("at_ms", "passes_in_ms", "taken_in_ms"),
    [(0, 700, 820), (699, 1, 121), (700, 100, 120), (799, 1, 21), (800, 900, 20), (810, 890, 20), (999, 701, 20)],
)
def test_two_passes_then_one_take(at_ms: int, passes_in_ms: int, taken_in_ms: int) -> None:
    now_ns = 1_700_000_000 * NS + at_ms * MS
    assert until_pass_s(now_ns) * 1000 == pytest.approx(passes_in_ms)
    assert until_take_s(now_ns) * 1000 == pytest.approx(taken_in_ms)


def test_the_record_that_is_left_changes_nothing() -> None:
    def name() -> str:
        with open("/proc/thread-self/comm") as file:
            return file.read()

    before = name()
    leave_record()
    assert name() == before
