"""The kernel's log as text: dmesg in its forms, `journalctl -k`, /var/log/kern.log, a saved console.

    for event in Dmesg(path, Placing(clock_offset_ns=boot_ns)).rows(): ...

Times since boot need a date: `clock_offset_ns` (when the machine booted), `at_ns` (the time of the first line), or a
line of the log itself that tells the wall clock (the real-time clock at boot, an audit record). Local times are taken
as UTC unless `clock_offset_ns` says otherwise. A date without a year is put in the year that brings the first line
nearest to `at_ns`, else in the last one before the file was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from necroscope import clock
from necroscope.errors import BadInput
from necroscope.sense.importers.log_stamps import S, Stamped, parse_line, with_year
from necroscope.sense.importers.log_symptoms import KernelLine, SymptomReader
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.source import NOTHING_TOLD, Placing, Source

_SLEW = 500e-6  # what a free-running clock may be off
_DAY_NS = 86_400 * S
_HOSTS = 64
# Lines that tell the wall clock: the real-time clock read at boot, records of the audit system.
_ANCHOR = re.compile(rb"setting system clock to .{1,40}\((\d{9,11})\)|audit\((\d{9,11})\.(\d{3}):\d{1,12}\)")


class Dmesg:
    """One log. `hosts` are those that its lines name; `lines` how many were the kernel's."""

    def __init__(self, file: Path | BinaryIO, placing: Placing = NOTHING_TOLD, source_name: str = "dmesg") -> None:
        self._file = file
        self._placing = placing
        self._symptoms = SymptomReader(source_name)
        self._source: Source | None = None
        self._guessed_year = False
        self._offset_ns: int | None = placing.clock_offset_ns
        self._anchored = False
        self._previous_ns: int | None = None
        self.hosts: set[str] = set()

    @property
    def lines(self) -> int:
        """Lines of the kernel that were read."""
        return self._symptoms.lines

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._source.progress if self._source else 0.0

    def notes(self) -> tuple[str, ...]:
        """What is lost or guessed in what was read so far, in sentences."""
        said = (
            (self._guessed_year, "the log names no year; the last one before the file was written is taken"),
            (
                self._anchored,
                "when the machine booted was taken from a line of the log; if it slept since, times are off",
            ),
            (len(self.hosts) > 1, f"the log tells of {len(self.hosts)} hosts"),
        )
        cut = self._source.notes() if self._source else ()
        return (*cut, *(sentence for holds, sentence in said if holds))

    def rows(self) -> Iterator[LogEvent]:
        """Symptoms in the order of the log. `BadInput` when no line has a time, or none that can be placed."""
        stamped = 0
        with Source(self._file) as source:
            self._source = source
            for line in source.lines():
                found = parse_line(line)
                if found is None:
                    continue
                stamped += 1
                if self._wanted(found):
                    yield from self._symptoms.feed(self._placed(found))
        if not stamped:
            raise BadInput(
                f"{source.name} has no line with a time", "make it with `dmesg --time-format iso` or `journalctl -k`"
            )
        yield from self._symptoms.finish()

    def _wanted(self, found: Stamped) -> bool:
        if found.host and len(self.hosts) < _HOSTS:
            self.hosts.add(found.host)
        if found.tag not in ("", "kernel"):
            return False
        return not (self._placing.host and found.host) or found.host == self._placing.host

    def _placed(self, found: Stamped) -> KernelLine:
        text = found.text.decode("utf-8", "replace")
        if self._offset_ns is None:
            self._offset_ns = self._find_offset(found)
        if found.clock == "boot":
            uncertainty_ns = max(1_000_000, round(found.stamp_ns * _SLEW), S if self._anchored else 0)
            return KernelLine(found.stamp_ns + self._offset_ns, uncertainty_ns, text, found.caller)
        at_ns = found.stamp_ns
        if found.clock == "no-year":
            at_ns = self._dated(at_ns)
        # dmesg makes dates of stamps since boot: they are off by as much as the log's clock has drifted.
        drifting = not found.tag
        uncertainty_ns = max(found.step_ns, S if drifting else 1_000_000)
        return KernelLine(at_ns + self._offset_ns, uncertainty_ns, text, found.caller)

    def _dated(self, stamp_ns: int) -> int:
        """The stamp in a year; later lines may go on into the next."""
        if self._previous_ns is not None:
            self._previous_ns = with_year(stamp_ns, self._previous_ns)
        elif self._placing.at_ns is not None:
            self._previous_ns = with_year(stamp_ns, self._placing.at_ns)
        else:
            written_ns = (self._source.modified_ns if self._source else None) or clock.now().realtime_ns
            self._previous_ns = with_year(stamp_ns, written_ns, written_ns + _DAY_NS)
            self._guessed_year = True
        return self._previous_ns

    def _find_offset(self, first: Stamped) -> int:
        if first.clock != "boot":
            return 0
        if self._placing.at_ns is not None:
            return self._placing.at_ns - first.stamp_ns
        offset_ns = self._anchor()
        if offset_ns is None:
            raise BadInput(
                f"{self._source.name if self._source else 'the log'} counts from boot and does not say when that was",
                "say when the machine booted, or when the first line was written; or use `dmesg --time-format iso`",
            )
        self._anchored = True
        return offset_ns

    def _anchor(self) -> int | None:
        """UTC at boot, from the last line that tells both clocks: a machine may have slept after the first."""
        if not isinstance(self._file, Path):
            return None
        offset_ns: int | None = None
        with Source(self._file) as source:
            for line in source.lines():
                if (told := _ANCHOR.search(line)) and (found := parse_line(line)) and found.clock == "boot":
                    offset_ns = int(told[1] or told[2]) * S + int(told[3] or 0) * 1_000_000 - found.stamp_ns
        return offset_ns
