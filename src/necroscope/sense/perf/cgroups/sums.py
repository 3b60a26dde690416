"""Sums over cgroups that came and went, by parent, a second at a time.

The parent is found for all records at once: their paths become rows of a table of bytes, everything from the last
slash on is blanked, and equal rows are one parent. Only the parents that are reported become text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.cgroups.columns import MKDIR, RELEASE, RMDIR, CgroupColumns
from necroscope.sense.perf.decode.hashing import mix
from necroscope.sense.perf.decode.native import loops
from necroscope.sense.perf.format.columns import RawRows
from necroscope.sense.perf.rows import CgroupSum

EVERY_NS = 10**9
PARENTS_MOST = 8
PARENTS_KEPT = 256
EXAMPLES = 3
# A longer path counts for the parent of its first part.
PATH_MOST = 256
_AT_ONCE = 8192
_SLASH = ord("/")
_SPREAD = mix(np.arange(1, PATH_MOST // 8 + 2, dtype=np.uint64)) | np.uint64(1)

I64s = NDArray[np.int64]
U64s = NDArray[np.uint64]
Mask = NDArray[np.bool_]


@dataclass(slots=True)
class _Sum:
    """One parent's counts, while they grow: made, removed, released."""

    from_ns: int
    until_ns: int
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, np.int64))
    whole: int = 0
    examples: list[str] = field(default_factory=list)
    pid: int = -1


class CgroupSums:
    """Adds up, and hands out the sums of a second when it is over."""

    def __init__(self) -> None:
        self._sums: dict[tuple[int, str], _Sum] = {}
        self._since_ns = 0

    def add(self, columns: CgroupColumns, rows: RawRows, at: I64s, now_ns: int) -> None:
        """Records that are not kept one by one."""
        self._add_all(columns, rows, at, now_ns)

    def add_whole(self, columns: CgroupColumns, rows: RawRows, at: I64s, made: Mask, now_ns: int) -> None:
        """Removals of cgroups that were released as well: nothing is left of them. `made`: it was seen to be made."""
        self._add_all(columns, rows, at, now_ns, made)

    def _add_all(self, columns: CgroupColumns, rows: RawRows, at: I64s, now_ns: int, made: Mask | None = None) -> None:
        if not at.size:
            return
        self._since_ns = self._since_ns or now_ns
        for first in range(0, at.size, _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            self._add(columns, rows, at[part], made[part] if made is not None else None)

    def take(self, now_ns: int) -> tuple[CgroupSum, ...]:
        """The sums, when a second has passed since the first of them; those of the most records first."""
        if not self._sums or now_ns - self._since_ns < EVERY_NS:
            return ()
        ranked = sorted(self._sums.items(), key=lambda one: (-int(one[1].counts.sum()), one[0]))
        self._sums, self._since_ns = {}, 0
        rows = [_row(root, parent, one) for (root, parent), one in ranked[:PARENTS_MOST]]
        if others := [one for _, one in ranked[PARENTS_MOST:]]:
            rows.append(_row(ranked[PARENTS_MOST][0][0], "", _together(others)))
        return tuple(rows)

    def _add(self, columns: CgroupColumns, rows: RawRows, at: I64s, made: Mask | None) -> None:
        parents, ends = _parents(rows.data, columns, at)
        keys = (parents * np.uint64(3)) ^ columns.root[at].astype(np.uint64)
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        sizes = np.bincount(place)
        ranked = np.argsort(-sizes)
        for number in ranked[:PARENTS_KEPT].tolist():
            lead = int(first[number])
            parent = _text(rows.data, int(columns.path_at[at[lead]]), int(ends[lead]))
            mine = np.flatnonzero(place == number) if sizes.size > 1 else np.arange(at.size)
            self._grow((int(columns.root[at[lead]]), parent or "/"), columns, rows, at, mine, made)
        if sizes.size > PARENTS_KEPT:
            rest = np.flatnonzero(np.isin(place, ranked[PARENTS_KEPT:]))
            self._grow((int(columns.root[at[0]]), ""), columns, rows, at, rest, made)

    def _grow(
        self, key: tuple[int, str], columns: CgroupColumns, rows: RawRows, at: I64s, mine: I64s, made: Mask | None
    ) -> None:
        if key not in self._sums and len(self._sums) >= PARENTS_KEPT:
            key = (key[0], "")
        own = at[mine]
        low, high = int(columns.time[own].min()), int(columns.time[own].max())
        one = self._sums.setdefault(key, _Sum(low, high))
        one.from_ns, one.until_ns = min(one.from_ns, low), max(one.until_ns, high)
        if made is None:
            one.counts += np.bincount(columns.kind[own], minlength=3)[:3]
        else:
            one.counts += np.array([np.count_nonzero(made[mine]), own.size, own.size])
            one.whole += own.size
        for row in own[:: max(1, own.size // EXAMPLES)][: EXAMPLES - len(one.examples)].tolist():
            one.examples.append(_text(rows.data, int(columns.path_at[row]), int(columns.path_size[row])))
        if one.pid < 0 and (acted := own[columns.kind[own] != RELEASE]).size:
            pids, times = np.unique(columns.pid[acted], return_counts=True)
            one.pid = int(pids[np.argmax(times)].view(np.int32))


def _parents(data: U64s, columns: CgroupColumns, at: I64s) -> tuple[U64s, I64s]:
    """A number for the parent of each path, and the length of its text."""
    begin, length = columns.path_at[at], np.minimum(columns.path_size[at], PATH_MOST - 8)
    native = loops()
    if native is not None:
        return native.parents(data.view(np.uint8), begin, length, int(_SPREAD[0]))
    lead = begin & 7
    words = int((lead + length).max() + 7) >> 3
    where = (begin >> 3)[:, None] + np.arange(max(words, 1))
    table = data[np.minimum(where, data.size - 1)]
    octets = table.view(np.uint8)
    column = np.arange(octets.shape[1])
    inside = (column >= lead[:, None]) & (column < (lead + length)[:, None])
    slash = (octets == _SLASH) & inside
    last = np.where(slash.any(axis=1), octets.shape[1] - 1 - np.argmax(slash[:, ::-1], axis=1), lead)
    octets *= inside & (column < last[:, None])
    # Where the path begins within its word is the same for all records of one layout; of others it counts as another.
    hashed = (table * _SPREAD[: table.shape[1]]).sum(axis=1, dtype=np.uint64)
    return hashed ^ (hashed >> np.uint64(29)), last - lead


def _text(data: U64s, begin: int, length: int) -> str:
    raw = data.view(np.uint8)[begin : begin + length].tobytes()
    return raw.partition(b"\0")[0].decode("utf-8", "replace")


def _together(sums: list[_Sum]) -> _Sum:
    total = _Sum(min(one.from_ns for one in sums), max(one.until_ns for one in sums))
    for one in sums:
        total.counts += one.counts
        total.whole += one.whole
        total.examples += one.examples[: EXAMPLES - len(total.examples)]
    return total


def _row(root: int, parent: str, one: _Sum) -> CgroupSum:
    made, removed, released = (int(one.counts[kind]) for kind in (MKDIR, RMDIR, RELEASE))
    return CgroupSum(
        one.from_ns, one.until_ns, root, parent, made, removed, released, one.whole, tuple(one.examples), one.pid
    )
