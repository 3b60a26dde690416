"""The hash of spans and the table of hashes, against what Python's own do."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.perf.decode.hashing import HashIndex, SpanHasher

words = st.integers(0, 2**64 - 1)


@given(st.lists(st.lists(words, max_size=9), max_size=12), st.lists(words, max_size=5))
def test_equal_spans_have_equal_hashes_wherever_they_are(spans: list[list[int]], before: list[int]) -> None:
    flat = before + [word for span in spans for word in span]
    ends = len(before) + np.cumsum([len(span) for span in spans], dtype=np.int64)
    starts = ends - np.array([len(span) for span in spans], np.int64)
    hashes = SpanHasher(np.array(flat, np.uint64)).spans(starts, ends).tolist()
    assert len(set(hashes)) == len({tuple(span) for span in spans})
    for span, found in zip(spans, hashes, strict=True):
        alone = SpanHasher(np.array(span, np.uint64)).spans(np.array([0]), np.array([len(span)]))
        assert found == int(alone[0])


def test_order_and_length_matter() -> None:
    rows = np.array([1, 2, 2, 1, 0, 0, 0], np.uint64)
    hashes = SpanHasher(rows).spans(np.array([0, 2, 4, 4, 4]), np.array([2, 4, 5, 6, 7]))
    assert len(set(hashes.tolist())) == 5


@given(st.lists(st.lists(st.integers(0, 40) | words, max_size=60), max_size=6))
def test_an_index_numbers_keys_like_a_dict(batches: list[list[int]]) -> None:
    index = HashIndex(4)
    known: dict[int, int] = {}
    for batch in batches:
        keys = np.array(batch, np.uint64)
        assert index.find(keys).tolist() == [known.get(key, -1) for key in batch]
        numbers, fresh = index.add(keys)
        new = [batch[place] for place in fresh.tolist()]
        assert sorted(new) == sorted(set(batch) - set(known))
        known.update({key: len(known) + place for place, key in enumerate(new)})
        assert numbers.tolist() == [known[key] for key in batch]
        assert len(index) == len(known)
    keys = np.array(list(known), np.uint64)
    assert index.add_unknown(keys)[0].tolist() == list(known.values())


def test_cleared_it_starts_over() -> None:
    index = HashIndex()
    index.add(np.arange(100_000, dtype=np.uint64))
    index.clear()
    assert len(index) == 0
    assert index.find(np.array([5], np.uint64)).tolist() == [-1]
    assert index.add(np.array([5], np.uint64))[0].tolist() == [0]
