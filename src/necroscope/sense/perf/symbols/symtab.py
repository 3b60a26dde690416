"""A sorted table of symbols: addresses to names, many at once. A name is read when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.symbols.demangle import demangle

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
Names = Callable[[int], bytes]
"""The name at a place, as it is written there."""

_PAGE = np.uint64(4096)
_NAME_LIMIT = 4096
_LONGEST = np.uint64(16 << 20)
_ALIASES = 16
_LOOKED_AT = 64
_END = np.uint64((1 << 64) - 1)


class SymbolTable:
    """Symbols by address. Built from columns in any order; of several at one address the best is named.

    The best is, as `perf` sees it: one with a size, not weak, global, with fewer underscores, with the longer name.
    A symbol without a size reaches to the next one, so that of several without the last one in the file has it.
    Only the places of names are kept. `names` must be able to read them for as long as the table lives.
    """

    def __init__(self, start: U64s, size: U64s, name_at: I64s, rank: NDArray[np.int8], names: Names) -> None:
        self._names = names
        order = np.argsort(start, kind="stable")
        worst = rank
        first = np.append(True, start[order[1:]] != start[order[:-1]])[: start.size]
        if not first.all():
            last = np.append(first[1:], True)
            worst = rank.copy()
            worst[order] += np.where((size[order] == 0) & ~last, np.int8(8), np.int8(0))
            order = np.lexsort((worst, start))
        self._group = np.append(np.flatnonzero(first), start.size).astype(np.uint32)
        self._name_at, self._worst = name_at[order], worst[order]
        best = order[self._group[:-1]]
        self.start = start[best]
        self._reach = _reach(self.start, size[best])
        self.numbers: object = None

    def __len__(self) -> int:
        return int(self.start.size)

    @property
    def nbytes(self) -> int:
        """Memory that the columns take."""
        return sum(column.nbytes for column in (self.start, self._reach, self._group, self._name_at, self._worst))

    def find(self, addresses: U64s) -> I64s:
        """The symbol that each address lies in, -1 for none."""
        if not self.start.size:
            return np.full(addresses.size, -1, np.int64)
        place = np.searchsorted(self.start, addresses, side="right") - 1
        return np.where((place >= 0) & (addresses - self.start[place] < self._reach[place]), place, -1)

    def span(self, address: int) -> tuple[int, int, int]:
        """Where what lies at an address begins and ends, and which symbol that is; -1 for a stretch without one."""
        place = int(np.searchsorted(self.start, np.uint64(address), side="right")) - 1
        begin = int(self.start[place]) if place >= 0 else 0
        end = int(self.start[place + 1]) if place + 1 < self.start.size else int(_END)
        reach = min(end, begin + int(self._reach[place])) if place >= 0 else begin
        return (begin, reach, place) if address < reach else (reach, end, -1)

    def readable(self, place: int) -> str:
        """A symbol's name as people want it."""
        return demangle(self.name(place))

    def name(self, place: int) -> str:
        """A symbol's name as it is written in the file."""
        low, high = int(self._group[place]), min(int(self._group[place + 1]), int(self._group[place]) + _LOOKED_AT)
        alike = [one for one in range(low, high) if self._worst[one] == self._worst[low]][:_ALIASES]
        found = [self._names(int(self._name_at[one])) for one in alike]
        return min(found, key=_awkward)[:_NAME_LIMIT].decode("utf-8", "replace")


def ended(data: bytes, end: bytes) -> Names:
    """Names that lie in memory, each up to `end`."""

    def name(place: int) -> bytes:
        found = data.find(end, place, place + _NAME_LIMIT)
        return data[place : found if found >= 0 else place + _NAME_LIMIT]

    return name


def _awkward(name: bytes) -> tuple[int, int]:
    """Underscores a name starts with, at most four; then the shorter one."""
    return min(4, len(name) - len(name.lstrip(b"_"))), -len(name)


def _reach(start: U64s, size: U64s) -> NDArray[np.uint32]:
    """How far each symbol reaches: its size, or to the next one."""
    if not start.size:
        return np.zeros(0, np.uint32)
    to_next = np.append(start[1:] - start[:-1], _PAGE)
    # Nothing is that long: behind it lies a hole, not more of it.
    to_next = np.where(to_next > _LONGEST, _PAGE, to_next)
    return np.minimum(np.where(size == 0, to_next, size), np.uint64(0xFFFFFFFF)).astype(np.uint32)
