"""Address spaces: what is mapped where in a process.

A space is a log of mappings; where two overlap the later one holds, which is also how an unmapped hole that nobody
reported is healed. A fork shares the log so far. An exec starts a new one, below which the old one stays for once: the
first samples after it still show where the old program called exec. Nothing is computed for a process until a
sample needs it: most processes of a storm are never seen by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]

START, END, OFFSET, FILE = range(4)
_PARTS = 8
_ROWS = 512
_MOST_ROWS = 4096
_ADDRESS_BITS = np.uint64(48)
_ADDRESS_END = np.uint64(1 << 48)
_SPACES_AT_ONCE = 1 << 15
NOTHING: U64s = np.zeros((0, 4), np.uint64)


@dataclass(slots=True)
class Space:
    """The log: parts of rows (start, end, offset, file), oldest first, with those of this flush up to rank `since`.

    `added` counts all rows it ever got; with `number` it names a state of the space.
    """

    number: int
    pid: int
    before: list[U64s] = field(default_factory=list)
    parts: list[U64s] = field(default_factory=list)
    since: int = 0
    added: int = 0

    def rows(self) -> U64s:
        """All rows, those of the program before first."""
        return np.concatenate([*self.before, *self.parts, NOTHING])

    def settle(self) -> None:
        """Rows in one piece of their own: they outlive the table they were cut from."""
        if self.parts:
            self.parts = [np.concatenate(self.parts)]

    def add(self, rows: U64s) -> None:
        """Append mappings; now and then what later ones wholly cover is dropped."""
        self.parts.append(rows)
        self.added += rows.shape[0]
        if len(self.parts) > _PARTS and sum(part.shape[0] for part in self.parts) > _ROWS:
            self.parts = [_uncovered(np.concatenate(self.parts))]


def overlapping(rows: U64s) -> bool:
    """Whether any two rows overlap."""
    order = np.argsort(rows[:, START])
    return bool(np.any(rows[order[:-1], END] > rows[order[1:], START]))


def _uncovered(rows: U64s) -> U64s:
    """Rows that no later row covers; of many the latest, no process needs more to name a frame."""
    rows = rows[-_MOST_ROWS:]
    start, end = rows[:, START].copy(), rows[:, END].copy()
    keep = np.ones(rows.shape[0], np.bool_)
    for place in range(rows.shape[0] - 1):
        keep[place] = not np.any((start[place + 1 :] <= start[place]) & (end[place + 1 :] >= end[place]))
    return rows[keep]


def locate(spaces: list[U64s], owner: NDArray[np.int32], addresses: U64s) -> tuple[I64s, U64s]:
    """In which file each address lies (-1: in none) and where in it; `owner` is each address's place in `spaces`."""
    if len(spaces) > _SPACES_AT_ONCE:
        return _locate_some(spaces, owner, addresses)
    table = np.concatenate([*spaces, NOTHING])
    whose = np.repeat(np.arange(len(spaces), dtype=np.uint64), [rows.shape[0] for rows in spaces])
    keys = (whose << _ADDRESS_BITS) | np.minimum(table[:, START], _ADDRESS_END - np.uint64(1))
    order = np.argsort(keys, kind="stable")
    keys, whose = keys[order], whose[order]
    start, end = table[order, START], table[order, END]
    wanted = (owner.astype(np.uint64) << _ADDRESS_BITS) | (addresses & (_ADDRESS_END - np.uint64(1)))
    place = np.searchsorted(keys, wanted, side="right") - 1
    row = np.full(addresses.size, -1, np.int64)
    if keys.size:
        inside = (place >= 0) & (whose[place] == owner) & (addresses >= start[place]) & (addresses < end[place])
        row[inside] = order[place[inside]]
    first = np.cumsum([0, *(rows.shape[0] for rows in spaces)])
    clash = (end[:-1] > start[1:]) & (whose[:-1] == whose[1:])
    for one in np.unique(whose[:-1][clash]).tolist():
        mine = np.flatnonzero(owner == one)
        row[mine] = _latest(spaces[one], addresses[mine], int(first[one]))
    return _files(table, row, addresses)


def _locate_some(spaces: list[U64s], owner: NDArray[np.int32], addresses: U64s) -> tuple[I64s, U64s]:
    file, offset = np.full(addresses.size, -1, np.int64), np.zeros(addresses.size, np.uint64)
    for low in range(0, len(spaces), _SPACES_AT_ONCE):
        mine = np.flatnonzero((owner >= low) & (owner < low + _SPACES_AT_ONCE))
        file[mine], offset[mine] = locate(spaces[low : low + _SPACES_AT_ONCE], owner[mine] - low, addresses[mine])
    return file, offset


def _files(table: U64s, row: I64s, addresses: U64s) -> tuple[I64s, U64s]:
    if not table.shape[0]:
        return row, np.zeros(addresses.size, np.uint64)
    found = table[row]
    file = np.where(row >= 0, found[:, FILE].astype(np.int64), -1)
    return file, addresses - found[:, START] + found[:, OFFSET]


def _latest(rows: U64s, addresses: U64s, first: int) -> I64s:
    """The newest row that each address lies in, counted from `first`; -1 for none."""
    found = np.full(addresses.size, -1, np.int64)
    rest = np.arange(addresses.size)
    start, end = rows[:, START].tolist(), rows[:, END].tolist()
    for place in range(len(start) - 1, -1, -1):
        inside = (addresses[rest] >= start[place]) & (addresses[rest] < end[place])
        found[rest[inside]] = first + place
        rest = rest[~inside]
        if not rest.size:
            break
    return found
