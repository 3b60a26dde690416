"""Hashes of many spans of words at once, and a table from hash to index; both without a Python loop per item.

A span's hash is a polynomial over its mixed words, modulo 2**64. Prefix sums over the whole block give every
span's hash with two look-ups, wherever it starts: the sum is divided by the power that its position put in. The
factor is odd, so that division is a multiplication by the inverse.
"""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.native import Table, loops

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]

FACTOR = 0x9E3779B97F4A7C15 | 5  # 5 modulo 8: the powers of no other odd number differ for longer
_INVERSE = pow(FACTOR, -1, 1 << 64)
# Blocks are rarely longer; one table then serves all.
_USUAL_BITS = 18
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SPREAD = np.uint64(0x94D049BB133111EB)


def mix(words: U64s) -> U64s:
    """Spread every bit of each word over the word."""
    mixed = words * _MIX
    mixed ^= mixed >> np.uint64(29)
    mixed *= _SPREAD
    mixed ^= mixed >> np.uint64(32)
    return mixed


@lru_cache(maxsize=1)
def _powers(length: int) -> tuple[U64s, U64s]:
    """The powers of the factor and of its inverse."""
    both = []
    for base in (FACTOR, _INVERSE):
        steps = np.full(length, base, np.uint64)
        steps[0] = 1
        both.append(np.multiply.accumulate(steps))
    return both[0], both[1]


class SpanHasher:
    """Hashes of spans of one block of words; the block is read when the first hash is asked for.

    `mixed`: the words are well spread already.
    """

    def __init__(self, words: U64s, mixed: bool = False) -> None:
        self._words = words
        self._mixed = mixed
        self._sums: U64s | None = None
        self._inverse: U64s = words

    def spans(self, start: I64s, end: I64s) -> U64s:
        """The hash of the words from start to end of each span; equal words give equal hashes in any block."""
        prefix = self._prefix_sums() if self._sums is None else self._sums
        sums: U64s = (prefix[end] - prefix[start]) * self._inverse[start]
        # Length matters: words that mix to zero add nothing.
        sums ^= (end - start).astype(np.uint64) * _SPREAD
        return sums

    def _prefix_sums(self) -> U64s:
        count = self._words.size
        powers, self._inverse = _powers(1 << max(_USUAL_BITS, int(count).bit_length()))
        self._sums = np.empty(count + 1, np.uint64)
        self._sums[0] = 0
        words = self._words if self._mixed else mix(self._words)
        np.cumsum(words * powers[:count], out=self._sums[1:])
        return self._sums


class HashIndex:
    """Numbers 0, 1, 2, ... for 64-bit keys, in no promised order. Grows; `clear` forgets.

    Open addressing with one probe of all keys per round. The slot of a key depends on a random factor, so that no
    recording can be made whose keys all meet in one slot.
    """

    def __init__(self, slots: int = 1 << 12) -> None:
        self._salt = np.uint64(int.from_bytes(os.urandom(8), "little") | 1)
        self._reset(slots)
        self._least = slots

    def __len__(self) -> int:
        return self._count

    @property
    def table(self) -> Table:
        """The table as C sees it, until the next `add` or `clear`."""
        return Table(self._key, self._number, self._mask, int(self._shift), int(self._salt))

    def clear(self) -> None:
        """Forget everything and give the memory back."""
        self._reset(self._least)

    def find(self, keys: U64s) -> NDArray[np.int32]:
        """The number of each key, -1 for keys never added."""
        native = loops()
        if native is not None:
            return native.find(self.table, keys)
        slots = self._slots(keys)
        found = self._number.take(slots)
        # Nearly all keys sit in their first slot, or nobody does: only the others are looked at again.
        rest = np.flatnonzero((self._key.take(slots) != keys) & (found >= 0))
        slots = slots[rest]
        while rest.size:
            slots = (slots + 1) & self._mask
            number = self._number[slots]
            found[rest] = number
            astray = (self._key[slots] != keys[rest]) & (number >= 0)
            rest, slots = rest[astray], slots[astray]
        return found

    def add(self, keys: U64s) -> tuple[NDArray[np.int32], I64s]:
        """The number of each key, and the positions in `keys` whose key was new (one each, in order of number)."""
        if loops() is not None:
            return self.add_unknown(keys)
        found = self.find(keys)
        rest = np.flatnonzero(found < 0)
        if not rest.size:
            return found, rest
        found[rest], fresh = self.add_unknown(keys[rest])
        return found, rest[fresh]

    def add_unknown(self, keys: U64s) -> tuple[NDArray[np.int32], I64s]:
        """Like `add`, faster for keys of which hardly any is known."""
        while (self._count + keys.size) * 2 > self._key.size:
            self._grow()
        native = loops()
        if native is not None:
            found, new = native.add(self.table, keys, self._count)
            self._count += new.size
            return found, new
        slots = self._slots(keys)
        fresh = [self._claim(keys, np.flatnonzero(self._number.take(slots) < 0), slots)]
        found = self._number.take(slots)
        rest = np.flatnonzero(self._key.take(slots) != keys)
        while rest.size:
            slots[rest] = (slots[rest] + 1) & self._mask
            fresh.append(self._claim(keys, rest[self._number[slots[rest]] < 0], slots))
            here = slots[rest]
            found[rest] = self._number[here]
            rest = rest[self._key[here] != keys[rest]]
        return found, np.concatenate(fresh)

    def _claim(self, keys: U64s, who: I64s, slots: I64s) -> I64s:
        """Of several that want one free slot the first gets it, as in C: written last; the others find it taken, or
        theirs."""
        wanted = slots[who]
        self._number[wanted[::-1]] = who[::-1]
        winners = np.flatnonzero(self._number.take(wanted) == who)
        mine, taken = who[winners], wanted[winners]
        self._key[taken] = keys[mine]
        self._number[taken] = np.arange(self._count, self._count + mine.size)
        self._count += mine.size
        return mine

    def _slots(self, keys: U64s) -> I64s:
        slots = keys * self._salt
        slots >>= self._shift
        return slots.view(np.int64)

    def _reset(self, slots: int) -> None:
        self._key = np.zeros(slots, np.uint64)
        self._number = np.full(slots, -1, np.int32)
        self._mask = slots - 1
        self._shift = np.uint64(64 - slots.bit_length() + 1)
        self._count = 0

    def _grow(self) -> None:
        used = np.flatnonzero(self._number >= 0)
        keys, numbers = self._key[used], self._number[used]
        self._reset(self._key.size * 2)
        slots = self._slots(keys)
        while keys.size:
            # Whoever is written last keeps a slot that several want; the others go on.
            free = self._number[slots] < 0
            mine = slots[free]
            self._key[mine], self._number[mine] = keys[free], numbers[free]
            settled = self._number[slots] == numbers
            keys, numbers = keys[~settled], numbers[~settled]
            slots = (slots[~settled] + 1) & self._mask
        self._count = used.size
