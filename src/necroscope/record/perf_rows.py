"""Rows of perf into the store: samples as they are, everything else as events. Live and imported alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from necroscope.sense.perf.rows import CgroupEvent, Gap, Lost, Row, Throttled
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.tables import Event
from necroscope.store.writer import Writer


def keep_rows(writer: Writer, rows: Iterable[Row], offset_ns: int) -> int:
    """Store the rows; `offset_ns` makes UTC of their times. Returns how many records are told to be lost."""
    lost = 0
    events: list[Event] = []
    for row in rows:
        if isinstance(row, SampleBatch):
            writer.add_samples(replace(row, at_ns=row.at_ns + offset_ns))
        elif (event := _event(row, offset_ns)) is not None:
            events.append(event)
        if isinstance(row, Lost):
            lost += row.count
    if events:
        writer.add_events(events)
    return lost


def _event(row: Row, offset_ns: int) -> Event | None:
    """The event that a row is; moves of tasks between cgroups are no events, there are too many."""
    if isinstance(row, Lost):
        subject = f"cpu{row.cpu}" if row.cpu >= 0 else "perf"
        text = f"{row.count} records of perf were lost: nobody emptied its ring in time"
        return Event(row.at_ns + offset_ns, "samples-lost", "perf", subject, text)
    if isinstance(row, Gap):
        text = f"{row.skipped} bytes of perf's stream made no sense"
        return Event(row.at_ns + offset_ns, "recorder-gap", "perf", "perf", text)
    if isinstance(row, Throttled):
        what = "resumed sampling" if row.resumed else "stopped sampling because it took too long"
        return Event(row.at_ns + offset_ns, "sampling-throttled", "perf", f"cpu{row.cpu}", f"the kernel {what}")
    if isinstance(row, CgroupEvent) and row.kind != "attach_task":
        text = f"hierarchy {row.root}, cgroup {row.id}, level {row.level}, by {row.comm or 'pid'} {row.pid}"
        return Event(row.at_ns + offset_ns, f"cgroup-{row.kind}", "perf", row.path, text)
    return None
