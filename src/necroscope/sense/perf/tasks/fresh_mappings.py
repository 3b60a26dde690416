"""The mappings of one flush, sorted by process and rank: what a process got since the last flush, up to any instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.format.sideband import Mappings

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
_LOW = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class FreshMappings:
    """`table` has rows of start, end, offset, file; `keys` their process and rank; `spans` where each process's are."""

    keys: U64s
    table: U64s
    spans: dict[int, tuple[int, int]]

    @staticmethod
    def none() -> FreshMappings:
        """No mappings at all."""
        return FreshMappings(np.zeros(0, np.uint64), np.zeros((0, 4), np.uint64), {})

    @staticmethod
    def of(maps: Mappings | None, ranks: I64s) -> FreshMappings:
        """Mappings in any order, each with its rank."""
        if maps is None or not len(maps):
            return FreshMappings.none()
        keys = (maps.pid.astype(np.uint64) << np.uint64(32)) | ranks.astype(np.uint64)
        order = np.argsort(keys)
        columns = (maps.start, maps.end, maps.offset, maps.file.astype(np.uint64))
        table = np.stack([column[order] for column in columns], axis=1)
        pids = maps.pid[order]
        first = np.flatnonzero(np.concatenate([[True], pids[1:] != pids[:-1]]))
        ends = np.append(first[1:], pids.size)
        spans = dict(zip(pids[first].tolist(), zip(first.tolist(), ends.tolist(), strict=True), strict=True))
        return FreshMappings(keys[order], table, spans)

    def rows_and_ranks(self, pid: int, after: int) -> tuple[U64s, I64s]:
        """A process's rows with a later rank, and their ranks."""
        low, high = self.spans.get(pid, (0, 0))
        ranks = (self.keys[low:high] & np.uint64(_LOW)).astype(np.int64)
        first = int(np.searchsorted(ranks, after, side="right"))
        return self.table[low + first : high], ranks[first:]

    def rows(self, pid: int, after: int, up_to: int) -> U64s:
        """A process's rows with after < rank <= up_to."""
        low, high = self.spans.get(pid, (0, 0))
        if low == high:
            return self.table[:0]
        bounds = np.array([pid << 32 | after, pid << 32 | up_to], np.uint64)
        first, last = np.searchsorted(self.keys[low:high], bounds, side="right").tolist()
        return self.table[low + first : low + last]
