"""What is known of a file's symbols, range by range: named, nameless, and not asked for yet."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.perf.symbols.ranges import NAMELESS, NOT_KNOWN, KnownRanges


def _find(known: KnownRanges, *places: int) -> list[int]:
    return known.find(np.array(places, np.uint64)).tolist()


def test_nothing_is_known_at_first() -> None:
    assert _find(KnownRanges(), 0, 5) == [NOT_KNOWN, NOT_KNOWN]


def test_a_place_is_in_the_range_that_holds_it_and_its_end_is_outside() -> None:
    known = KnownRanges()
    known.add(((10, 20, "a"), (20, 30, None), (40, 50, "b")))
    assert _find(known, 9, 10, 19, 20, 29, 30, 39, 40, 50) == [
        NOT_KNOWN, 0, 0, NAMELESS, NAMELESS, NOT_KNOWN, NOT_KNOWN, 2, NOT_KNOWN,
    ]  # fmt: skip
    assert (known.readable(0), known.readable(1), known.readable(2)) == ("a", "", "b")


def test_what_overlaps_is_left_out_and_memory_is_counted() -> None:
    known = KnownRanges()
    known.add(((10, 20, "first"),))
    before = known.nbytes
    known.add(((15, 25, "second"), (25, 26, "third")))
    assert len(known) == 2
    assert [known.readable(place) for place in _find(known, 12, 25)] == ["first", "third"]
    assert _find(known, 21) == [NOT_KNOWN]
    assert known.nbytes > before


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9), st.sampled_from(["a", "b", None])), max_size=12))
def test_ranges_never_overlap_and_no_named_place_is_lost(asked: list[tuple[int, int, str | None]]) -> None:
    known = KnownRanges()
    for start, length, name in asked:
        known.add(((start, start + length, name),))
    starts, ends = known._start.tolist(), known._end.tolist()
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    if asked:
        assert NOT_KNOWN not in _find(known, asked[0][0])
