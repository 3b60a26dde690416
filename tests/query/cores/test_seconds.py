"""Seconds of cores as bytes: no holes where looks are early or late, and unknown is never idle."""

from __future__ import annotations

import numpy as np

from necroscope.clock import NS
from necroscope.query.cores.core_time import CoreTime
from necroscope.query.cores.seconds import FULL, KEPT, UNKNOWN, Seconds, joined, seconds_of

AT_S = 1_767_323_045


def _times(rows: list[tuple[float, int, int, int]]) -> CoreTime:
    """Rows of (seconds after the start, core, milliseconds passed, milliseconds idle); the rest is in the kernel."""
    at_ns = np.array([AT_S * NS + round(at * NS) for at, *_ in rows], np.int64)
    spent = np.array([[0, passed - idle, 0, 0, 0, idle] for _, _, passed, idle in rows], np.int64).reshape(-1, 6)
    passed = np.array([one for *_, one, _ in rows], np.int64)
    return CoreTime(at_ns, np.array([cpu for _, cpu, *_ in rows], np.int32), passed, spent)


def test_looks_that_drift_leave_no_hole() -> None:
    rows = [(1.02 * number, 3, 1020, 1020) for number in range(1, 200)]
    busy = seconds_of(_times(rows), AT_S, 200).of("busy")
    assert (busy[0, 1:200] == 0).all()


def test_a_second_that_nobody_looked_at_is_unknown() -> None:
    rows = [(1.0, 0, 1000, 500), (2.0, 0, 1000, 0), (5.0, 0, 1000, 1000)]
    made = seconds_of(_times(rows), AT_S, 6)
    assert made.of("busy")[0].tolist() == [125, FULL, UNKNOWN, UNKNOWN, 0, UNKNOWN]
    assert made.of("idle")[0].tolist() == [125, 0, UNKNOWN, UNKNOWN, FULL, UNKNOWN]
    assert made.of("system")[0, 1] == FULL
    assert made.of("user")[0, 1] == 0


def test_a_coarse_look_tells_of_all_its_seconds() -> None:
    made = seconds_of(_times([(60.0, 1, 60_000, 30_000)]), AT_S, 61)
    assert (made.of("busy")[0, :60] == 125).all()
    assert made.of("busy")[0, 60] == UNKNOWN


def test_rows_beyond_the_stretch_are_left_out() -> None:
    made = seconds_of(_times([(-4.0, 0, 1000, 0), (9.0, 0, 1000, 0)]), AT_S, 5)
    assert (made.of("busy") == UNKNOWN).all()
    assert seconds_of(_times([]), AT_S, 5).cpus == ()


def test_parts_of_different_cores_are_joined() -> None:
    one = Seconds(AT_S, (0, 2), np.full((len(KEPT), 2, 4), 10, np.uint8))
    other = Seconds(AT_S + 4, (2, 5), np.full((len(KEPT), 2, 4), 20, np.uint8))
    made = joined([one, other], AT_S + 2, 8)
    assert made.cpus == (0, 2, 5)
    assert made.of("busy")[:, 0].tolist() == [10, 10, UNKNOWN]
    assert made.of("busy")[:, 2].tolist() == [UNKNOWN, 20, 20]
    assert (made.of("busy")[:, 6:] == UNKNOWN).all()
