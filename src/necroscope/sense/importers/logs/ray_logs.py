"""Ray's logs: actors and workers that died, objects that were lost, nodes that were given up, jobs that ended.

    for event in RayLogs(path).rows(): ...

Ray writes local times without a zone: `clock_offset_ns` is what to add, where no line tells UTC too. What one failure
says in several lines is one event. An actor that ended because its program or its owner asked for it is no failure.
Tracebacks have no time of their own: that of the line before counts, with an uncertainty of a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.dates import LogDates
from necroscope.sense.importers.logs.ray_lines import RayLine, intended_actor, parse_line, ray_event
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.source import LOCAL, NO_PLACING, Placing, Source

K = TypeVar("K")
V = TypeVar("V")
SOURCE = "ray"
_AGAIN_NS = 30_000_000_000
_NO_TIME_NS = 60_000_000_000
_QUARTER_NS = 900_000_000_000
_REMEMBERED = 1 << 14
_TEXT = 500


class RayLogs:
    """One log file of a Ray node."""

    def __init__(self, file: Path | BinaryIO, placing: Placing = NO_PLACING) -> None:
        self._file = file
        self._placing = placing
        self._source: Source | None = None
        self._last_event_ns: dict[tuple[str, str], int] = {}
        self._intended: dict[str, None] = {}
        self._dates = LogDates(placing.at_ns, "", None)
        self._west_ns: int | None = None
        self.lines = 0
        self.undated = 0

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._source.progress if self._source else 0.0

    def notes(self) -> tuple[str, ...]:
        """What is lost or guessed in what was read so far, in sentences."""
        local = self.lines and self._west_ns is None and self._placing.zoneless
        said = (
            (self._dates.said, self._dates.said),
            (local, LOCAL),
            (self.undated, f"{self.undated:,} failures have no time and were left out"),
        )
        cut = self._source.notes() if self._source else ()
        return (*cut, *(sentence for holds, sentence in said if holds))

    def rows(self) -> Iterator[LogEvent]:
        """Events in the order of the log. `BadInput` when no line is one of Ray's."""
        latest_ns = self._placing.at_ns
        with Source(self._file) as source:
            self._source = source
            self._dates = LogDates(self._placing.at_ns, Path(source.name).name, source.modified_ns)
            for raw in source.lines():
                line = parse_line(raw)
                if line.at_ns is not None:
                    self.lines += 1
                    latest_ns = self._utc(line, line.at_ns)
                yield from self._event(line, latest_ns)
        if not self.lines and not self._last_event_ns and not self.undated:
            raise BadInput(f"{source.name} has no line of a Ray log")

    def line(self, raw: bytes, at_ns: int) -> Iterator[LogEvent]:
        """Events of one line that was read at this time, whatever time it tells."""
        yield from self._event(parse_line(raw), at_ns)

    def _utc(self, line: RayLine, at_ns: int) -> int:
        """When a line was written. A line that tells both clocks tells the zone of those that do not."""
        if line.utc_ns is not None:
            self._west_ns = round((line.utc_ns - at_ns) / _QUARTER_NS) * _QUARTER_NS
        elif not line.dated:
            at_ns = self._dates.dated(at_ns)
        if self._west_ns is not None and self._placing.clock_offset_ns is None:
            return at_ns + self._west_ns
        return at_ns + self._placing.offset_ns()

    def _event(self, line: RayLine, at_ns: int | None) -> Iterator[LogEvent]:
        if actor := intended_actor(line.text):
            _remember(self._intended, actor, None)
            return
        found = ray_event(line.text)
        if found is None or found.subject in self._intended:
            return
        if at_ns is None:
            self.undated += 1
            return
        key = (found.kind, found.subject)
        before_ns = self._last_event_ns.get(key)
        _remember(self._last_event_ns, key, at_ns)
        # A failed health check counts down: each is news.
        if before_ns is not None and at_ns - before_ns < (1 if found.kind == "ray-health-check-failed" else _AGAIN_NS):
            return
        uncertainty_ns = _NO_TIME_NS if line.at_ns is None else line.step_ns
        text = line.text.decode("utf-8", "replace").strip()
        printable = "".join(char if char.isprintable() else " " for char in text)[:_TEXT]
        yield LogEvent(
            at_ns,
            found.kind,
            SOURCE,
            found.subject,
            printable,
            uncertainty_ns,
            pid=found.pid,
            stall_s=found.stall_s,
        )


def _remember(known: dict[K, V], key: K, value: V) -> None:
    known.pop(key, None)
    if len(known) >= _REMEMBERED:
        known.pop(next(iter(known)))
    known[key] = value
