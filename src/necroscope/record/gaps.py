"""What was not recorded: from when to when, and why.

A gap is an event `recorder-gap` at the time where it begins; its fields name both ends. There are those between two
recorders (here), between two perfs (`Silence`), of looks that came late (`timeline.py`), and of rows that the disk did
not take (the store reports those itself).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from necroscope import clock
from necroscope.clock import NS, ClockReading
from necroscope.errors import NecroscopeError
from necroscope.sense.cpu.times import parse_stat
from necroscope.sense.host import Host
from necroscope.sense.inventory import UNKNOWN, identify
from necroscope.sense.perf.rows import Row
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.format.sealed_file import UNREADABLE
from necroscope.store.format.segment import read_table
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.event_sentence import in_words

STARTED, STOPPED, GAP, BOOT = "recorder-started", "recorder-stopped", "recorder-gap", "boot"
OWN_SOURCE = "recorder"

# A recorder writes its boot when it begins; it is looked for no further back than this.
_SEGMENTS = 32


@dataclass(frozen=True, slots=True)
class PreviousRecorder:
    """The recorder before this one: its last look, and what is known of its boot and of its end."""

    last_ns: int
    boot_id: str = ""
    stopped: bool = False


def gap(from_ns: int, to_ns: int, subject: str, why: str) -> Event:
    """What the subject does is missing between two times."""
    return in_words(Event(from_ns, GAP, OWN_SOURCE, subject, reason=why, from_ns=from_ns, to_ns=to_ns))


def stuck(from_ns: int, to_ns: int, why: str) -> Event:
    """The disk took nothing for a while. What had to be dropped meanwhile is a gap, which the store reports."""
    return Event(from_ns, "store-stuck", OWN_SOURCE, "store", reason=why, from_ns=from_ns, to_ns=to_ns)


def own_event(at_ns: int, kind: str, text: str, subject: str = "recorder") -> Event:
    """Something that the recorder reports about itself."""
    return Event(at_ns, kind, OWN_SOURCE, subject, text)


def hello(host: Host, at_ns: int, kind: str) -> Event:
    """Which recorder this is: its first and last event."""
    return in_words(Event(at_ns, kind, OWN_SOURCE, "recorder", pid=os.getpid(), boot=_boot_id(host)))


class Silence:
    """From the last sample of one perf to the first of the next. Times are CLOCK_MONOTONIC."""

    def __init__(self, since_ns: int) -> None:
        self._last_ns = since_ns
        self._why = ""

    def began(self, why: str) -> None:
        """There is no perf. The first reason is the one that counts."""
        self._why = self._why or why

    def heard(self, rows: list[Row]) -> tuple[int, int, str] | None:
        """Samples came: the silence that they end, with its reason."""
        times = [row.at_ns for row in rows if isinstance(row, SampleBatch) and len(row)]
        if not times:
            return None
        found = self.until(int(min(np.min(one) for one in times)))
        self._last_ns = max(self._last_ns, int(max(np.max(one) for one in times)))
        return found

    def until(self, now_ns: int) -> tuple[int, int, str] | None:
        """The silence up to now, if there is one."""
        why, self._why = self._why, ""
        return (self._last_ns, max(self._last_ns, now_ns), why) if why else None


def since_the_last(store: Path, host: Host, now: ClockReading) -> list[Event]:
    """What to report about the time since an earlier recorder wrote this store; nothing when there was none."""
    try:
        before = _before(store)
    except (*UNREADABLE, NecroscopeError):
        return []
    if before is None:
        return []
    boot = _boot(host, now)
    rebooted = _rebooted(before, boot.boot, boot.at_ns)
    ended = "the recorder was stopped" if before.stopped else "the recorder ended without a clean shutdown"
    why = f"{ended}, and the machine was booted in between" if rebooted else ended
    return [_hole(before.last_ns, now.realtime_ns, why), *([boot] if rebooted else [])]


def _hole(from_ns: int, to_ns: int, why: str) -> Event:
    if from_ns <= to_ns:
        return gap(from_ns, to_ns, "recorder", why)
    why = f"{why}; the last row before is of {clock.iso(from_ns)}, so the clock was set back"
    return in_words(Event(to_ns, GAP, OWN_SOURCE, "recorder", reason=why))


def _rebooted(before: PreviousRecorder, boot_id: str, booted_ns: int) -> bool:
    if before.boot_id and boot_id:
        return before.boot_id != boot_id
    return before.last_ns < booted_ns


def _boot(host: Host, now: ClockReading) -> Event:
    """This boot, at the time that the kernel names, which is rounded to a second."""
    try:
        boot_s = parse_stat(host.read("/proc/stat")).boot_time_s
    except NecroscopeError:
        boot_s = None
    at_ns = now.from_boottime(0) if boot_s is None else boot_s * NS
    return Event(at_ns, BOOT, OWN_SOURCE, "host", uncertainty_ns=NS, boot=_boot_id(host))


def _boot_id(host: Host) -> str:
    found = identify(host).boot_id
    return "" if found == UNKNOWN else found


def _before(store: Path) -> PreviousRecorder | None:
    last_ns: int | None = None
    for ticks, events in _newest_first(store):
        if last_ns is None:
            last_ns = _last_look(ticks)
        if last_ns is not None and (latest := _last_own_event(events)):
            kind, boot = latest
            return PreviousRecorder(last_ns, boot, kind == STOPPED)
    return None if last_ns is None else PreviousRecorder(last_ns)


def _newest_first(store: Path) -> Iterator[tuple[pa.Table | None, pa.Table | None]]:
    snapshot = Store(store).snapshot()
    yield snapshot.live.get("ticks"), snapshot.live.get("events")
    for segment in reversed(snapshot.segments[-_SEGMENTS:]):
        yield read_table(segment, "ticks"), read_table(segment, "events", ["at_ns", "kind", "boot"])


def _last_look(ticks: pa.Table | None) -> int | None:
    """The recorder's own latest look, by number: the clock may have been set back."""
    rows = ticks.select(["chunk", "tick", "at_ns", "source"]).to_pylist() if ticks is not None else []
    own = [(row["chunk"], row["tick"], row["at_ns"]) for row in rows if row["source"] == OWN_SOURCE]
    return max(own)[2] if own else None


def _last_own_event(events: pa.Table | None) -> tuple[str, str] | None:
    rows = events.select(["at_ns", "kind", "boot"]).to_pylist() if events is not None else []
    own = [(row["at_ns"], row["kind"], row["boot"] or "") for row in rows if row["kind"] in (STARTED, STOPPED)]
    return max(own)[1:] if own else None
