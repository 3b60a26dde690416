"""What `fix` is about to do and what came of it, written down before and after each change.

STATE/journal/ID.jsonl, one record a line, each synced before the next thing happens:

    CRC32 {"kind": "plan", "at_ns": ..., "plan": {...}}                     reserves the attempt
    CRC32 {"kind": "intent", "at_ns": ..., "step": 0}                       about to act; the plan has the prior bytes
    CRC32 {"kind": "outcome", "at_ns": ..., "step": 0, "outcome": "done", "text": "..."}
    CRC32 {"kind": "undo-intent", "at_ns": ..., "step": 0}
    CRC32 {"kind": "undone", "at_ns": ..., "step": 0, "outcome": "done", "text": "..."}
    CRC32 {"kind": "end", "at_ns": ..., "ending": "applied", "text": "..."}

A last line that is not whole was being written when the program was killed: what it announces had not begun. Damage
anywhere else is never guessed around: such a journal is refused. After `end` more may follow, when a plan is undone.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from necroscope import clock
from necroscope.errors import Refused, Unavailable
from necroscope.store.private_files import FILE_MODE
from necroscope.store.regular_file import read_regular
from necroscope.vocabulary.plan import Ending, Outcome, Plan
from necroscope.vocabulary.typed_json import Mismatch, form_of

BYTES_MOST = 64 << 20
RecordKind = Literal["plan", "intent", "outcome", "undo-intent", "undone", "end"]
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Record:
    """One line."""

    kind: RecordKind
    at_ns: int
    step: int | None = None
    outcome: Outcome | None = None
    text: str = ""
    plan: Plan | None = None
    ending: Ending | None = None


_FORM = form_of(Record)


@dataclass(slots=True)
class Written:
    """What a journal holds. `whole` is the length in bytes of its whole lines."""

    records: list[Record] = field(default_factory=list)
    whole: int = 0

    @property
    def plan(self) -> Plan | None:
        """The plan; None where the program was killed before it had written that."""
        return self.records[0].plan if self.records else None


def synced_write(fd: int, data: bytes) -> None:
    """Write, and return when it is on disk."""
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
    os.fsync(fd)


class Journal:
    """The journal of one plan, open for appending. `write` replaces the synced write: tests are killed in it."""

    def __init__(self, path: Path, write: Callable[[int, bytes], None] = synced_write) -> None:
        self._write = write
        written = read_journal(path)
        new = not path.exists()
        try:
            self._fd = os.open(path, _APPEND, FILE_MODE)
            # A line that was cut off must not become a part of the next one.
            os.ftruncate(self._fd, written.whole)
            if new:
                _sync_folder(path.parent)
        except OSError as error:
            raise Unavailable(f"{path} cannot be written: {error.strerror}", "run as root, or give --state") from error
        self.records = written.records

    def add(
        self,
        kind: RecordKind,
        step: int | None = None,
        outcome: Outcome | None = None,
        text: str = "",
        plan: Plan | None = None,
        ending: Ending | None = None,
    ) -> None:
        """Write one record; it is on disk when this returns."""
        record = Record(kind, clock.now().realtime_ns, step, outcome, text, plan, ending)
        body = json.dumps(_FORM.write(record), separators=(",", ":")).encode()
        self._write(self._fd, b"%08x %s\n" % (zlib.crc32(body), body))
        self.records.append(record)

    def close(self) -> None:
        """Close it."""
        os.close(self._fd)


def read_journal(path: Path) -> Written:
    """All whole records; empty where there is no file. `Refused` for one that is damaged elsewhere than at its end."""
    try:
        data = read_regular(path, BYTES_MOST)
    except FileNotFoundError:
        return Written()
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}", "run as root, or give --state") from error
    found = Written()
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        record = _parse(line)
        if record is None:
            raise Refused(
                f"The journal {path} is damaged at line {number}: nothing is done that rests on it.",
                "look at the plan's units by hand, then move the file away",
            )
        found.records.append(record)
        found.whole += len(line) + 1
    if found.records and (found.records[0].kind != "plan" or found.records[0].plan is None):
        raise Refused(f"The journal {path} does not begin with a plan: nothing is done that rests on it.")
    return found


def _parse(line: bytes) -> Record | None:
    crc, _, body = line.partition(b" ")
    try:
        if int(crc, 16) != zlib.crc32(body):
            return None
        record: Record = _FORM.read(json.loads(body))
    except (ValueError, Mismatch, RecursionError):
        return None
    return record


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
