"""Pooling: six full seconds of half a day do not vanish, and a short burst does not look like them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.query.cores.pooled import columns_in, pooled
from necroscope.query.cores.seconds import FULL, KEPT, UNKNOWN, Seconds


def _seconds(busy: list[int] | np.ndarray) -> Seconds:
    values = np.array(busy, np.uint8)
    return Seconds(1000, (7,), np.tile(values, (len(KEPT), 1, 1)))


def test_six_full_seconds_of_half_a_day_are_told() -> None:
    busy = np.full(43_200, 12, np.uint8)
    busy[20_000:20_006] = FULL
    made = pooled(_seconds(busy), "busy", 29)
    place = 20_000 // 29
    assert int(made.held[0].argmax()) in (place, place + 1)
    assert made.held[0].sum() == 6
    assert made.mean[0].max() < 0.3 * FULL, "by the mean they are a fifth"


def test_scattered_full_seconds_are_no_stretch() -> None:
    made = pooled(_seconds([FULL, 0] * 15), "busy", 30)
    assert (made.held[0, 0], made.peak[0, 0], made.mean[0, 0]) == (1, FULL, 125)


def test_what_is_nearly_full_is_not_full() -> None:
    assert pooled(_seconds([242] * 10), "busy", 10).held[0, 0] == 0
    assert pooled(_seconds([243] * 10), "busy", 10).held[0, 0] == 10


def test_unknown_seconds_end_a_stretch_and_count_for_no_mean() -> None:
    made = pooled(_seconds([FULL, FULL, UNKNOWN, FULL, 0, UNKNOWN]), "busy", 6)
    assert (made.held[0, 0], made.mean[0, 0]) == (2, round(3 * FULL / 4))
    empty = pooled(_seconds([UNKNOWN] * 4), "busy", 2)
    assert (empty.mean == UNKNOWN).all()
    assert (empty.peak == UNKNOWN).all()
    assert not empty.held.any()


def test_the_last_column_may_be_short() -> None:
    made = pooled(_seconds([FULL] * 7), "busy", 3)
    assert made.held[0].tolist() == [3, 3, 1]
    assert made.mean[0].tolist() == [FULL, FULL, FULL]


@given(st.lists(st.sampled_from([0, 100, FULL, UNKNOWN]), min_size=1, max_size=60), st.integers(1, 20))
def test_the_longest_stretch_is_what_counting_finds(values: list[int], column_s: int) -> None:
    made = pooled(_seconds(values), "busy", column_s)
    for column in range(made.columns):
        cells = values[column * column_s : (column + 1) * column_s]
        longest = max(map(len, "".join("x" if one == FULL else " " for one in cells).split()), default=0)
        assert made.held[0, column] == longest


@given(st.integers(0, 10**12), st.integers(1, 86_400 * 20), st.integers(1, 4000))
def test_columns_cover_the_window_on_a_grid_of_their_own(low_s: int, length_s: int, most: int) -> None:
    window = low_s * NS, (low_s + length_s) * NS - 1
    from_s, column_s, count = columns_in(window, most)
    assert from_s % column_s == 0
    assert from_s <= low_s
    assert from_s + column_s * count >= low_s + length_s
    assert count <= most + 1
