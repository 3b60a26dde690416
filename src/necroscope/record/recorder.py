"""The flight recorder's loop: every second the sensors, whatever perf has brought, then a flush.

One thread writes. The clock pair is read at every turn: times of perf are CLOCK_MONOTONIC and become UTC with the pair
of the moment, so a wall clock that is stepped tears nothing; the step itself is an event.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from necroscope import clock
from necroscope.clock import NS, ClockReading
from necroscope.model import Census, Sample, Signal, UnitState
from necroscope.record.chronicle import Chronicle
from necroscope.record.feed import PerfFeed
from necroscope.record.own_cost import OwnCost
from necroscope.record.perf_rows import keep_rows
from necroscope.sense.host import Host
from necroscope.sense.perf.rows import Row
from necroscope.sense.sampler import COST, SEEN, Sampler, own_samples
from necroscope.sense.sensor import Look, Sensor
from necroscope.store.tables import Event
from necroscope.store.writer import Writer

TURN_S = 0.5
STEP_NS = 50_000_000
CLOCK = Signal("clock_monotonic_seconds", "seconds", "gauge", "CLOCK_MONOTONIC at the time of the row, which is UTC.")
LOST = Signal("perf_lost_records", "records", "counter", "Records of perf that the kernel had no room for.")
SIGNALS = (COST, SEEN, CLOCK, LOST, *OwnCost.signals)


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """How it goes, for the status line."""

    seconds: float
    samples: int
    samples_per_s: float
    lost: int
    symptoms: int
    cpu_share: float
    rss_bytes: int
    bytes: int
    hours_left: float | None
    trouble: str


class Recorder:
    """Records until told to stop. The writer is not closed here."""

    def __init__(
        self, host: Host, writer: Writer, feed: PerfFeed | None, fast: Sequence[Sensor], slow: Sequence[Sensor]
    ) -> None:
        self._host, self._writer, self._feed = host, writer, feed
        self._sampler = Sampler(host, fast, slow)
        self._chronicle = Chronicle()
        self._own = OwnCost(host)
        self._began_s = clock.elapsed_s()
        self._offset_ns: int | None = None
        self._lost = self._symptoms = self._samples_before = 0
        self._rate = 0.0

    def run(
        self,
        stop: threading.Event,
        for_s: float | None = None,
        on_status: Callable[[RecorderStatus], None] | None = None,
    ) -> RecorderStatus:
        """Record until `stop` is set or `for_s` seconds have passed; the last status."""
        self._event("recorder-started", f"pid {os.getpid()}")
        ends = None if for_s is None else clock.elapsed_s() + for_s
        second = clock.now().realtime_ns // NS
        while not stop.is_set() and (ends is None or clock.elapsed_s() < ends):
            now = clock.now()
            self._keep_time(now)
            self._take_perf(now, self._feed.rows() if self._feed else [])
            if now.realtime_ns // NS != second:
                second = now.realtime_ns // NS
                self._look(now, second)
                if on_status is not None:
                    on_status(self.status())
            self._writer.flush()
            stop.wait(_until_next_turn(clock.now().realtime_ns))
        return self._end()

    def status(self) -> RecorderStatus:
        """How it goes."""
        writer = self._writer.status()
        cpu_share, rss_bytes = self._own.last
        return RecorderStatus(
            seconds=clock.elapsed_s() - self._began_s,
            samples=writer.samples,
            samples_per_s=self._rate,
            lost=self._lost + writer.lost_samples,
            symptoms=self._symptoms,
            cpu_share=cpu_share,
            rss_bytes=rss_bytes,
            bytes=writer.bytes,
            hours_left=writer.hours_left,
            trouble=writer.trouble,
        )

    def _end(self) -> RecorderStatus:
        now = clock.now()
        if self._feed is not None:
            self._take_perf(now, self._feed.close())
        self._keep(self._sampler.finish())
        self._event("recorder-stopped", f"pid {os.getpid()}")
        self._writer.flush()
        return self.status()

    # -- time --------------------------------------------------------------------------------------------

    def _keep_time(self, now: ClockReading) -> None:
        offset_ns = now.realtime_ns - now.monotonic_ns
        if self._offset_ns is not None and abs(offset_ns - self._offset_ns) > STEP_NS:
            self._event("clock-step", f"the wall clock was stepped by {(offset_ns - self._offset_ns) / NS:+.3f} s")
        self._offset_ns = offset_ns

    # -- perf --------------------------------------------------------------------------------------------

    def _take_perf(self, now: ClockReading, rows: Iterable[Row]) -> None:
        self._lost += keep_rows(self._writer, rows, now.realtime_ns - now.monotonic_ns)
        if self._feed is not None and self._writer.forgot_stacks():
            self._feed.stacks_forgotten()
        notices = self._feed.notices() if self._feed is not None else []
        if notices:
            self._writer.add_events([_event(one.at_ns, one.kind, one.text) for one in notices])

    # -- sensors -----------------------------------------------------------------------------------------

    def _look(self, now: ClockReading, second: int) -> None:
        looks = self._sampler.looks(second)
        self._keep(looks)
        own = [*self._own.read(self._feed.pid if self._feed else None), Sample(LOST.name, self._lost)]
        if second % 60 == 0 or self._samples_before == 0:
            own.append(Sample(CLOCK.name, now.monotonic_ns / NS))
        self._writer.add_signals(now.realtime_ns, own, "recorder")
        samples = self._writer.status().samples
        self._rate, self._samples_before = samples - self._samples_before, samples

    def _keep(self, looks: Sequence[Look]) -> None:
        for look in looks:
            if look.reading.samples:
                self._writer.add_signals(look.at_ns, look.reading.samples, look.sensor)
            self._writer.add_signals(look.at_ns, own_samples([look]), f"{look.sensor}-cost")
            for record in look.reading.records:
                if isinstance(record, Census):
                    self._writer.add_zombies(look.at_ns, record.by_parent)
            units = [record for record in look.reading.records if isinstance(record, UnitState)]
            if units:
                self._writer.add_units(look.at_ns, units)
        events = self._chronicle.events(looks)
        self._symptoms += sum(event.source == "kmsg" for event in events)
        if events:
            self._writer.add_events(events)

    def _event(self, kind: str, text: str) -> None:
        self._writer.add_events([_event(clock.now().realtime_ns, kind, text)])


def _event(at_ns: int, kind: str, text: str) -> Event:
    return Event(at_ns, kind, "recorder", "recorder", text)


def _until_next_turn(now_ns: int) -> float:
    """Seconds to the next half second of the wall clock, so that looks fall on whole seconds."""
    turn_ns = int(TURN_S * NS)
    return max(0.01, (turn_ns - now_ns % turn_ns) / NS)
