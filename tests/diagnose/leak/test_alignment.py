"""Whether restarts and leaks belong together."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.diagnose.leak.alignment import align

SPAN = (0, 3600 * NS)


def _moments(seed: int, number: int) -> list[int]:
    chooser = random.Random(seed)
    return sorted(chooser.randrange(*SPAN) for _ in range(number))


def test_a_leak_at_every_restart() -> None:
    restarts = _moments(1, 40)
    found = align([one + NS // 5 for one in restarts], restarts, SPAN)
    assert found.holds
    assert found.share == 1.0
    assert found.expected < 10
    assert found.chance < 0.01


def test_restarts_of_somebody_else_do_not_align() -> None:
    for seed in range(20):
        found = align(_moments(seed, 40), _moments(100 + seed, 40), SPAN)
        assert not found.holds


def test_shuffled_restarts_do_not_align() -> None:
    leaks = _moments(3, 60)
    gaps = [after - before for before, after in pairwise(leaks)]
    random.Random(5).shuffle(gaps)
    shuffled = [leaks[0] + sum(gaps[:number]) for number in range(len(gaps))]
    assert align(leaks, leaks, SPAN).holds
    assert not align(leaks, shuffled, SPAN).holds


def test_leaks_that_come_all_the_time_are_near_anything() -> None:
    leaks = list(range(0, SPAN[1], NS // 5))
    assert not align(leaks, _moments(7, 10), SPAN).holds


def test_few_prove_nothing() -> None:
    assert not align([NS, 2 * NS], [NS, 2 * NS], SPAN).holds
    assert align([], [1, 2, 3], SPAN).chance == 1.0
    assert align([1, 2, 3], [], SPAN).chance == 1.0


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, SPAN[1]), max_size=30), st.lists(st.integers(0, SPAN[1]), max_size=30))
def test_shares_and_chances_stay_within_bounds(leaks: list[int], restarts: list[int]) -> None:
    found = align(leaks, restarts, SPAN)
    assert 0 <= found.matched <= len(restarts)
    assert 0 <= found.share <= 1
    assert 0 < found.chance <= 1
