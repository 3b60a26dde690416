"""A recording of a few seconds, with everything that the recorder uses: what it could not see, and what it took."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from necroscope import clock
from necroscope.config import Config
from necroscope.record.feed import PerfFeed
from necroscope.record.plan import fast_sensors, open_writer, slow_sensors
from necroscope.record.recorder import Recorder, RecorderStatus
from necroscope.sense.host import Host
from necroscope.sense.perf.launch.starter import PerfStarter
from necroscope.sense.sensor import Look
from necroscope.store.format.segment import size_bytes
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Sample, Unseen

MEASURED_S = 2.0
# perf's start and the first look at everything are no part of what recording costs.
_START_S = 3.0


@dataclass(slots=True)
class Trial:
    """An observer of the recording that is tried."""

    seen: set[str] = field(default_factory=set)
    unseen: dict[str, Unseen] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    samples: int = 0
    complaint: str = ""
    memory_bytes: int = 0
    bytes_per_s: float | None = None
    _cpu: list[tuple[float, float]] = field(default_factory=list)

    @property
    def cpu_share(self) -> float | None:
        """CPU time of all parts over the measured seconds, as a share of one core."""
        if len(self._cpu) < 2:
            return None
        (before_s, before), (after_s, after) = self._cpu[0], self._cpu[-1]
        return max(0.0, after - before) / (after_s - before_s) if after_s > before_s else None

    def happened(self, events: Sequence[Event]) -> None:
        """What perf lacks is told by events."""
        self.events += [one for one in events if one.kind in ("perf-lacks", "perf-unavailable")][:64]

    def looked(self, looks: Sequence[Look]) -> None:
        """What each sensor could see."""
        for look in looks:
            if look.reading.samples or look.reading.records or not look.reading.unseen:
                self.seen.add(look.sensor)
            for one in look.reading.unseen:
                self.unseen[look.sensor] = one

    def measured(self, samples: Sequence[Sample]) -> None:
        """CPU time of the recorder and its children."""
        total = sum(one.value for one in samples if one.signal == "recorder_cpu_seconds")
        self._cpu.append((clock.elapsed_s(), total))
        cut_s = clock.elapsed_s() - MEASURED_S - 0.5
        self._cpu = [one for one in self._cpu if one[0] >= cut_s]

    def stands(self, status: RecorderStatus) -> None:
        """Samples and memory by now."""
        self.samples, self.memory_bytes = status.samples, status.rss_bytes
        self.complaint = next((one.text for one in status.troubles if one.short == "no samples"), "")


def tried(host: Host, config: Config) -> Trial:
    """Record for a few seconds; everything is gone afterwards."""
    trial = Trial()
    with TemporaryDirectory(prefix="necroscope-doctor-") as folder:
        writer = open_writer(Path(folder) / "store", config)
        began_s = clock.elapsed_s()
        try:
            feed = None
            if config.record.perf:
                feed = PerfFeed(host, PerfStarter(host, writer.folder), config.record.frequency_hz)
            skip = config.record.skip
            slow = slow_sensors(feed.sampled.take, skip) if feed is not None else slow_sensors(skip=skip)
            recorder = Recorder(host, writer, feed, fast_sensors(skip=skip), slow, observer=trial)
            recorder.run(threading.Event(), _START_S + MEASURED_S)
        finally:
            writer.close()
        seconds = clock.elapsed_s() - began_s
        trial.bytes_per_s = sum(size_bytes(one) for one in writer.segments) / seconds
    return trial
