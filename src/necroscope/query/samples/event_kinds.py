"""Which events a store has samples of, and which of them count where nobody chooses.

Clocks and cycles measure the same time twice, so one kind of them counts. Where a window has neither, but folded stacks
were imported, these do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from necroscope.query.samples.chunk import Words
from necroscope.query.samples.chunks import chunks, row_groups
from necroscope.query.sealed import damage, opened
from necroscope.query.select import FOLDED, Select
from necroscope.sense.perf.event_names import is_clock, is_time
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window


def kinds(snapshot: Snapshot, window: Window) -> dict[str, int]:
    """Samples of a window by event, of all events. Damaged files are left out."""
    found: dict[str, int] = {}
    for segment in snapshot.segments:
        if segment.overlaps(window):
            with damage(segment.file("samples"), []):
                file = opened(segment, "samples", read_dictionary=["event"])
                if file is not None:
                    with file:
                        for group in row_groups(file.metadata, [window]):
                            table = file.read_row_group(group, columns=["at_ns", "event"], use_threads=False)
                            _count(table, window, found)
    live = snapshot.live.get("samples")
    if live is not None and live.num_rows:
        _count(live, window, found)
    return found


def one_kind(counts: Mapping[str, int]) -> tuple[frozenset[str], str]:
    """The events that count, and what to say of the others; no events when there is nothing to choose."""
    if len({is_clock(event) for event in counts}) < 2:
        return frozenset(), ""
    most = is_clock(max(counts, key=lambda event: counts[event]))
    kept = frozenset(event for event in counts if is_clock(event) == most)
    left = ", ".join(sorted(counts.keys() - kept))
    return kept, f"samples of {left} are left out, as they measure the same time again; --event-type shows them"


def narrowed(snapshot: Snapshot, select: Select, notes: list[str]) -> Select:
    """The selection, of one kind of events; `notes` gets what is left out."""
    if select.events:
        return select
    there = kinds(snapshot, select.window)
    times = {event for event in there if is_time(event)}
    if not times and FOLDED in there:
        return replace(select, events=frozenset({FOLDED}))
    if len({is_clock(event) for event in times}) < 2:
        return select
    counts: dict[str, int] = {}
    for chunk in chunks(snapshot, select, notes=[]):
        for name, count in zip(chunk.event.names, np.bincount(chunk.event.codes).tolist(), strict=False):
            counts[name] = counts.get(name, 0) + count
    kept, note = one_kind({name: count for name, count in counts.items() if count})
    notes += [note] if note else []
    return replace(select, events=kept) if kept else select


def _count(table: Any, window: Window, found: dict[str, int]) -> None:
    at_ns = table["at_ns"].to_numpy()
    events = Words.of(table["event"]).taken((at_ns >= window[0]) & (at_ns <= window[1]))
    for name, count in zip(events.names, np.bincount(events.codes, minlength=1).tolist(), strict=False):
        if count:
            found[name] = found.get(name, 0) + count
