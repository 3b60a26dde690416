"""What is known so far of one file's symbols: stretches of it with their names, as samples asked for them."""

from __future__ import annotations

from bisect import bisect

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.confined.messages import Range

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
NAMELESS, NOT_KNOWN = -1, -2
_ROW_BYTES = 80


class KnownRanges:
    """Sorted, without overlaps."""

    def __init__(self) -> None:
        self._start: U64s = np.zeros(0, np.uint64)
        self._end: U64s = np.zeros(0, np.uint64)
        self._names: list[str | None] = []
        self.numbers: object = None
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._names)

    def find(self, places: U64s) -> I64s:
        """The range of each place; `NAMELESS` where there is no symbol, `NOT_KNOWN` where nobody has asked yet."""
        if not self._names:
            return np.full(places.size, NOT_KNOWN, np.int64)
        found = np.searchsorted(self._start, places, side="right") - 1
        inside = (found >= 0) & (places < self._end[found])
        named = np.array([name is not None for name in self._names])
        return np.where(inside, np.where(named[found], found, NAMELESS), NOT_KNOWN)

    def readable(self, place: int) -> str:
        """The name of a range."""
        return self._names[place] or ""

    def add(self, ranges: tuple[Range, ...]) -> None:
        """Take in an answer; what overlaps something known is left out."""
        kept: list[Range] = list(zip(self._start.tolist(), self._end.tolist(), self._names, strict=True))
        for one in ranges:
            place = bisect(kept, one[0], key=lambda part: part[0])
            if (not place or kept[place - 1][1] <= one[0]) and (place == len(kept) or one[1] <= kept[place][0]):
                kept.insert(place, one)
        self._start = np.array([one[0] for one in kept], np.uint64)
        self._end = np.array([one[1] for one in kept], np.uint64)
        self._names = [one[2] for one in kept]
        self.nbytes = sum(_ROW_BYTES + 2 * len(name or "") for name in self._names)
        self.numbers = None
