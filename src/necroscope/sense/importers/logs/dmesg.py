"""The kernel's log as text: dmesg in its forms, `journalctl -k`, /var/log/kern.log, a saved console.

    for event in Dmesg(path, Placing(clock_offset_ns=boot_ns)).rows(): ...

Times since boot need a date: `clock_offset_ns` (when the machine booted), `at_ns` (the time of the first line), or a
line of the log itself that tells the wall clock (the real-time clock at boot, an audit record, a container's runtime).
Local times are taken as UTC unless `clock_offset_ns` says otherwise. A date without a year: see `log_dates`.

Lines that continue a record of several lines, indented and without a time, belong to the line before. Whatever else
could not be used is counted, and `notes` tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.dates import LogDates
from necroscope.sense.importers.logs.stamps import MINUTE_NS, S, Stamped, looks_dated, parse_line
from necroscope.sense.importers.logs.symptoms import KernelLine, SymptomReader
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.source import LOCAL, NO_PLACING, Placing, Source

_SLEW = 500e-6  # what a free-running clock may be off
_HOSTS = 64
_RECORD_BYTES = 4096
_EXCERPT_BYTES = 40
# Lines that tell the wall clock: the real-time clock read at boot, records of the audit system.
_ANCHOR = re.compile(rb"setting system clock to .{1,40}\((\d{9,11})\)|audit\((\d{9,11})\.(\d{3}):\d{1,12}\)")
# What journalctl and pagers write between lines.
_BETWEEN = (b"-- ", b"...skipping")


class Dmesg:
    """One log. `hosts` are those that its lines name; `lines` how many were the kernel's."""

    def __init__(self, file: Path | BinaryIO, placing: Placing = NO_PLACING, source_name: str = "dmesg") -> None:
        self._file = file
        self._placing = placing
        self._symptoms = SymptomReader(source_name)
        self._source: Source | None = None
        self._dates = LogDates(placing.at_ns, "", None)
        self._boot_ns: int | None = placing.clock_offset_ns
        self._anchored = ""
        self._local = self._dated = False
        self._timed = self._untimed = self._undated = self._unplaced = self._unbooted = self._others = 0
        self._odd_date = ""
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
        dates = f"{self._undated:,} lines were left out: their date is not understood, such as {self._odd_date}"
        booted = f"when the machine booted was taken from {self._anchored}; if it slept since, times are off"
        early = "lines were left out: they count from a line before them that is not there"
        said = (
            (self._dates.said, self._dates.said),
            (self._local and self._placing.zoneless, LOCAL),
            (self._anchored, booted),
            (len(self.hosts) > 1, f"the log tells of {len(self.hosts)} hosts"),
            (self._undated, dates),
            (self._untimed, f"{self._untimed:,} lines were left out: they have no time"),
            (self._unplaced, f"{self._unplaced:,} {early}"),
            (self._unbooted, f"{self._unbooted:,} lines were left out: they count from boot, whose time nothing tells"),
            (self._others, f"{self._others:,} lines were left out: they are not the kernel's"),
        )
        cut = self._source.notes() if self._source else ()
        return (*cut, *(sentence for holds, sentence in said if holds))

    def rows(self) -> Iterator[LogEvent]:
        """Symptoms in the order of the log. `BadInput` when no line has a time, or none that can be placed."""
        with Source(self._file) as source:
            self._source = source
            self._dates = LogDates(self._placing.at_ns, Path(source.name).name, source.modified_ns)
            for record in self._records(source):
                line = self._placed(record)
                if line is not None:
                    yield from self._symptoms.feed(line)
        if not self._timed:
            odd = f", and {self._undated:,} with a date that is not understood" if self._undated else ""
            raise BadInput(
                f"{source.name} has no line with a time{odd}",
                "make it with `dmesg --time-format iso` or `journalctl -k`",
            )
        yield from self._symptoms.finish()

    def _records(self, source: Source) -> Iterator[Stamped]:
        """Lines of the kernel, each with the lines that continue it."""
        held: Stamped | None = None
        for line in source.lines():
            found = parse_line(line)
            if found is not None:
                if held is not None:
                    yield held
                self._timed += 1
                held = found if self._wanted(found) else None
            elif held is not None and line[:1] in (b" ", b"\t") and line.strip() and len(held.text) < _RECORD_BYTES:
                held = replace(held, text=held.text + b"\n  " + line.strip())
            else:
                self._not_used(line)
        if held is not None:
            yield held

    def _not_used(self, line: bytes) -> None:
        if not line.strip() or line.startswith(_BETWEEN):
            self._dates.read_head(line)
        elif looks_dated(line):
            self._undated += 1
            self._odd_date = self._odd_date or "".join(
                char if char.isprintable() else " " for char in line[:_EXCERPT_BYTES].decode("utf-8", "ignore")
            )
        else:
            self._untimed += 1

    def _wanted(self, found: Stamped) -> bool:
        if found.host and len(self.hosts) < _HOSTS:
            self.hosts.add(found.host)
        if found.tag not in ("", "kernel"):
            self._others += 1
            return False
        return not (self._placing.host and found.host) or found.host == self._placing.host

    def _placed(self, found: Stamped) -> KernelLine | None:
        text = found.text.decode("utf-8", "replace")
        if found.clock == "boot":
            if self._boot_ns is None and not self._unbooted:
                self._boot_ns = self._find_boot(found)
            if self._boot_ns is None:
                self._unbooted += 1
                return None
            uncertainty_ns = max(1_000_000, round(found.stamp_ns * _SLEW), S if self._anchored else 0)
            return KernelLine(found.stamp_ns + self._boot_ns, uncertainty_ns, text, found.caller)
        at_ns, uncertainty_ns = self._on_calendar(found)
        if at_ns is None:
            self._unplaced += 1
            return None
        self._dated = True
        self._local = self._local or found.clock != "utc"
        # dmesg makes dates of stamps since boot: they are off by as much as the log's clock has drifted.
        uncertainty_ns = max(uncertainty_ns, 1_000_000 if found.tag else S)
        offset_ns = self._placing.offset_ns(local=found.clock != "utc")
        return KernelLine(at_ns + offset_ns, uncertainty_ns, text, found.caller)

    def _on_calendar(self, found: Stamped) -> tuple[int | None, int]:
        """When a line was written on its own clock, and how far off that may be."""
        if found.clock == "since-last":
            return self._dates.since_last(found.stamp_ns), MINUTE_NS
        at_ns = found.stamp_ns
        if found.clock == "no-year":
            at_ns = self._dates.dated(at_ns, found.arrived_ns)
        if found.step_ns == MINUTE_NS:
            at_ns = self._dates.minute(at_ns)
        return at_ns, found.step_ns

    def _find_boot(self, first: Stamped) -> int | None:
        """UTC at boot; None where nothing tells it and other lines have dates."""
        if self._placing.at_ns is not None:
            return self._placing.at_ns - first.stamp_ns
        offset_ns, self._anchored = self._anchor()
        if offset_ns is None and not self._dated:
            raise BadInput(
                f"{self._source.name if self._source else 'the log'} counts from boot and does not say when that was",
                "say when the machine booted, or when the first line was written; or use `dmesg --time-format iso`",
            )
        return offset_ns

    def _anchor(self) -> tuple[int | None, str]:
        """UTC at boot, and by what: the last line that tells both clocks, as a machine may have slept after the first;
        else when a container's runtime got its lines, the soonest after they were written."""
        if not isinstance(self._file, Path):
            return None, ""
        offset_ns: int | None = None
        arrived_ns: int | None = None
        with Source(self._file) as source:
            for line in source.lines():
                anchor = _ANCHOR.search(line)
                if anchor is None and not line.startswith((b"20", b'{"log"')):
                    continue
                found = parse_line(line)
                if found is None or found.clock != "boot":
                    continue
                if anchor is not None:
                    offset_ns = int(anchor[1] or anchor[2]) * S + int(anchor[3] or 0) * 1_000_000 - found.stamp_ns
                if found.arrived_ns is not None:
                    late_ns = found.arrived_ns - found.stamp_ns
                    arrived_ns = late_ns if arrived_ns is None else min(arrived_ns, late_ns)
        if offset_ns is not None:
            return offset_ns, "a line of the log"
        return arrived_ns, "the time at which a container's runtime got its lines" if arrived_ns is not None else ""
