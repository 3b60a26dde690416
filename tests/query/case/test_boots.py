"""Growth since each boot."""

from __future__ import annotations

from necroscope.clock import NS
from necroscope.query.case.boots import boots_of
from necroscope.vocabulary.case import Boot

HOUR = 3600 * NS


def test_each_boot_with_its_first_symptom() -> None:
    looks = [(hour * HOUR, 100 * hour) for hour in range(10)]
    looks += [(hour * HOUR, 50 * (hour - 10)) for hour in range(10, 15)]
    first, second = boots_of(looks, [10 * HOUR - 1], [7 * HOUR + 5, 8 * HOUR])
    assert first == Boot(0, (0, 0), (9 * HOUR, 900), 700, 7 * HOUR + 5)
    assert first.per_hour == 100
    assert second == Boot(10 * HOUR - 1, (10 * HOUR, 0), (14 * HOUR, 200), None, None)


def test_a_boot_before_the_first_count_is_none() -> None:
    assert len(boots_of([(5, 1), (6, 2)], [1, 2], [])) == 1


def test_no_counts_no_boots() -> None:
    assert boots_of([], [5], [6]) == ()
