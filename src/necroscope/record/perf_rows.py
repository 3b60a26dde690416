"""Rows of perf into the store: samples as they are, everything else as events. Live and imported alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS, iso
from necroscope.sense.perf.rows import CgroupEvent, CgroupSum, Gap, Lost, Row, TaskBatch, Throttled
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.tables import Event

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
    """Store the rows; `offset_ns` makes UTC of their times. Returns how many records are told to be lost."""
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
    subject = f"cpu{row.cpu}" if row.cpu >= 0 else "perf"
    since = f" since {iso(since_ns + offset_ns)}" if since_ns is not None else ""
    text = f"{row.count} records of perf were lost{since}: nobody emptied its ring in time"
    return Event(row.at_ns + offset_ns, "samples-lost", "perf", subject, text)


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
        text = f"{row.skipped} bytes of perf's stream made no sense"
        return Event(row.at_ns + offset_ns, "recorder-gap", "perf", "perf", text)
    if isinstance(row, Throttled):
        what = "resumed sampling" if row.resumed else "stopped sampling because it took too long"
        return Event(row.at_ns + offset_ns, "sampling-throttled", "perf", f"cpu{row.cpu}", f"the kernel {what}")
    if isinstance(row, CgroupSum):
        return Event(row.at_ns + offset_ns, CHURN, "perf", row.parent, _churn(row))
    if isinstance(row, CgroupEvent) and row.kind != "attach_task":
        text = f"hierarchy {row.root}, cgroup {row.id}, level {row.level}, by {row.comm or 'pid'} {row.pid}"
        return Event(row.at_ns + offset_ns, f"cgroup-{row.kind}", "perf", row.path, text)
    return None


def _churn(row: CgroupSum) -> str:
    """Sums, in the words of single events: which hierarchy, how many, who."""
    seconds = (row.until_ns - row.at_ns) / NS
    where = "below it" if row.parent else "below other parents"
    by = f", most by pid {row.pid}" if row.pid >= 0 else ""
    examples = f", for example {', '.join(row.examples)}" if row.examples else ""
    return (
        f"hierarchy {row.root}: too many to be told one by one: {row.made} made, {row.removed} removed, {row.released} "
        f"released {where} within {seconds:.1f} s, {row.whole} of them removed and released at once{by}{examples}"
    )
