"""`journalctl -o json`: one object a line. Kernel lines become symptoms, systemd's words about units become events.

    {"__REALTIME_TIMESTAMP":"1794852202056570","_TRANSPORT":"kernel","MESSAGE":"ena 0000:20:03.0 eth0: ...",...}

Messages of systemd are recognised by their ids, which are part of its catalogue; texts differ by version and language.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.symptoms import KernelLine, SymptomReader
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.source import NO_PLACING, Placing, Source
from necroscope.sense.systemd.journal import Entry, field

SOURCE = "journal"
_LINE_BYTES = 1 << 20  # an entry may carry a core dump; such a line is left out
_HOSTS = 64
_TEXT = 500
_REASON = 60
# systemd's catalogue (systemd/sd-messages.h)
_UNITS = {
    "39f53479d3a045ac8e11786248231fbf": "unit-start",
    "be02cf6855d2428ba40df7e9d022f03d": "unit-failure",  # a start job failed
    "d9b373ed55a64feb8242e02dbe79a49c": "unit-failure",  # the unit entered the failed state
    "5eb03494b6584870a536b337290809b3": "unit-restart",  # a restart was scheduled
    "fe6faa94e7774663a0da52717891d8ef": "unit-oom",  # a process of the unit was killed by the OOM killer
}


class JournalJson:
    """One export of the journal. `hosts` are those that its entries name."""

    def __init__(self, file: Path | BinaryIO, placing: Placing = NO_PLACING) -> None:
        self._file = file
        self._placing = placing
        self._symptoms = SymptomReader(SOURCE)
        self._source: Source | None = None
        self.hosts: set[str] = set()
        self.entries = 0
        self.odd_lines = self.untimed = self.others = 0

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._source.progress if self._source else 0.0

    def notes(self) -> tuple[str, ...]:
        """What is lost or guessed in what was read so far, in sentences."""
        said = (
            (self.odd_lines, f"{self.odd_lines:,} lines were left out: they are no entries of a journal"),
            (self.untimed, f"{self.untimed:,} entries were left out: they have no time"),
            (self.others, f"{self.others:,} entries were left out: neither the kernel's nor about a unit's life"),
            (len(self.hosts) > 1, f"the journal tells of {len(self.hosts)} hosts"),
        )
        cut = self._source.notes() if self._source else ()
        return (*cut, *(sentence for holds, sentence in said if holds))

    def rows(self) -> Iterator[LogEvent]:
        """Events in the order of the journal. `BadInput` when no line is an entry."""
        with Source(self._file) as source:
            self._source = source
            for line in source.lines(_LINE_BYTES):
                entry = _entry(line)
                at_ns = _at_ns(entry) if entry is not None else None
                if entry is None or at_ns is None:
                    self.odd_lines += entry is None and bool(line.strip())
                    self.untimed += entry is not None
                    continue
                self.entries += 1
                if self._wanted(entry):
                    yield from self._of(entry, at_ns + (self._placing.clock_offset_ns or 0))
        if not self.entries:
            raise BadInput(f"{source.name} holds no entry of a journal", "make it with `journalctl -o json`")
        yield from self._symptoms.finish()

    def _wanted(self, entry: Entry) -> bool:
        host = field(entry, "_HOSTNAME")
        if host and len(self.hosts) < _HOSTS:
            self.hosts.add(host)
        return not (self._placing.host and host) or host == self._placing.host

    def _of(self, entry: Entry, at_ns: int) -> Iterator[LogEvent]:
        if field(entry, "_TRANSPORT") == "kernel":
            yield from self._symptoms.feed(KernelLine(at_ns, 1_000_000, field(entry, "MESSAGE")))
        elif (kind := _UNITS.get(field(entry, "MESSAGE_ID"))) and (unit := _unit(entry)):
            text = "".join(char if char.isprintable() else "�" for char in field(entry, "MESSAGE"))
            count = 1 if kind in ("unit-start", "unit-restart") else None
            why = field(entry, "UNIT_RESULT")[:_REASON]
            yield LogEvent(at_ns, kind, SOURCE, unit, text[:_TEXT], 1_000_000, reason=why, count=count)
        else:
            self.others += 1


def _unit(entry: Entry) -> str:
    return field(entry, "UNIT") or field(entry, "USER_UNIT") or field(entry, "_SYSTEMD_UNIT")


def _entry(line: bytes) -> Entry | None:
    if not line.startswith(b"{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _at_ns(entry: Entry) -> int | None:
    text = field(entry, "__REALTIME_TIMESTAMP")
    return int(text) * 1000 if text.isdecimal() and len(text) < 17 else None
