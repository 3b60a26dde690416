"""Values as places among the different ones: both ways of doing it say the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.query import numbering
from necroscope.query.numbering import numbered


@pytest.mark.parametrize("values", [[3, 1, 3, 2], [0], [], [-5, 7, -5], [1 << 40, 2, 1 << 40]])
def test_each_value_is_found_at_its_place(values: list[int]) -> None:
    given_values = np.array(values, np.int64)
    different, place = numbered(given_values)
    assert different.tolist() == sorted(set(values))
    assert different[place].tolist() == values if values else place.size == 0


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=200))
def test_small_numbers_are_numbered_as_large_ones(values: list[int]) -> None:
    small = numbered(np.array(values, np.int64))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "_SMALL", 0)
        large = numbered(np.array(values, np.int64))
    assert [one.tolist() for one in small] == [one.tolist() for one in large]
