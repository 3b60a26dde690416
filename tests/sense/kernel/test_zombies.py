from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.kernel.zombies import Ticks, first_tick, ticks


@given(st.sampled_from((100, 250, 300, 1000)), st.floats(1, 280) | st.floats(320, 1e9))
def test_the_kernels_hz_is_the_one_that_agrees_with_the_uptime(hz: int, uptime_s: float) -> None:
    now = first_tick(hz) + int(uptime_s * hz)
    assert ticks(now, uptime_s) == Ticks(now, hz)


@given(st.sampled_from((100, 250, 300, 1000)), st.floats(280, 320))
def test_five_minutes_after_boot_it_is_right_or_unknown(hz: int, uptime_s: float) -> None:
    now = first_tick(hz) + int(uptime_s * hz)
    assert ticks(now, uptime_s) in (Ticks(now, hz), None)
    assert ticks(first_tick(hz) + 300 * hz, 300.0) is None


def test_no_hz_agrees() -> None:
    assert ticks(5, 1000.0) is None


@pytest.mark.parametrize(("born", "age"), [(9_000, 1.0), (10_000, 0.0), (10_001, None), (0, None)])
def test_ages(born: int, age: float | None) -> None:
    start = first_tick(1000)
    assert Ticks(start + 10_000, 1000).age_s(start + born if born else 0) == age
