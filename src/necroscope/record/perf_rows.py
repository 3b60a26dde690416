"""Rows of perf into the store: samples as they are, everything else as events. Live and imported alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.rows import CgroupEvent, CgroupSum, Gap, Lost, Row, TaskBatch, Throttled
from necroscope.sense.perf.samples import SampleBatch
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.event_sentence import RESUMED

CHURN = "cgroup-churn"
Offsets = Callable[[NDArray[np.int64]], NDArray[np.int64] | int]
"""What to add to times so that they are UTC."""


class Keeps(Protocol):
    """Where rows go."""

    def add_samples(self, batch: SampleBatch) -> None:
        """Samples; their times are UTC."""
        ...

    def add_events(self, events: Iterable[Event]) -> None:
        """Things that happened."""
        ...


def keep_rows(writer: Keeps, rows: Iterable[Row], offset_ns: int | Offsets) -> int:
    """Store the rows; `offset_ns` makes UTC of their times. Returns how many records are reported as lost."""
    lost = 0
    events: list[Event] = []
    rows = list(rows)
    for row in rows:
        if isinstance(row, SampleBatch):
            offsets = offset_ns if isinstance(offset_ns, int) else offset_ns(row.at_ns)
            writer.add_samples(replace(row, at_ns=row.at_ns + offsets))
        elif not isinstance(row, TaskBatch):
            one = offset_ns if isinstance(offset_ns, int) else int(offset_ns(np.array(row.at_ns, np.int64)))
            if isinstance(row, Lost):
                lost += row.count
                events.append(_lost(row, one, _last_before(row, rows)))
            elif (event := _event(row, one)) is not None:
                events.append(event)
    if events:
        writer.add_events(events)
    return lost


def _lost(row: Lost, offset_ns: int, since_ns: int | None) -> Event:
    """Records that are missing, up to the time of the event."""
    at_ns, cpu = row.at_ns + offset_ns, row.cpu if row.cpu >= 0 else None
    return Event(
        at_ns,
        "samples-lost",
        "perf",
        "perf" if cpu is None else f"cpu{cpu}",
        cpu=cpu,
        from_ns=None if since_ns is None else since_ns + offset_ns,
        to_ns=at_ns,
        count=row.count,
    )


def _last_before(row: Lost, rows: list[Row]) -> int | None:
    """The last sample of that core before the loss was noticed: since then some are missing."""
    times = [
        batch.at_ns[(batch.at_ns < row.at_ns) & ((batch.cpu == row.cpu) | (row.cpu < 0))]
        for batch in rows
        if isinstance(batch, SampleBatch)
    ]
    return max((int(one.max()) for one in times if one.size), default=None)


def _event(row: Row, offset_ns: int) -> Event | None:
    """The event that a row is; moves of tasks between cgroups are no events, there are too many."""
    if isinstance(row, Gap):
        return Event(row.at_ns + offset_ns, "recorder-gap", "perf", "perf", count=row.skipped)
    if isinstance(row, Throttled):
        why = RESUMED if row.resumed else "it took too long"
        return Event(row.at_ns + offset_ns, "sampling-throttled", "perf", f"cpu{row.cpu}", cpu=row.cpu, reason=why)
    if isinstance(row, CgroupSum):
        return _churn(row, offset_ns)
    if isinstance(row, CgroupEvent) and row.kind != "attach_task":
        at_ns, kind = row.at_ns + offset_ns, f"cgroup-{row.kind}"
        return Event(at_ns, kind, "perf", row.path, pid=row.pid, task=row.comm, cgroup=row.id, hierarchy=row.root)
    return None


def _churn(row: CgroupSum, offset_ns: int) -> Event:
    """Sums: which hierarchy, how many were made, who. What else is known of them is the text."""
    examples = f", for example {', '.join(row.examples)}" if row.examples else ""
    return Event(
        row.at_ns + offset_ns,
        CHURN,
        "perf",
        row.parent,
        f"{row.removed} removed, {row.released} released, {row.whole} of them removed and released at once{examples}",
        pid=row.pid if row.pid >= 0 else None,
        hierarchy=row.root,
        from_ns=row.at_ns + offset_ns,
        to_ns=row.until_ns + offset_ns,
        count=row.made,
    )
