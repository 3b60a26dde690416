"""Paths of cgroups by the id that samples carry (`--all-cgroups`).

perf tells of each cgroup when it is made, and samples name a handful of them. So records are kept as they came, and
only the path of a cgroup that a sample names becomes text. Nobody drives out what is in use by making cgroups by the
thousand: what samples have named stays, and so do the records that came first, those of the cgroups that were there
when perf began. Of all later ones the latest are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.interning import Names
from necroscope.sense.perf.format.walk import Block, joined

NAMED_MOST = 1 << 16
FIRST_MOST, LATEST_MOST = 1 << 15, 1 << 15
_TOGETHER = 4096
_HEADER_WORDS, _ID_WORDS = 1, 1
_LONGEST = 4096

U64s = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class _Records:
    """Records of some cgroups as they came, and their ids."""

    ids: U64s
    block: Block

    def path(self, cgroup: int) -> str | None:
        """The latest path of a cgroup; None when none is known."""
        found = np.flatnonzero(self.ids == np.uint64(cgroup))
        if not found.size:
            return None
        begin = int(self.block.start[found[-1]])
        words = self.block.words[begin + _HEADER_WORDS + _ID_WORDS : begin + int(self.block.size[found[-1]])]
        return words.tobytes()[:_LONGEST].partition(b"\0")[0].decode("utf-8", "replace")


class CgroupPaths:
    """Takes records in, and tells the number of a cgroup's path in `names`; 0 is unknown."""

    def __init__(self, first_most: int = FIRST_MOST, latest_most: int = LATEST_MOST) -> None:
        self.names = Names("")
        self._first_most, self._latest_most = first_most, latest_most
        self._number: OrderedDict[int, int] = OrderedDict()
        self._first: list[_Records] = []
        self._latest: list[_Records] = []

    def add(self, records: Block) -> None:
        """Records of cgroups, in the order they came; those too short to hold an id are left out by the caller."""
        if not records.start.size:
            return
        part = _Records(records.words[records.start + _HEADER_WORDS], records)
        # An id that comes again stands for another path, on kernels that use ids again.
        named = np.fromiter(self._number, np.uint64, len(self._number))
        for one in named[np.isin(named, part.ids)].tolist():
            del self._number[one]
        if _count(self._first) < self._first_most:
            _append(self._first, part)
        else:
            _append(self._latest, part)
            while len(self._latest) > 1 and _count(self._latest) > self._latest_most:
                del self._latest[0]

    def numbers(self, cgroups: U64s) -> NDArray[np.int32]:
        """The number of each id's path."""
        distinct, inverse = np.unique(cgroups, return_inverse=True)
        found = np.array([self._of(one) for one in distinct.tolist()], np.int32)[inverse]
        while len(self._number) > NAMED_MOST:
            self._number.popitem(last=False)
        if self.names.full and len(self.names) > 2 * len(self._number):
            self._renumber()
            return self.numbers(cgroups)
        return found

    def _of(self, cgroup: int) -> int:
        number = self._number.get(cgroup)
        if number is None:
            paths = (
                path for part in (self._latest, self._first) for one in reversed(part) if (path := one.path(cgroup))
            )
            path = next(paths, None)
            if path is None:
                return 0
            number = self._number[cgroup] = self.names.number(path)
        self._number.move_to_end(cgroup)
        return number

    def _renumber(self) -> None:
        numbers = self.names.keep(self._number.values())
        for one, number in self._number.items():
            self._number[one] = numbers[number]


def _count(parts: list[_Records]) -> int:
    return sum(one.ids.size for one in parts)


def _append(parts: list[_Records], part: _Records) -> None:
    """Small parts grow together: a path is looked for in a few dozen of them."""
    if parts and parts[-1].ids.size < _TOGETHER:
        last = parts.pop()
        part = _Records(np.concatenate([last.ids, part.ids]), joined([last.block, part.block]))
    parts.append(part)
