"""Columns of heat maps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.query.cores.grid import columns_of


@given(st.integers(0, 10**12), st.integers(0, 10**13), st.integers(1, 300))
def test_columns_cover_the_window_and_are_not_too_many(begin: int, length: int, most: int) -> None:
    window = (begin, begin + length)
    from_ns, column_ns, columns = columns_of(window, most)
    assert 1 <= columns <= most
    assert from_ns % NS == 0
    assert column_ns % NS == 0
    assert from_ns <= window[0] < from_ns + NS
    assert from_ns + columns * column_ns > window[1]
    assert from_ns + (columns - 1) * column_ns <= window[1]


def test_a_minute_in_sixty_columns() -> None:
    assert columns_of((120 * NS, 180 * NS - 1), 80) == (120 * NS, NS, 60)
    assert columns_of((120 * NS, 180 * NS - 1), 30) == (120 * NS, 2 * NS, 30)
    assert columns_of((120 * NS + 5, 180 * NS + 5), 60) == (120 * NS, 2 * NS, 31)
