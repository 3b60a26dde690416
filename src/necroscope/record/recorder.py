"""The flight recorder's loop: every second the sensors, whatever perf has brought, then a flush.

One thread writes. Looks fall on whole seconds of the wall clock; how long things take is counted on the monotonic one,
so that a step of the wall clock neither hurries nor holds up anything (`timeline.py`). What was missed is reported
(`gaps.py`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from necroscope import clock
from necroscope.clock import NS, ClockReading
from necroscope.record.budget import memory_trim
from necroscope.record.budget.governor import Budget
from necroscope.record.budget.own_cost import OwnCost
from necroscope.record.budget.own_use import OwnUse
from necroscope.record.budget.shedding import SIGNALS as SHEDDING
from necroscope.record.budget.shedding import Shedding, switches
from necroscope.record.chronicle import Chronicle, reported_since_boot
from necroscope.record.feed import PerfFeed
from necroscope.record.gaps import OWN_SOURCE, STARTED, STOPPED, hello, since_the_last, stuck
from necroscope.record.observer import Nobody, Observer
from necroscope.record.perf_rows import keep_rows
from necroscope.record.timeline import Timeline
from necroscope.record.unresolved import SIGNAL as UNRESOLVED
from necroscope.sense.host import Host
from necroscope.sense.log.kernel_log import KernelLog
from necroscope.sense.perf.rows import Row
from necroscope.sense.sampler import COST, SEEN, Sampler, own_samples
from necroscope.sense.sensor import Look, Sensor
from necroscope.store.write.writer import Writer, WriterStatus
from necroscope.vocabulary.model import Sample, Signal

TURN_S = 1.0
TRIM_S = 10
CLOCK = Signal("clock_monotonic_seconds", "seconds", "gauge", "CLOCK_MONOTONIC at the time of the row, which is UTC.")
LOST = Signal("perf_lost_records", "records", "counter", "Records of perf that the kernel had no room for.")
SIGNALS = (COST, SEEN, CLOCK, LOST, UNRESOLVED, *OwnCost.signals, *SHEDDING)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What keeps the recorder from seeing or keeping something: two words, and a sentence."""

    short: str
    text: str


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """How it goes, for the status line. `symptoms` are those since the recorder began; None: not known.
    Rates are those of the last second; of the last status, those of the whole time."""

    seconds: float
    samples: int
    samples_per_s: float
    lost: int
    symptoms: int | None
    cpu_share: float
    rss_bytes: int
    bytes: int
    bytes_per_s: float
    hours_left: float | None
    troubles: tuple[Trouble, ...]


