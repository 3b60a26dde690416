"""How well it is shown that somebody leaks: by what was seen, by names, and what takes away from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.leak.alignment import Alignment
from necroscope.diagnose.leak.attribution import Leak
from necroscope.diagnose.leak.strength import strength
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.model import Subject

LEAK = Leak("zombies", Subject("unit", "a.service"), 0, 0, 0, None, 0.0, (), ())
ALIGNED = Alignment(leaks=9, restarts=9, matched=9, expected=1.0, chance=0.001, near_s=0.2)


def test_nothing_shows_nothing() -> None:
    assert strength(LEAK, 0) == 0.0


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (PRIORS.leak_least_seen - 1, 0.0),
        (PRIORS.leak_least_seen, PRIORS.leak_seen_few),
        (PRIORS.leak_several, PRIORS.leak_seen),
    ],
)
def test_what_was_seen_counts_from_a_few_on(seen: int, expected: float) -> None:
    assert strength(replace(LEAK, seen=seen), seen) == expected


def test_at_the_same_times_as_restarts_is_more_than_seen_and_by_chance_is_not() -> None:
    seen = replace(LEAK, seen=9)
    assert strength(replace(seen, alignment=ALIGNED), 9) == PRIORS.leak_aligned
    assert strength(replace(seen, alignment=replace(ALIGNED, chance=0.4)), 9) == PRIORS.leak_seen


def test_a_minority_of_what_was_left_and_a_small_share_of_what_is_there_take_away() -> None:
    seen = replace(LEAK, seen=9)
    assert strength(seen, 100) == pytest.approx(PRIORS.leak_seen * PRIORS.leak_minority)
    assert strength(replace(seen, share=0.1), 9) == pytest.approx(PRIORS.leak_seen * PRIORS.leak_small_share)
    assert strength(replace(seen, share=0.9), 9) == PRIORS.leak_seen


def test_names_count_and_one_per_restart_counts_more() -> None:
    assert strength(replace(LEAK, named=1), 0) == PRIORS.leak_named_few
    assert strength(replace(LEAK, named=50), 0) == PRIORS.leak_named
    assert strength(replace(LEAK, named=50, one_per_restart=True), 0) == PRIORS.leak_counted


def test_the_better_of_both_counts_and_a_doubt_takes_away() -> None:
    both = replace(LEAK, named=50, seen=9)
    assert strength(both, 9) == PRIORS.leak_seen
    assert strength(replace(both, doubt="only its path names it"), 9) == pytest.approx(
        PRIORS.leak_seen * PRIORS.leak_unknown_unit
    )
