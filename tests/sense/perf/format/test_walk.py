"""Where records start, against a walk header by header."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from necroscope.sense.perf.format.layout import Type
from necroscope.sense.perf.format.walk import only, walk

# Payload words that look like headers of small records are what makes guessing hard.
word = st.integers(0, 2**64 - 1) | st.builds(
    lambda kind, size: kind | size << 48, st.integers(1, 70), st.integers(0, 64)
)
kinds = st.integers(1, 63) | st.just(Type.FINISHED_ROUND)
records = st.lists(st.tuples(kinds, st.lists(word, max_size=6)), max_size=20)


def encode(parts: list[tuple[int, list[int]]]) -> bytes:
    return b"".join(
        struct.pack("<IHH", kind, 0, 8 + 8 * len(payload)) + struct.pack(f"<{len(payload)}Q", *payload)
        for kind, payload in parts
    )


def starts(data: bytes) -> list[int]:
    """One header after the other, as long as they are the kernel's and whole."""
    found, at = [], 0
    while at + 8 <= len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if size < 8 or size % 8 or at + size > len(data) or not (0 < kind < 64 or kind == Type.FINISHED_ROUND):
            break
        found.append(at // 8)
        at += size
    return found


@given(records, st.integers(0, 40))
def test_a_walk_finds_every_record(parts: list[tuple[int, list[int]]], cut: int) -> None:
    data = encode(parts)
    data = data[: max(0, len(data) - cut)]
    block, used = walk(memoryview(data), 1 << 20)
    assert block.start.tolist() == starts(data)
    assert used == sum(block.size.tolist()) * 8


@given(st.binary(max_size=400))
@example(bytes(64))
@example(b"\x09\0\0\0\0\0\x00\x00" * 4)
def test_garbage_is_walked_as_far_as_it_makes_sense(data: bytes) -> None:
    block, used = walk(memoryview(data), 1 << 20)
    assert block.start.tolist() == starts(data)
    assert used <= len(data)


def test_perfs_own_records_end_a_block() -> None:
    data = encode([(9, [1]), (Type.FINISHED_ROUND, []), (Type.HEADER_ATTR, [2]), (9, [3])])
    block, used = walk(memoryview(data), 1 << 20)
    assert (block.type.tolist(), used) == ([9, Type.FINISHED_ROUND], 24)


def test_a_limit_is_kept_but_for_the_last_record() -> None:
    data = encode([(9, [1, 2, 3])] * 100)
    block, used = walk(memoryview(data), 320)
    assert (block.start.size, used) == (10, 320)


def test_some_records_of_a_block_are_a_block() -> None:
    block, _ = walk(memoryview(encode([(9, [1]), (3, [5, 6]), (9, [2]), (7, [8])])), 1 << 20)
    rest = only(block, np.array([1, 3]))
    assert (rest.type.tolist(), rest.start.tolist(), rest.size.tolist()) == ([3, 7], [0, 3], [3, 2])
    assert rest.words[[1, 2, 4]].tolist() == [5, 6, 8]
