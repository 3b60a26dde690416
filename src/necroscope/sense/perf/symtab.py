"""A sorted table of symbols: addresses to names, many at once. Names stay bytes until somebody asks for one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
_PAGE = np.uint64(4096)
_NAME_LIMIT = 4096
_LONGEST = np.uint64(16 << 20)


class SymbolTable:
    """Symbols by address. Built from columns in any order; of several at one address the best stays.

    The best is, as `perf` sees it: one with a size, not weak, global, with fewer underscores, with the longer name.
    A symbol without a size reaches to the next one, so that of several without the last one in the file has it.
    """

    def __init__(
        self, start: U64s, size: U64s, name_at: I64s, name_length: I64s, rank: NDArray[np.int8], text: bytes
    ) -> None:
        self._text = text
        order = np.argsort(start, kind="stable")
        other = start[order[1:]] != start[order[:-1]]
        kept = order
        if not other.all():
            last = np.append(other, True)
            sizeless = np.empty(start.size, np.bool_)
            sizeless[order] = (size[order] == 0) & ~last
            octets = np.frombuffer(text, np.uint8)
            worst = rank.astype(np.int64) * 8 + np.where(sizeless, 64, 0) + _underscores(octets, name_at)
            order = np.lexsort((-name_length, worst, start))
            kept = order[np.append(True, start[order[1:]] != start[order[:-1]])]
        self.start = start[kept]
        self._name_at, self._name_length = name_at[kept], name_length[kept]
        self._end = _ends(self.start, size[kept])

    def __len__(self) -> int:
        return int(self.start.size)

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return len(self._text) + 32 * len(self)

    def find(self, addresses: U64s) -> I64s:
        """The symbol that each address lies in, -1 for none."""
        if not self.start.size:
            return np.full(addresses.size, -1, np.int64)
        place = np.searchsorted(self.start, addresses, side="right") - 1
        return np.where((place >= 0) & (addresses < self._end[place]), place, -1)

    def name(self, place: int) -> str:
        """A symbol's name as it is written in the file."""
        at = int(self._name_at[place])
        return self._text[at : at + min(int(self._name_length[place]), _NAME_LIMIT)].decode("utf-8", "replace")


def _underscores(octets: NDArray[np.uint8], name_at: I64s) -> I64s:
    """Underscores a name starts with, at most four."""
    count = np.zeros(name_at.size, np.int64)
    still = np.ones(name_at.size, np.bool_)
    for step in range(4):
        still = still & (octets[np.minimum(name_at + step, octets.size - 1)] == ord("_")) if octets.size else still
        count += still
    return count


def _ends(start: U64s, size: U64s) -> U64s:
    if not start.size:
        return start
    following = np.append(start[1:], start[-1] + _PAGE)
    # Nothing is that long: behind it lies a hole, not more of it.
    following = np.where(following - start > _LONGEST, start + _PAGE, following)
    return np.where(size == 0, following, start + size)
