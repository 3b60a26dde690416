"""Where records start. Each header holds its record's size, so the walk is sequential: one short loop, headers only.

    u32 type | u16 misc | u16 size, header included

Everything else about the records is then read by NumPy, all records of a block at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.native import loops
from necroscope.sense.perf.format.layout import HEADER_BYTES, Type

FINISHED_ROUND = b"\x44\x00\x00\x00\x00\x00\x08\x00"


@dataclass(frozen=True, slots=True)
class Block:
    """Records of the kernel's own types and ends of rounds, whole, one after the other, from the first word on.

    `words` are the bytes as 64-bit numbers; `start` is the word each record starts at, `size` its length in words.
    """

    words: NDArray[np.uint64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    type: NDArray[np.uint32]
    misc: NDArray[np.uint16]

    def of_type(self, *types: int) -> NDArray[np.int64]:
        """Positions of the records of these types."""
        wanted = self.type == types[0]
        for other in types[1:]:
            wanted |= self.type == other
        return np.flatnonzero(wanted)


def only(block: Block, at: NDArray[np.int64]) -> Block:
    """A block of nothing but these records."""
    size = block.size[at]
    ends = np.cumsum(size)
    words = block.words[spans(block.start[at], size)]
    return Block(words, ends - size, size, block.type[at], block.misc[at])


def joined(blocks: list[Block]) -> Block:
    """The records of all blocks in one."""
    if len(blocks) == 1:
        return blocks[0]
    ends = np.cumsum([block.words.size for block in blocks])
    return Block(
        np.concatenate([block.words for block in blocks]),
        np.concatenate(
            [block.start + end - block.words.size for block, end in zip(blocks, ends.tolist(), strict=True)]
        ),
        np.concatenate([block.size for block in blocks]),
        np.concatenate([block.type for block in blocks]),
        np.concatenate([block.misc for block in blocks]),
    )


def spans(start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions start, start + 1, ... of all spans, one after the other."""
    ends = np.cumsum(length)
    total = int(ends[-1]) if ends.size else 0
    steps = np.repeat(start - ends + length, length)
    steps += np.arange(total)
    return steps


def walk(data: memoryview, limit: int) -> tuple[Block, int]:
    """The block of kernel records that `data` starts with, and how many bytes it takes.

    The block ends before a record that perf itself wrote (those have rules of their own; the end of a round has none),
    before one that is not wholly there, before a size no record can have, and after about `limit` bytes.
    """
    words = np.frombuffer(data[: len(data) & ~7], np.uint64)
    end = min(words.size, limit >> 3)
    native = loops()
    start, size, kind, misc = _records(words, end) if native is None else native.walk(words, end)
    used = int(start[-1] + size[-1]) if start.size else 0
    return Block(words[:used], start, size, kind, misc), used * 8


def _records(
    words: NDArray[np.uint64], end: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint16]]:
    """Start, size, type and misc of each record."""
    start = _starts(words, end)
    head = words[start]
    size = (head >> np.uint64(48)).astype(np.int64)
    kind = head.astype(np.uint32)
    bad = (kind >= Type.USER_START) & (kind != Type.FINISHED_ROUND)
    bad |= (size < HEADER_BYTES) | ((size & 7) != 0) | (start * 8 + size > words.nbytes)
    count = int(np.argmax(bad)) if bad.any() else start.size
    misc = (head[:count] >> np.uint64(32)).astype(np.uint16)
    return start[:count], size[:count] >> 3, kind[:count], misc


def _starts(words: NDArray[np.uint64], end: int) -> NDArray[np.int64]:
    """The words that records start at: guessed all at once, then proven from the first one on.

    A word that looks like a header (a type the kernel writes, a size that can be) nearly always is one, and then the
    next such word lies where its record ends. Where it does not, it lies inside the record and is passed over.
    """
    low = words.view(np.uint32)[0 : 2 * end : 2]
    likely: NDArray[np.int64] = np.flatnonzero(low - np.uint32(1) < np.uint32(Type.FINISHED_ROUND))
    size = (words[likely] >> np.uint64(48)).astype(np.int64)
    headers = (size >= HEADER_BYTES) & ((size & 7) == 0)
    likely, size = likely[headers], size[headers] >> 3
    if not likely.size or likely[0] != 0:
        return likely[:0]
    after = likely + size
    odd = np.flatnonzero(after[:-1] != likely[1:]).tolist()
    return likely if not odd else likely[_proven(likely, after, odd)]


def _proven(likely: NDArray[np.int64], after: NDArray[np.int64], odd: list[int]) -> NDArray[np.bool_]:
    """Which guesses are records, given those whose end is not the next guess. The walk ends where nothing fits."""
    proven = np.zeros(likely.size, np.bool_)
    first = 0
    for place in odd:
        if place < first:  # itself inside a record
            continue
        proven[first : place + 1] = True
        first = int(np.searchsorted(likely, after[place]))
        if first == likely.size or likely[first] != after[place]:
            return proven
    proven[first:] = True
    return proven
