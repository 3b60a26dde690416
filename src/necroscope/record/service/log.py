"""Which things are worth a line, at which level, and how many of one kind in a minute.

Told: starts and ends with their limits, symptoms, verdicts, gaps, troubles when they begin and when they are over, what
the recorder cannot see, and at level debug its status once a minute. Everything else is on the timeline and not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from necroscope import clock
from necroscope.clock import NS, iso
from necroscope.query.case.symptom import is_symptom
from necroscope.sense.log.symptoms import catalogue
from necroscope.show.log.log_line import LEVELS, Level, LogLine
from necroscope.vocabulary.event import SYMPTOM_SOURCES, Event
from necroscope.vocabulary.event_sentence import sentence

if TYPE_CHECKING:
    from necroscope.record.recorder import RecorderStatus

OF_A_KIND, WINDOW_S = 10, 60.0
_NAMES: tuple[str, ...] = LEVELS
STATUS_S = 60.0
SETTLED_S = 20.0
LOGS = ("kmsg", "dmesg", "journal")
_OWN: Mapping[str, Level] = {
    "recorder-gap": "warning",
    "store-stuck": "warning",
    "store-lost": "error",
    "store-damaged": "warning",
    "recorder-sheds": "warning",
    "recorder-recovers": "info",
    "sensor-blind": "warning",
    "sensor-sees": "info",
    "perf-unavailable": "warning",
    "perf-ended": "warning",
    "perf-lacks": "info",
    "clock-step": "info",
    "boot": "debug",
    "perf-started": "debug",
    "retention": "debug",
    "samples-lost": "debug",
}
_SEVERITIES: Mapping[str, Level] = {"critical": "error", "warning": "warning", "info": "info"}


class Log:
    """Makes lines and hands them to `write`. One for a recorder."""

    def __init__(self, write: Callable[[LogLine], None], level: str = "info") -> None:
        self._write = write
        self.level = level
        self._said: dict[str, tuple[float, int, Level]] = {}
        self._troubles: set[str] = set()
        self._status_s = clock.elapsed_s() + STATUS_S
        self._settled_s = clock.elapsed_s() + SETTLED_S
        self._began_ns = clock.now().realtime_ns

    def line(self, level: Level, kind: str, text: str, at_ns: int | None = None, **fields: object) -> None:
        """Write one, where the level is wanted."""
        if LEVELS.index(level) >= _NAMES.index(self.level):
            when_ns = clock.now().realtime_ns if at_ns is None else at_ns
            known = {name: value for name, value in fields.items() if value not in (None, "")}
            self._write(LogLine(when_ns, level, kind, text, known))

    def happened(self, events: Sequence[Event]) -> None:
        """Lines about events that matter; of one kind in a minute the first ten, then how many more there were."""
        for event in events:
            if event.source in LOGS and event.at_ns < self._began_ns - NS:
                continue  # the kernel's log of before: the first look reads all of it
            level = _level(event)
            if event.kind == "sensor-blind" and clock.elapsed_s() < self._settled_s:
                level = "info"  # it was never seen here
            if level is not None and self._may(event.kind, level):
                self._tell(event, level)

    def stands(self, status: RecorderStatus, text: str) -> None:
        """Troubles that began or are over; the status, now and then."""
        now = {trouble.short: trouble.text for trouble in status.troubles}
        for short in now.keys() - self._troubles:
            self.line("warning", "trouble", now[short], subject=short)
        for short in self._troubles - now.keys():
            self.line("info", "trouble-over", f"no longer: {short}", subject=short)
        self._troubles = set(now)
        self._sum_up()
        if clock.elapsed_s() >= self._status_s:
            self._status_s += STATUS_S
            self.line("debug", "status", text)

    def _tell(self, event: Event, level: Level) -> None:
        kind = "symptom" if event.source in SYMPTOM_SOURCES else event.kind
        about = event.kind if kind == "symptom" else ""
        text = ": ".join(part for part in (about, event.subject, sentence(event)) if part)
        now_ns = clock.now().realtime_ns
        late = f" (at {iso(event.at_ns)})" if abs(now_ns - event.at_ns) > 10 * NS and kind == "symptom" else ""
        fields = {name: value for name, value in event.fields.items() if name not in ("text", "kind", "at_ns")}
        fields |= {"event": event.kind, "id": str(event.id), "event_at": iso(event.at_ns)}
        self.line(level, kind, text + late, **fields)

    def _may(self, kind: str, level: Level) -> bool:
        now_s = clock.elapsed_s()
        began_s, count, _ = self._said.get(kind, (now_s, 0, level))
        self._said[kind] = began_s, count + 1, level
        return count < OF_A_KIND

    def _sum_up(self) -> None:
        now_s = clock.elapsed_s()
        over = [one for one, (began_s, _, _) in self._said.items() if now_s - began_s >= WINDOW_S]
        for kind in over:
            began_s, count, level = self._said.pop(kind)
            if count > OF_A_KIND:
                self.line(level, kind, f"{count - OF_A_KIND:,} more within {now_s - began_s:.0f} s", count=count)


def _level(event: Event) -> Level | None:
    """None: not worth a line."""
    if event.source not in SYMPTOM_SOURCES:
        return _OWN.get(event.kind)
    if is_symptom(event):
        return "warning"
    known = catalogue().kinds.get(event.kind)
    return _SEVERITIES.get(known.severity) if known is not None else None
