"""Cgroups that come and go by the thousand: which are recorded one by one, and which only as sums.

Whoever may make cgroups could otherwise fill the store and take a core of ours. Single records are paid for from a
budget: `BUDGET` of them at once, `REFILL_PER_S` for each second. While it is enough, all is recorded; in a storm:

- a cgroup that was removed and released again within moments left nothing behind: it goes into a sum;
- one that was not is recorded, after `HOLD_NS`, as long as the budget lasts, evenly over all of them: who leaks within
  a storm is still seen, record by record;
- a cgroup whose creation was recorded is recorded to its end, removal and release, and never halfway.

Everything here is done on columns; a record becomes an object of Python only when it is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.cgroups.columns import ATTACH, MKDIR, RELEASE, RMDIR, CgroupColumns
from necroscope.sense.perf.cgroups.sums import CgroupSums
from necroscope.sense.perf.decode.hashing import HashIndex
from necroscope.sense.perf.format.columns import RawRows
from necroscope.sense.perf.format.tables import joined
from necroscope.sense.perf.format.tracepoints import Format
from necroscope.sense.perf.rows import CgroupSum

BUDGET = 10_000
REFILL_PER_S = 200
HOLD_NS = 2 * 10**9
KEYS_KEPT = 1 << 16
HELD_MOST = 1 << 16
MOVES_MOST = 2_000
SAMPLES_OF_A_PROCESS, SAMPLES_MOST = 2, 200

U64s = NDArray[np.uint64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sorted:
    """`single`: records that are kept one by one; `sums` of the rest, complete. In a storm only
    some samples of tracepoints are kept."""

    single: RawRows | None
    sums: tuple[CgroupSum, ...] = ()
    storm: bool = False


@dataclass(slots=True)
class _Keys:
    """Cgroups for which something was decided, sorted. Numbers of cgroups rise: of too many, the oldest are dropped."""

    values: U64s = field(default_factory=lambda: np.zeros(0, np.uint64))

    def add(self, keys: U64s) -> None:
        if keys.size:
            self.values = np.union1d(self.values, keys)[-KEYS_KEPT:]

    def forget(self, keys: U64s) -> None:
        if keys.size and self.values.size:
            self.values = self.values[~np.isin(self.values, keys)]

    def has(self, keys: U64s) -> Mask:
        if not self.values.size:
            return np.zeros(keys.size, np.bool_)
        at = np.minimum(np.searchsorted(self.values, keys), self.values.size - 1)
        return np.asarray(self.values[at] == keys, np.bool_)


class CgroupChurn:
    """Sorts the records of one stream. `memory_root`: moves within other hierarchies matter to nobody."""

    def __init__(self, memory_root: int | None = None, budget: int = BUDGET, refill_per_s: int = REFILL_PER_S) -> None:
        self._memory_root = memory_root
        self._most, self._refill_per_s = budget, refill_per_s
        self._budget = float(budget)
        self._newest_ns = 0
        self._held: RawRows | None = None
        self._single, self._summed = _Keys(), _Keys()
        self._sums = CgroupSums()

    def sort(self, raws: RawRows | None, formats: Mapping[int, Format], newest_ns: int) -> Sorted:
        """The records of one flush; `formats` by the number of the event, `newest_ns` the newest time of the flush."""
        self._refill(newest_ns)
        parts = [part for part in (self._held, raws) if part is not None and len(part)]
        if not parts:
            return Sorted(None, self._sums.take(self._newest_ns))
        rows = joined(parts)
        columns = CgroupColumns.of(rows, formats)
        if self._held is None and len(rows) <= self._budget:
            self._budget -= len(rows)
            self._remember(columns)
            return Sorted(rows, self._sums.take(self._newest_ns))
        return self._in_storm(rows, columns)

    def _refill(self, newest_ns: int) -> None:
        passed_s = max(0, newest_ns - self._newest_ns) / 1e9 if self._newest_ns else 0.0
        self._newest_ns = max(newest_ns, self._newest_ns)
        self._budget = min(self._most, self._budget + passed_s * self._refill_per_s)

    def _remember(self, columns: CgroupColumns) -> None:
        self._single.add(columns.key[columns.kind == MKDIR])
        self._single.forget(columns.key[columns.kind == RELEASE])

    def _in_storm(self, rows: RawRows, columns: CgroupColumns) -> Sorted:
        """Decide for each cgroup, and thereby for all its records."""
        life = np.flatnonzero(columns.kind < ATTACH)
        keys, place = _distinct(columns.key[life])
        kinds = columns.kind[life]
        made, removed, released = (_any(place[kinds == kind], keys.size) for kind in (MKDIR, RMDIR, RELEASE))
        single = self._single.has(keys)
        summed = self._summed.has(keys) & ~single
        whole = removed & released & ~single & ~summed
        still = ~(single | summed | whole)
        late = columns.time[life] + np.uint64(HOLD_NS) <= np.uint64(self._newest_ns)
        due = still & (_any(place[late], keys.size) | (np.count_nonzero(still[place]) > HELD_MOST))
        chosen = self._chosen(due, np.bincount(place, minlength=keys.size), single)
        self._single.add(keys[chosen])
        self._summed.add(keys[due & ~chosen])
        self._single.forget(keys[single & released])
        kept = _at(life[(single | chosen)[place]], len(rows)) | self._moves(columns)
        held = _at(life[(still & ~due)[place]], len(rows))
        self._held = rows.take(held) if held.any() else None
        self._sums.add(columns, rows, life[(summed | (due & ~chosen))[place]], self._newest_ns)
        ended = whole[place] & (kinds == RMDIR)
        self._sums.add_whole(columns, rows, life[ended], made[place[ended]], self._newest_ns)
        return Sorted(rows.take(kept), self._sums.take(self._newest_ns), storm=True)

    def _chosen(self, due: Mask, records: NDArray[np.int64], single: Mask) -> Mask:
        """Of cgroups whose fate is open, as many as the budget pays for, evenly; it pays for recorded ones first."""
        self._budget = max(0.0, self._budget - int(records[single].sum()))
        chosen = np.flatnonzero(due)
        wanted = int(records[chosen].sum())
        if wanted > self._budget:
            number = int(self._budget * chosen.size / wanted)
            chosen = chosen[np.linspace(0, chosen.size - 1, number).astype(np.int64)] if number else chosen[:0]
        self._budget = max(0.0, self._budget - int(records[chosen].sum()))
        return _at(chosen, due.size)

    def _moves(self, columns: CgroupColumns) -> Mask:
        """The last move of each process; where it was in between is not kept."""
        found = np.zeros(columns.kind.size, np.bool_)
        here = columns.kind == ATTACH
        if self._memory_root is not None:
            here &= columns.root == self._memory_root
        at = np.flatnonzero(here)
        latest = at[np.argsort(columns.time[at], kind="stable")][::-1]
        found[latest[np.unique(columns.moved[latest], return_index=True)[1]][:MOVES_MOST]] = True
        return found


def _distinct(values: U64s) -> tuple[U64s, NDArray[np.int32]]:
    """The distinct values in no promised order, and of each value its place among them."""
    place, first = HashIndex(2 << values.size.bit_length()).add_unknown(values)
    return values[first], place


def _any(places: NDArray[np.int32], size: int) -> Mask:
    """At which places there is at least one."""
    return np.asarray(np.bincount(places, minlength=size) > 0, np.bool_)


def _at(places: NDArray[np.int64], size: int) -> Mask:
    """True at these places."""
    found = np.zeros(size, np.bool_)
    found[places] = True
    return found


def few_of_each(pids: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Positions of the first samples of each process, and no more than `SAMPLES_MOST`, evenly: enough to tell who it
    was that made cgroups."""
    left, found = np.arange(pids.size), []
    for _ in range(SAMPLES_OF_A_PROCESS):
        _, first = HashIndex(2 << left.size.bit_length()).add_unknown(pids[left].astype(np.uint64))
        found.append(left[first])
        left = np.delete(left, first)
    chosen = np.sort(np.concatenate(found))
    if chosen.size > SAMPLES_MOST:
        chosen = chosen[np.linspace(0, chosen.size - 1, SAMPLES_MOST).astype(np.int64)]
    return chosen
