"""Who costs a child is left alone, longer each time; nobody pays for another."""

from __future__ import annotations

from necroscope.sense.confined.back_off import BURST_S, RATE, BackOff
from necroscope.sense.confined.fair_queue import MOST_OF_ONE, FairQueue


def test_the_door_stays_closed_longer_each_time() -> None:
    door = BackOff()
    assert not door.closed(1, 0.0)
    assert [door.fault(1, 100.0 * turn) for turn in range(3)] == [10.0, 20.0, 40.0]
    assert door.closed(1, 239.0)
    assert not door.closed(1, 241.0)
    assert not door.closed(2, 201.0)
    assert door.fault(1, 10_000.0) == 10.0


def test_no_door_is_closed_for_more_than_ten_minutes() -> None:
    door = BackOff()
    assert [door.fault(1, float(turn)) for turn in range(40)][-1] == 600.0


def test_time_is_given_back_slowly() -> None:
    door = BackOff()
    door.charge(1, 0.0, BURST_S + 1)
    assert door.spent(1, 1.0)
    assert not door.spent(2, 1.0)
    assert not door.spent(1, 2.0 + 1 / RATE)


def test_tenants_take_turns_and_have_bounded_room() -> None:
    waiting: FairQueue[str] = FairQueue()
    assert [waiting.put(1, f"a{n}") for n in range(MOST_OF_ONE + 1)][-2:] == [True, False]
    assert waiting.put(2, "b0")
    assert [waiting.take(0.0) for _ in range(3)] == [(1, "a0"), (2, "b0"), (1, "a1")]
    waiting.close()
    assert waiting.take(5.0) is None
