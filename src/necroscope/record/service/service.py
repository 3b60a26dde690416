"""Everything that a recorder does beside recording: its log, its metrics, its verdicts, its supervisor, its settings.

An observer of the recorder. What it is told in the recorder's thread it hands on without waiting; verdicts come back
from a thread of their own and are put on the timeline at the next turn.
"""

from __future__ import annotations

import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from necroscope import clock
from necroscope.clock import NS
from necroscope.config import Config
from necroscope.errors import NecroscopeError
from necroscope.quantity import size, span
from necroscope.record.jobs.logs import JobLogs
from necroscope.record.jobs.stalled import Stalled
from necroscope.record.metrics import declared
from necroscope.record.metrics.file import MetricsFile
from necroscope.record.metrics.metrics import Metrics
from necroscope.record.metrics.server import MetricsServer
from necroscope.record.plan import budget_of, retention_of
from necroscope.record.recorder import Recorder, RecorderStatus
from necroscope.record.service.log import Log
from necroscope.record.service.supervisor import Supervisor
from necroscope.record.sinks.made import sinks
from necroscope.record.sinks.queue import SinkQueue, Told
from necroscope.record.verdicts.asking import Asking
from necroscope.record.verdicts.pronounced import Pronounced
from necroscope.sense.gpu.nvidia import Gpu
from necroscope.sense.sensor import Look
from necroscope.show.metrics.text import CONTENT_TYPE, text
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Sample

HELD_S = 5.0
_REMEMBERED = 4_096


