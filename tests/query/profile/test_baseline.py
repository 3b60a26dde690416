"""What is normal: windows away from symptoms."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.query.profile.baseline import AFTER_NS, BEFORE_NS, WITHIN_NS, baselines, spread

HOUR = 3600 * NS
TIMES = st.integers(0, 4 * HOUR)


@given(TIMES, st.integers(1, 600 * NS), TIMES, st.integers(0, 4 * HOUR), st.lists(TIMES, max_size=12))
def test_they_are_like_the_window_and_away_from_every_symptom(
    begin: int, length: int, first: int, recorded: int, symptoms: list[int]
) -> None:
    window, whole = (begin, begin + length - 1), (first, first + recorded)
    found = baselines(window, [whole], symptoms)
    assert len(found) <= 24
    assert found == sorted(set(found))
    for low, high in found:
        assert high - low + 1 == length
        assert whole[0] <= low
        assert high <= whole[1]
        assert window[0] - WITHIN_NS <= low
        assert high <= window[1] + WITHIN_NS
        assert high < window[0] or low > window[1]
        assert not any(low <= at + 2 * NS and high >= at - 8 * NS for at in symptoms)
    assert all(one[1] < other[0] for one, other in pairwise(found))


@given(
    st.tuples(st.integers(0, 50), st.integers(0, 300)),
    st.lists(st.tuples(st.integers(-20, 320), st.integers(0, 40)), max_size=5),
    st.integers(1, 30),
    st.integers(1, 12),
)
def test_as_many_as_fit_between_what_is_bad(
    whole: tuple[int, int], bad: list[tuple[int, int]], length: int, most: int
) -> None:
    left_out = [(low, low + more) for low, more in bad]
    good = [place for place in range(whole[0], whole[1] + 1) if not any(low <= place <= high for low, high in left_out)]
    stretches = [0]
    for before, place in pairwise([whole[0] - 2, *good]):
        stretches = [*stretches[:-1], stretches[-1] + 1] if place == before + 1 else [*stretches, 1]
    found = spread([whole], left_out, length, most)
    assert len(found) == min(most, sum(stretch // length for stretch in stretches))
    assert all(set(range(low, high + 1)) <= set(good) and high - low + 1 == length for low, high in found)


def test_they_are_spread_evenly() -> None:
    window = (HOUR, HOUR + 5 * NS - 1)
    found = baselines(window, [(0, 2 * HOUR)], [])
    assert len(found) == 24
    assert sum(high < window[0] for _, high in found) in (12, 13)
    assert found[0][0] == 0
    gaps = [other[0] - one[0] for one, other in pairwise(found)]
    assert max(gaps) < 2 * min(gaps)


def test_an_instant_has_baselines_too() -> None:
    assert len(baselines((HOUR, HOUR), [(0, 2 * HOUR)], [])) == 24


def test_what_lies_right_beside_the_window_is_left_out() -> None:
    window = (100 * NS, 105 * NS - 1)
    found = baselines(window, [(80 * NS, 130 * NS)], [])
    assert found == [
        (80 * NS, 85 * NS - 1),
        (85 * NS, 90 * NS - 1),
        (90 * NS, 95 * NS - 1),
        (110 * NS, 115 * NS - 1),
        (115 * NS, 120 * NS - 1),
        (120 * NS, 125 * NS - 1),
        (125 * NS, 130 * NS - 1),
    ]


def test_windows_near_a_symptom_serve_only_where_nothing_else_is_left() -> None:
    window, at = (100 * NS, 105 * NS - 1), 106 * NS
    for low, high in baselines(window, [(0, 600 * NS)], [at]):
        assert high < at - BEFORE_NS or low > at + AFTER_NS
    short = baselines(window, [(70 * NS, 110 * NS)], [at])
    assert short == [(70 * NS, 75 * NS - 1), (75 * NS, 80 * NS - 1), (80 * NS, 85 * NS - 1)]


def test_nothing_is_normal_when_all_is_a_symptom() -> None:
    assert baselines((100 * NS, 105 * NS), [(80 * NS, 130 * NS)], [at * NS for at in range(80, 130, 9)]) == []
    assert baselines((100 * NS, 105 * NS), [(99 * NS, 106 * NS)], []) == []


def test_none_lies_in_a_hole_of_the_recording() -> None:
    window = (100 * NS, 105 * NS - 1)
    found = baselines(window, [(0, 10 * NS - 1), (60 * NS, 120 * NS - 1)], [])
    assert found[:3] == [(0, 5 * NS - 1), (5 * NS, 10 * NS - 1), (60 * NS, 65 * NS - 1)]
    assert len(found) == 2 + 7 + 2
    assert baselines(window, [(0, 3 * NS), (98 * NS, 106 * NS)], []) == []
