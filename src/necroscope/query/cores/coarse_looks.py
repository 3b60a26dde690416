"""Coarse looks at the cores: intervals of sysstat, ten minutes by default, of which only averages are known.

Where somebody looked more closely, that counts; of a coarse look only the time remains about which nobody else tells.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

I64s = NDArray[np.int64]
_MS_NS = 1_000_000
# A look that lies this much after the one before leaves a hole; less of a coarse look is not worth a row.
_HOLE_NS = 300 * _MS_NS
_LEAST_NS = 1000 * _MS_NS


class Looked:
    """The times that looks cover, by core: disjoint, in order."""

    def __init__(self) -> None:
        self._begins: dict[int, list[int]] = {}
        self._ends: dict[int, list[int]] = {}

    def add_looks(self, begin_ns: I64s, at_ns: I64s, cpu: NDArray[np.int32]) -> None:
        """Many looks, in any order."""
        order = np.lexsort((begin_ns, cpu))
        begin_ns, at_ns, cpu = begin_ns[order], at_ns[order], cpu[order]
        if not order.size:
            return
        first = np.flatnonzero(
            np.concatenate(([True], (np.diff(cpu) != 0) | (begin_ns[1:] - at_ns[:-1] > _HOLE_NS))),
        )
        ends = np.maximum.reduceat(at_ns, first)
        for core, low, high in zip(cpu[first].tolist(), begin_ns[first].tolist(), ends.tolist(), strict=True):
            self.add(core, low, high)

    def add(self, cpu: int, low: int, high: int) -> None:
        """One time of a core."""
        begins, ends = self._begins.setdefault(cpu, []), self._ends.setdefault(cpu, [])
        first, after = bisect_left(ends, low), bisect_right(begins, high)
        if first < after:
            low, high = min(low, begins[first]), max(high, ends[after - 1])
        begins[first:after], ends[first:after] = [low], [high]

    def holes(self, cpu: int, low: int, high: int) -> Iterator[tuple[int, int]]:
        """The parts of a time that no counter covers."""
        begins, ends = self._begins.get(cpu, []), self._ends.get(cpu, [])
        at = bisect_right(ends, low)
        while at < len(begins) and begins[at] < high:
            if begins[at] > low:
                yield low, begins[at]
            low = ends[at]
            at += 1
        if low < high:
            yield low, high


def left_over(at_ns: I64s, cpu: NDArray[np.int32], passed_ms: I64s, looked: Looked) -> tuple[I64s, I64s, I64s]:
    """What is left of coarse looks: the number of the look, from and to. Shorter ones count more; `looked` grows."""
    rows: list[tuple[int, int, int]] = []
    order = np.argsort(passed_ms, kind="stable").tolist()
    begin_ns = at_ns - passed_ms * _MS_NS
    for row in order:
        core, low, high = int(cpu[row]), int(begin_ns[row]), int(at_ns[row])
        rows += [(row, *hole) for hole in looked.holes(core, low, high) if hole[1] - hole[0] >= _LEAST_NS]
        looked.add(core, low, high)
    found = np.array(rows, np.int64).reshape(-1, 3)
    return found[:, 0], found[:, 1], found[:, 2]
