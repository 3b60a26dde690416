"""Kernel lines of an old log to symptoms, through the same joining as the live log.

Each event of the log is one symptom with its own time: an import is about when things happened, so repeats are not
folded. Lines are taken in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from necroscope.clock import ClockReading
from necroscope.sense.importers.rows import LogEvent, log_event
from necroscope.sense.log.episodes import Episode
from necroscope.sense.log.joining import Joiner
from necroscope.sense.log.kernel_log import to_symptom
from necroscope.sense.log.kmsg import LogRecord
from necroscope.sense.log.log_clock import LogClock
from necroscope.sense.log.symptoms import catalogue

_CHUNK = 2000


@dataclass(frozen=True, slots=True)
class KernelLine:
    """A line and its UTC time, give or take `uncertainty_ns`. `caller` is who printed it: T4711, C3, or unknown."""

    at_ns: int
    uncertainty_ns: int
    text: str
    caller: str = ""


class SymptomReader:
    """Takes kernel lines, hands out events. Memory does not grow with the log."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._joiner = Joiner(catalogue())
        self._clock: LogClock | None = None
        self._start_ns = 0
        self._waiting: list[LogRecord] = []
        self._uncertainty_ns = 0
        self._latest = 0
        self.lines = 0

    def feed(self, line: KernelLine) -> Iterator[LogEvent]:
        """Take the next line; events that are complete come out."""
        if self._clock is None:
            # Joining counts from a start, as the kernel does; the first line is far enough from it for older ones.
            self._start_ns = line.at_ns - 86_400_000_000_000
            self._clock = LogClock(ClockReading(self._start_ns, 0, 0), 0)
        usec = max(0, line.at_ns - self._start_ns) // 1000
        if usec + 60_000_000 < self._latest:
            yield from self.finish()  # the log went back: another boot, or another file
        self._latest = usec
        self._uncertainty_ns = max(self._uncertainty_ns, line.uncertainty_ns)
        self._waiting.append(LogRecord(self.lines, usec, 6, 0, line.text, line.caller))
        self.lines += 1
        if len(self._waiting) >= _CHUNK:
            self._joiner.feed(self._waiting)
            self._waiting.clear()
            yield from self._events(self._joiner.settled())

    def finish(self) -> Iterator[LogEvent]:
        """What still waits for further lines."""
        self._joiner.feed(self._waiting)
        self._waiting.clear()
        yield from self._events(self._joiner.take())
        self._joiner = Joiner(catalogue())
        self._latest = 0

    def _events(self, episodes: Iterable[Episode]) -> Iterator[LogEvent]:
        clock = self._clock
        for episode in episodes if clock is not None else ():
            symptom = to_symptom(episode, clock)  # type: ignore[arg-type]
            uncertainty_ns = max(symptom.uncertainty_ns, self._uncertainty_ns)
            yield log_event(replace(symptom, source=self._source, uncertainty_ns=uncertainty_ns))
