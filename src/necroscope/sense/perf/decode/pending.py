"""Rows that wait for their turn. CPUs are read one after the other, so records come in runs, out of order.

perf writes FINISHED_ROUND when it has read all rings once. What was in a ring before a round began is written by its
end; so at the end of a round everything up to the newest time of the round before is complete, and may go out sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from necroscope.sense.perf.format.columns import RawRows, SampleRows
from necroscope.sense.perf.format.sideband import Mappings, Notice, TaskRows
from necroscope.sense.perf.format.tables import joined, select

EVERYTHING = (1 << 64) - 1
Table = TypeVar("Table", TaskRows, Mappings)
Ragged = TypeVar("Ragged", SampleRows, RawRows)


@dataclass(slots=True)
class Due:
    """Everything of one flush; tables are in the order it was read, not of time."""

    samples: SampleRows | None = None
    tasks: TaskRows | None = None
    mappings: Mappings | None = None
    notices: list[Notice] = field(default_factory=list)
    raws: RawRows | None = None

    def __bool__(self) -> bool:
        return bool(self.samples or self.tasks or self.mappings or self.notices or self.raws)


@dataclass(slots=True)
class Pending:
    """What was read and has not gone out."""

    samples: list[SampleRows] = field(default_factory=list)
    tasks: list[TaskRows] = field(default_factory=list)
    mappings: list[Mappings] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    raws: list[RawRows] = field(default_factory=list)

    def nbytes(self) -> int:
        """About how much memory waits."""
        rows = sum(part.chain.size * 8 + len(part) * 64 for part in self.samples)
        rows += 48 * (sum(map(len, self.tasks)) + sum(map(len, self.mappings)))
        rows += sum(part.data.size * 8 + len(part) * 24 for part in self.raws)
        return rows + 200 * len(self.notices)

    def middle(self) -> int:
        """A time with about as much before as after it."""
        tables: list[SampleRows | TaskRows | Mappings] = [*self.samples, *self.tasks, *self.mappings]
        times = np.concatenate([part.time for part in tables]) if tables else np.zeros(1, np.uint64)
        return int(np.partition(times, times.size // 2)[times.size // 2])

    def take(self, limit: int) -> Due:
        """What is not newer than `limit`."""
        due = Due()
        if self.samples:
            due.samples, self.samples = _split_ragged(self.samples, limit)
        if self.tasks:
            due.tasks, self.tasks = _split(self.tasks, limit)
        if self.mappings:
            due.mappings, self.mappings = _split(self.mappings, limit)
        due.notices, self.notices = _split_list(self.notices, limit)
        if self.raws:
            due.raws, self.raws = _split_ragged(self.raws, limit)
        return due


def _split_ragged(parts: list[Ragged], limit: int) -> tuple[Ragged | None, list[Ragged]]:
    """Part by part: most are due as a whole or not at all, and need not be copied."""
    go: list[Ragged] = []
    stay: list[Ragged] = []
    for part in parts:
        due = part.time <= np.uint64(limit)
        if due.all():
            go.append(part)
        elif due.any():
            go.append(part.take(due))
            stay.append(part.take(~due))
        else:
            stay.append(part)
    return (joined(go) if go else None), stay


def _split(parts: list[Table], limit: int) -> tuple[Table | None, list[Table]]:
    rows = joined(parts)
    due = rows.time <= np.uint64(limit)
    if due.all():
        return rows, []
    return (select(rows, due) if due.any() else None), [select(rows, ~due)]


def _split_list(items: list[Notice], limit: int) -> tuple[list[Notice], list[Notice]]:
    if not items:
        return [], []
    return [one for one in items if one.time <= limit], [one for one in items if one.time > limit]