class Recorder:
    """Records until asked to stop. The writer is not closed here."""

    def __init__(
        self,
        host: Host,
        writer: Writer,
        feed: PerfFeed | None,
        fast: Sequence[Sensor],
        slow: Sequence[Sensor],
        budget: Budget | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._host, self._writer, self._feed = host, writer, feed
        budget = budget or Budget.of(os.cpu_count() or 1)
        self._shedding = Shedding(budget, switches(feed, slow), OwnUse(host).read)
        self._observer = observer or Nobody()
        writer.on_events = self._observer.happened
        self._sampler = Sampler(host, fast, slow)
        self._chronicle = Chronicle(reported_since_boot(writer.folder, clock.now()))
        self._own = OwnCost(host)
        self._began_s = clock.elapsed_s()
        self._began_ns = clock.now().realtime_ns
        self._began_cpu_s = sum(clock.cpu_s())
        self._timeline = Timeline(clock.now())
        self._first_look_ns: int | None = None
        self._lost = self._symptoms = self._samples_before = self._written_before = 0
        self._rates = (0.0, 0.0)
        self._log_seen = False
        self._log_blind = ""
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
        self._tell_of_itself(STARTED)
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
                status = self.status()
                self._observer.stands(status)
                if on_status is not None:
                    on_status(status)
            self._writer.flush()
            left_s = _until_next_turn(clock.now().realtime_ns)
            stop.wait(left_s if ends is None else max(0.0, min(left_s, ends - clock.elapsed_s())))
        return self._end()

    def limit(self, budget: Budget) -> None:
        """Keep within this budget from now on."""
        self._shedding.limit(budget)

    def status(self) -> RecorderStatus:
        """How it goes."""
        writer = self._writer.status()
        cpu_share, rss_bytes = self._own.last
        return RecorderStatus(
            seconds=clock.elapsed_s() - self._began_s,
            samples=writer.samples,
            samples_per_s=self._rates[0],
            lost=self._lost + writer.lost_samples,
            symptoms=self._symptoms if self._log_seen else None,
            cpu_share=cpu_share,
            rss_bytes=rss_bytes,
            bytes=writer.bytes + writer.journal_bytes,
            bytes_per_s=self._rates[1],
            hours_left=writer.hours_left,
            troubles=tuple(self._troubles(writer)),
        )

    def _troubles(self, writer: WriterStatus) -> Iterator[Trouble]:
        if disk := writer.trouble:
            yield Trouble(f"disk: {disk}", f"the store cannot be written, and rows wait in memory: {disk}")
        if writer.loss:
            yield Trouble("store lost", writer.loss)
        if self._feed is not None and (complaint := self._feed.complaint):
            yield Trouble("no samples", f"no samples are taken: {complaint}")
        if self._log_blind:
            yield Trouble("symptoms unknown", f"symptoms are not known: {self._log_blind}")

    def _end(self) -> RecorderStatus:
        if self._feed is not None:
            self._take_perf(self._feed.close())
        self._keep(self._sampler.finish())
        self._tell_of_itself(STOPPED)
        self._writer.flush()
        last = self.status()
        seconds = max(last.seconds, 0.001)
        return replace(
            last,
            samples_per_s=last.samples / seconds,
            bytes_per_s=self._writer.status().written_bytes / seconds,
            cpu_share=(sum(clock.cpu_s()) - self._began_cpu_s) / seconds,
        )

    # -- perf --------------------------------------------------------------------------------------------

    def _take_perf(self, rows: Iterable[Row]) -> None:
        self._lost += keep_rows(self._writer, rows, self._timeline.offsets)
        if self._feed is not None and self._writer.dropped_stacks():
            self._feed.stacks_forgotten()
        if self._feed is not None and (events := self._feed.events()):
            self._writer.add_events(events)

    # -- sensors -----------------------------------------------------------------------------------------

    def _look(self, now: ClockReading, second: int) -> None:
        if self._first_look_ns is None:
            self._first_look_ns = now.monotonic_ns
        self._keep(self._sampler.looks(round((now.monotonic_ns - self._first_look_ns) / NS)))
        own = [*self._own.read(self._parts()), Sample(LOST.name, self._lost)]
        if self._feed is not None:
            own += self._feed.unresolved.samples()
        if events := self._shedding.turn():
            self._writer.add_events(events)
        own += self._shedding.samples()
        if second % 60 == 0 or self._samples_before == 0:
            own.append(Sample(CLOCK.name, now.monotonic_ns / NS))
        self._writer.add_signals(now.realtime_ns, own, OWN_SOURCE)
        self._observer.measured(own)
        self._heed(self._writer.status())
        if second % TRIM_S == 0:
            memory_trim.give_back()

    def _parts(self) -> dict[str, int]:
        """The processes that work for this one, by name."""
        if self._feed is None:
            return {}
        perf = self._feed.pid
        return {**({"perf": perf} if perf else {}), **self._feed.children}

    def _heed(self, writer: WriterStatus) -> None:
        self._rates = (writer.samples - self._samples_before, writer.written_bytes - self._written_before)
        self._samples_before, self._written_before = writer.samples, writer.written_bytes
        now_ns = clock.now().realtime_ns
        if writer.trouble:
            self._stuck = self._stuck or (now_ns, writer.trouble)
        elif self._stuck is not None:
            # Reported afterwards: what is added while rows wait is the first to be dropped.
            self._writer.add_events([stuck(self._stuck[0], now_ns, self._stuck[1])])
            self._stuck = None

    def _keep(self, looks: Sequence[Look]) -> None:
        self._observer.looked(looks)
        for look in looks:
            if look.reading.samples:
                self._writer.add_signals(look.at_ns, look.reading.samples, look.sensor)
            self._writer.add_signals(look.at_ns, own_samples([look]), f"{look.sensor}-cost")
            self._writer.add_records(look.at_ns, look.reading.records)
            if look.sensor == KernelLog.name:
                self._see_log(look)
        events = self._chronicle.events(looks)
        # The first look reads all of the log: what was there before is no symptom of this recording.
        self._symptoms += sum(event.source == KernelLog.name and event.at_ns >= self._began_ns for event in events)
        if events:
            self._writer.add_events(events)

    def _see_log(self, look: Look) -> None:
        """A log that was read in part still tells; one that was not read at all hides whatever happened."""
        unseen = look.reading.unseen if not look.reading.samples else ()
        self._log_seen = not unseen
        self._log_blind = "; ".join(f"{one.reason} ({one.hint})" if one.hint else one.reason for one in unseen)

    def _tell_of_itself(self, kind: str) -> None:
        self._writer.add_events([hello(self._host, clock.now().realtime_ns, kind)])


def _until_next_turn(now_ns: int) -> float:
    """Seconds to the next turn on the wall clock, so that looks fall on whole seconds."""
    turn_ns = int(TURN_S * NS)
    return max(0.01, (turn_ns - now_ns % turn_ns) / NS)
