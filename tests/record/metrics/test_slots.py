"""Counters with a bounded number of label values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from necroscope.record.metrics.slots import STILL_S, Rising, Slots, largest
from necroscope.show.metrics.metric import Series


def test_the_first_have_series_of_their_own_and_the_rest_share_one() -> None:
    slots = Slots(2)
    for name, amount in (("a", 1), ("b", 2), ("c", 4), ("d", 8), ("a", 16)):
        slots.add((name,), amount, 0.0)
    assert list(slots.series()) == [Series(("a",), 17), Series(("b",), 2), Series(("other",), 12)]


def test_one_that_stood_still_for_an_hour_gives_its_place_up() -> None:
    slots = Slots(1)
    slots.add(("a",), 3, 0.0)
    slots.add(("b",), 5, STILL_S - 1)
    assert list(slots.series()) == [Series(("a",), 3), Series(("other",), 5)]
    slots.add(("b",), 5, STILL_S + 1)
    assert list(slots.series()) == [Series(("b",), 5), Series(("other",), 8)]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(0, 4000))))
def test_nothing_is_lost_and_there_are_never_more(steps: list[tuple[int, int, int]]) -> None:
    slots, now_s = Slots(4), 0.0
    for name, amount, later_s in steps:
        now_s += later_s
        slots.add((str(name),), amount, now_s)
        assert len(list(slots.series())) <= 5
    assert sum(one.value for one in slots.series()) == sum(amount for _, amount, _ in steps)


def test_counters_of_the_kernel_start_at_zero_and_may_begin_anew() -> None:
    rising = Rising()
    assert [rising.by("a", (), value) for value in (1000.0, 1003.0, 1003.0, 2.0, 5.0)] == [0.0, 3.0, 0.0, 2.0, 3.0]


def test_the_largest_of_some_gauges() -> None:
    values = {(str(number),): float(number) for number in range(5)}
    assert largest(values, 2) == [Series(("4",), 4.0), Series(("3",), 3.0), Series(("other",), 3.0)]
    assert largest(values, 5)[-1] == Series(("0",), 0.0)
    assert largest({}, 5) == []