class Service:
    """Made before the recorder that it watches; `began` is told when that one is there, `ended` when it is over.

    `reload` gives the settings anew, when `again` is set.
    """

    def __init__(
        self,
        writer: Writer,
        config: Config,
        log: Log,
        again: threading.Event,
        reload: Callable[[], Config],
        line: Callable[[RecorderStatus], str],
    ) -> None:
        self._writer, self._config, self._log = writer, config, log
        self._again, self._reload, self._line = again, reload, line
        self._node = socket.gethostname()
        self._supervisor = Supervisor()
        self.metrics = Metrics(config.labels)
        self._file = MetricsFile(writer.folder)
        self._server: MetricsServer | None = None
        if config.metrics.listen:
            self._server = MetricsServer(config.metrics.listen, self._page, CONTENT_TYPE)
        self._verdicts: SimpleQueue[Pronounced] = SimpleQueue()
        self._sinks = self._queues(config)
        self._asking = self._asker(config)
        self._stalled = Stalled(config.jobs.stalled_s)
        self._job_logs = JobLogs(config.jobs.follow) if config.jobs.follow else None
        self._found: list[Event] = []
        self._recorder: Recorder | None = None
        self._seen: deque[int] = deque(maxlen=_REMEMBERED)
        self._held: set[str] = set()

    def began(self, recorder: Recorder) -> None:
        """The recorder that is watched."""
        self._recorder = recorder
        self._log.line("info", "started", self._limits(), store=str(self._writer.folder), pid=os.getpid())

    def ended(self, last: RecorderStatus) -> None:
        """The recording is over; verdicts under way are given up, sinks get a moment for what waits."""
        self._supervisor.stopping()
        if self._asking is not None:
            self._asking.close()
        if self._job_logs is not None:
            self._job_logs.close()
        self._take_verdicts()
        self._log.line("info", "stopped", self._line(last).replace("recording", "recorded", 1))
        for one in self._sinks:
            one.close()
        if self._server is not None:
            self._server.close()
        self._file.remove()

    # -- what the recorder tells -----------------------------------------------------------------------------

    def happened(self, events: Sequence[Event]) -> None:
        """Events. Those of the inbox may come twice, where the disk was stuck."""
        fresh = [event for event in events if event.source != "mark" or event.id not in self._seen]
        self._seen.extend(event.id for event in fresh if event.source == "mark")
        self.metrics.happened(fresh)
        self._stalled.marks(fresh)
        self._log.happened(fresh)
        if self._asking is not None:
            self._asking.happened(fresh)

    def looked(self, looks: Sequence[Look]) -> None:
        """Looks of sensors."""
        self.metrics.looked(looks)
        for look in looks:
            if look.sensor == Gpu.name:
                self._found += self._stalled.gpus(look.reading.samples, look.at_ns)
        held = self.metrics.held(HELD_S)
        for cpu in held - self._held:
            if self._asking is not None:
                self._asking.starved(cpu)
        self._held = held

    def measured(self, samples: Sequence[Sample]) -> None:
        """What the recorder measured of itself."""
        self.metrics.measured(samples)

    def stands(self, status: RecorderStatus) -> None:
        """How it goes: verdicts are put on the timeline, whoever supervises hears that we live."""
        line = self._line(status)
        self._take_jobs()
        self._take_verdicts()
        self.metrics.stands(status)
        self._log.stands(status, line)
        self._supervisor.alive(line)
        if self._file.due():
            self._file.write(self._page())
        if self._again.is_set():
            self._again.clear()
            self._take_settings()

    def _take_jobs(self) -> None:
        """What became of jobs goes onto the timeline, and from there wherever events go."""
        found, self._found = self._found, []
        found += self._stalled.late(clock.now().realtime_ns)
        if self._job_logs is not None:
            found += self._job_logs.events()
        if found:
            self._writer.add_events(found)

    # -- verdicts --------------------------------------------------------------------------------------------

    def _take_verdicts(self) -> None:
        with suppress(Empty):
            while True:
                self._writer.add_events([self._verdicts.get_nowait().event])

    def _pronounced(self, made: Pronounced) -> None:
        """In the thread that asks."""
        for one in self._sinks:
            one.put(made)
        if made.again:
            return
        self._verdicts.put(made)
        self._log.line(
            "error" if made.verdict == "explained" else "warning",
            "verdict",
            made.sentence,
            id=made.id,
            verdict=made.verdict,
            cause=made.kind,
            subject=made.subject,
            symptom=made.symptom.get("kind"),
            confidence=made.cause.get("confidence"),
            delay_s=round(made.delay_s, 1),
            replaces=made.replaces,
            repeats=made.repeats,
        )
        self.metrics.count(declared.VERDICTS, 1, made.verdict, made.kind, made.subject)
        self.metrics.put(declared.VERDICT_AT, made.at_ns / NS, made.verdict, made.kind, made.subject)
        self.metrics.put(declared.VERDICT_DELAY, round(made.delay_s, 3))

    def _spent(self, cpu_s: float, trouble: str) -> None:
        self.metrics.count(declared.VERDICT_CPU, cpu_s)
        if trouble:
            self.metrics.count(declared.VERDICTS_SKIPPED, 1, "failed")
            self._log.line("warning", "verdict-failed", f"a symptom could not be explained: {trouble}")

    def _delivered(self, told: Told) -> None:
        self.metrics.count(declared.SINKS, 1, told.sink, told.result)
        if told.text:
            self._log.line("info" if told.result == "delivered" else "warning", "sink", told.text, sink=told.sink)

    def _asker(self, config: Config) -> Asking | None:
        if not config.explain.enabled:
            return None
        skipped = lambda why: self.metrics.count(declared.VERDICTS_SKIPPED, 1, why)  # noqa: E731
        return Asking(self._writer.folder, config, self._pronounced, self._spent, skipped)

    def _queues(self, config: Config) -> list[SinkQueue]:
        return [SinkQueue(one, self._delivered) for one in sinks(config, self._node, self._writer.folder)]

    # -- settings --------------------------------------------------------------------------------------------

    def _take_settings(self) -> None:
        """Settings anew. A mistake in them leaves everything as it was."""
        self._supervisor.reloading()
        try:
            config = self._reload()
        except NecroscopeError as error:
            self._log.line("error", "reload", f"the settings stay as they were: {error.message} ({error.hint})")
        else:
            self._apply(config)
        self._supervisor.reloaded()

    def _apply(self, config: Config) -> None:
        before, self._config = self._config, config
        self._log.level = config.log.level
        self._writer.keep_within(retention_of(config))
        if self._recorder is not None:
            self._recorder.limit(budget_of(config, os.cpu_count() or 1))
        self.metrics.labels = dict(config.labels)
        if (config.sinks, config.labels) != (before.sinks, before.labels):
            for one in self._sinks:
                one.close(0.1)
            self._sinks = self._queues(config)
        self._stalled.after_s = config.jobs.stalled_s
        if config.jobs.follow != before.jobs.follow:
            if self._job_logs is not None:
                self._job_logs.close()
            self._job_logs = JobLogs(config.jobs.follow) if config.jobs.follow else None
        if self._asking is None:
            self._asking = self._asker(config)
        elif config.explain.enabled:
            self._asking.set(config)
        else:
            self._asking.close()
            self._asking = None
        later = [name for name in ("record", "metrics") if getattr(config, name) != getattr(before, name)]
        later += ["store.path"] if config.store.path != before.store.path else []
        rest = f"; only a restart changes {', '.join(later)}" if later else ""
        self._log.line("info", "reload", f"{self._limits()}{rest}")

    def _limits(self) -> str:
        """What holds now, in a line."""
        config, budget = self._config, budget_of(self._config, os.cpu_count() or 1)
        store = config.store
        kept = size(store.max_bytes) if store.max_bytes is not None else f"{store.share:.0%} of the disk"
        parts = [
            f"recording to {self._writer.folder}",
            f"at most {kept} and {span(store.max_age_s)}",
            f"{config.record.frequency_hz} Hz" if config.record.perf else "no samples",
            f"budget {budget.cpu:.1%} of a core, {size(budget.memory_bytes)}",
            f"metrics at {self._server.address}" if self._server is not None else "",
            "explains symptoms" if config.explain.enabled else "",
            f"{len(config.sinks)} sinks" if config.sinks else "",
        ]
        return ", ".join(part for part in parts if part)

    def _page(self) -> str:
        return text(self.metrics.families())
