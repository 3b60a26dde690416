"""The flight recorder's loop: every second the sensors, whatever perf has brought, then a flush.

One thread writes. Looks fall on whole seconds of the wall clock; how long things take is counted on the monotonic one,
so that a step of the wall clock neither hurries nor holds up anything (`timeline.py`). What was missed is told
(`gaps.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from necroscope import clock
from necroscope.clock import NS, ClockReading
from necroscope.model import Sample, Signal
from necroscope.record import frugal
from necroscope.record.chronicle import Chronicle
from necroscope.record.feed import PerfFeed
from necroscope.record.gaps import OWN_SOURCE, STARTED, STOPPED, hello, own_event, since_the_last, stuck
from necroscope.record.own_cost import OwnCost
from necroscope.record.perf_rows import keep_rows
from necroscope.record.timeline import Timeline
from necroscope.sense.host import Host
from necroscope.sense.perf.rows import Row
from necroscope.sense.sampler import COST, SEEN, Sampler, own_samples
from necroscope.sense.sensor import Look, Sensor
from necroscope.store.writer import Writer, WriterStatus

TURN_S = 0.5
TRIM_S = 10
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
        self._timeline = Timeline(clock.now())
        self._first_look_ns: int | None = None
        self._lost = self._symptoms = self._samples_before = 0
        self._rate = 0.0
        self._stuck: tuple[int, str] | None = None

    def run(
        self,
        stop: threading.Event,
        for_s: float | None = None,
        on_status: Callable[[RecorderStatus], None] | None = None,
    ) -> RecorderStatus:
        """Record until `stop` is set or `for_s` seconds have passed; the last status."""
        now = clock.now()
        self._writer.add_events(since_the_last(self._writer.folder, self._host, now))
        self._event(STARTED, hello(self._host))
        ends = None if for_s is None else clock.elapsed_s() + for_s
        second = now.realtime_ns // NS
        while not stop.is_set() and (ends is None or clock.elapsed_s() < ends):
            now = clock.now()
            if events := self._timeline.turn(now):
                self._writer.add_events(events)
            self._take_perf(self._feed.rows() if self._feed else [])
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
        if self._feed is not None:
            self._take_perf(self._feed.close())
        self._keep(self._sampler.finish())
        self._event(STOPPED, hello(self._host))
        self._writer.flush()
        return self.status()

    # -- perf --------------------------------------------------------------------------------------------

    def _take_perf(self, rows: Iterable[Row]) -> None:
        self._lost += keep_rows(self._writer, rows, self._timeline.offsets)
        if self._feed is not None and self._writer.forgot_stacks():
            self._feed.stacks_forgotten()
        if self._feed is not None and (events := self._feed.events()):
            self._writer.add_events(events)

    # -- sensors -----------------------------------------------------------------------------------------

    def _look(self, now: ClockReading, second: int) -> None:
        if self._first_look_ns is None:
            self._first_look_ns = now.monotonic_ns
        self._keep(self._sampler.looks(round((now.monotonic_ns - self._first_look_ns) / NS)))
        own = [*self._own.read(self._feed.pid if self._feed else None), Sample(LOST.name, self._lost)]
        if second % 60 == 0 or self._samples_before == 0:
            own.append(Sample(CLOCK.name, now.monotonic_ns / NS))
        self._writer.add_signals(now.realtime_ns, own, OWN_SOURCE)
        self._heed(self._writer.status())
        if second % TRIM_S == 0:
            frugal.give_back()

    def _heed(self, writer: WriterStatus) -> None:
        self._rate, self._samples_before = writer.samples - self._samples_before, writer.samples
        now_ns = clock.now().realtime_ns
        if writer.trouble:
            self._stuck = self._stuck or (now_ns, writer.trouble)
        elif self._stuck is not None:
            # Told afterwards: what is added while rows wait is the first to be dropped.
            self._writer.add_events([stuck(self._stuck[0], now_ns, self._stuck[1])])
            self._stuck = None

    def _keep(self, looks: Sequence[Look]) -> None:
        for look in looks:
            if look.reading.samples:
                self._writer.add_signals(look.at_ns, look.reading.samples, look.sensor)
            self._writer.add_signals(look.at_ns, own_samples([look]), f"{look.sensor}-cost")
            self._writer.add_records(look.at_ns, look.reading.records)
        events = self._chronicle.events(looks)
        self._symptoms += sum(event.source == "kmsg" for event in events)
        if events:
            self._writer.add_events(events)

    def _event(self, kind: str, text: str) -> None:
        self._writer.add_events([own_event(clock.now().realtime_ns, kind, text)])


def _until_next_turn(now_ns: int) -> float:
    """Seconds to the next half second of the wall clock, so that looks fall on whole seconds."""
    turn_ns = int(TURN_S * NS)
    return max(0.01, (turn_ns - now_ns % turn_ns) / NS)
