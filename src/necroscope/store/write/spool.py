"""Rows on their way to disk: the journal being written, journals that wait to be sealed, and a disk that may refuse.

A disk that is full or read-only does not end the writer. Segments that may go make room; what still cannot be written
is kept in memory up to a bound; then the oldest journal's unwritten rows go, all at once, because later rows of a
journal mean nothing without the earlier ones. What was lost is recorded as an event, once it can be written, and
recorded again when the rows with that event were lost themselves.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from necroscope import clock
from necroscope.store.format.arrow import Tables
from necroscope.store.format.journal import Journal, Lost, together
from necroscope.store.format.segment import Staged, write_segment
from necroscope.store.read.catalog import journals, sync_path
from necroscope.store.write.housekeeping import Housekeeper
from necroscope.store.write.set_aside import set_aside
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.event_sentence import in_words

GAP, DAMAGED = "recorder-gap", "store-damaged"

_RETRY_S = 5.0
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class _Reporting:
    """News on its way to the disk in the rows of a journal: how many events, losses and removals it tells of."""

    journal: Journal
    events: int
    lost: int
    gone: int


class Spool:
    """Takes rows, seals journals. `number` is that of the journal being written: when it changes, a new journal has
    begun, which must tell everything anew."""

    def __init__(
        self,
        store: Path,
        keeper: Housekeeper,
        max_unwritten_bytes: int,
        on_journal: Callable[[int | None], None] = lambda number: None,
    ) -> None:
        self._store, self._housekeeper, self._on_journal = store, keeper, on_journal
        self._named_journal: int | None = None
        self._max_unwritten = max_unwritten_bytes
        self._waiting: deque[Journal] = deque()
        self._lost: list[Lost] = []
        self._events: list[Event] = []
        self._reporting: _Reporting | None = None
        self._retry_at_s = 0.0
        self._lost_why = ""
        self._writes = True
        self.lost_samples = 0
        self.written_bytes = 0
        self.trouble = ""
        self.number = self._adopt()
        self._begin()

    @property
    def stuck(self) -> bool:
        """True while rows of the journal being written are in memory only."""
        return self._journal.unwritten_bytes > 0

    @property
    def unwritten(self) -> bool:
        """True while any rows, also of journals that wait to be sealed, are in memory only."""
        return any(one.unwritten_bytes for one in (*self._waiting, self._journal))

    @property
    def bytes(self) -> int:
        """What the journals take that are not sealed yet."""
        return sum(one.written_bytes for one in (*self._waiting, self._journal))

    def append(self, tables: Tables) -> bool:
        """Write rows to the journal. False: not now; they are kept, unless `number` has changed."""
        self.rows += sum(table.num_rows for table in tables.values())
        return self._write(lambda: self._journal.append(tables))

    def drain(self) -> bool:
        """Write what could not be written before."""
        return self._write(self._journal.drain)

    def sync(self) -> None:
        """Make what is written survive the machine."""
        self._attempt(self._journal.sync)

    def rotate(self) -> None:
        """Begin a new journal; the one before waits to be sealed. Nothing happens without rows."""
        if self.rows:
            self._waiting.append(self._journal)
            self._retry_at_s = 0.0
            self._begin()

    def reserve(self, count: int) -> int:
        """Numbers for segments that are made elsewhere; returns the first. What was appended so far is rotated."""
        self.rotate()
        first = self.number
        self.number += count - 1
        self._begin()
        return first

    def publish(self, staged: Iterable[Staged]) -> None:
        """Let everybody see segments that were made elsewhere."""
        for one in staged:
            if (segment := one.publish()) is not None:
                self._housekeeper.added(segment)
        sync_path(self._store / "segments")
        self._attempt(self._housekeeper.tidy)

    def seal(self, at_once: bool = True) -> None:
        """Seal the journals that wait, in their order. One that cannot be sealed now is tried again later."""
        if not self._waiting or (not at_once and clock.elapsed_s() < self._retry_at_s):
            return
        self._retry_at_s = clock.elapsed_s() + _RETRY_S
        while self._waiting:
            journal = self._waiting[0]
            if not (self._attempt(journal.drain) and self._attempt(partial(self._seal_one, journal))):
                self._bound_memory()
                return
            self._settle()
            self._waiting.popleft()
        if self._writes:
            self.trouble = ""
        self._attempt(self._housekeeper.tidy)

    def tidy(self) -> None:
        """Remove at once what otherwise would wait for its readers."""
        self._attempt(lambda: self._housekeeper.tidy(patient=False))

    def take_events(self) -> list[Event]:
        """Gaps, damage and removals to record, not before they can be written. They belong into the rows that are
        appended next; when those are lost, they are handed out again."""
        if not self._writes or self._reporting is not None:
            return []
        self.report(self._housekeeper.take_news())
        removals, gone = self._housekeeper.unreported()
        gaps = [_gap(self._lost, self._lost_why)] if self._lost else []
        if events := self._events + removals + gaps:
            self._reporting = _Reporting(self._journal, len(self._events), len(self._lost), gone)
        return events

    def report(self, news: Iterable[str], kind: str = DAMAGED, at_ns: int | None = None) -> None:
        """Events to come, about the store itself. They are not later than its rows: see `Housekeeper.unreported`."""
        if at_ns is None:
            newest_ns = max((segment.to_ns for segment in self._housekeeper.segments), default=1 << 62)
            at_ns = min(clock.now().realtime_ns, newest_ns)
        self._events += [Event(at_ns, kind, "recorder", "store", text) for text in news]

    def put_back(self) -> None:
        """The store was removed or replaced: what the journals have goes into the one that is there now.

        In a store whose numbers are as high as theirs they would be taken for sealed: their rows are lost then.
        """
        highest = max([0, *journals(self._store), *(segment.last for segment in self._housekeeper.segments)])
        for journal in [*self._waiting, self._journal]:
            if journal.gone and highest < journal.number:
                journal.put_back()
        if highest >= self._journal.number:
            self._waiting.clear()
            self.number = highest
            self._begin()
            self.report(["another store is in its place: what was not sealed yet is lost"], GAP)

    @property
    def gone(self) -> bool:
        """Whether the journal being written was removed."""
        return self._journal.gone

    def _adopt(self) -> int:
        """Journals that an earlier writer left behind; returns the highest number in use."""
        sealed = self._housekeeper.segments
        left = journals(self._store)
        for number, path in left.items():
            if any(segment.first <= number <= segment.last for segment in sealed):
                with suppress(OSError):
                    path.unlink()
            else:
                self._waiting.append(Journal(path.parent, number))
        return max([self._housekeeper.highest, *left])

    def _begin(self) -> None:
        self.number += 1
        self.rows = 0
        self._journal = Journal(self._store / "journal", self.number)

    def _write(self, action: Callable[[], None]) -> bool:
        bytes_before = self._journal.written_bytes
        before, self._writes = self._writes, self._attempt(action, again=self._journal.drain)
        self.written_bytes += self._journal.written_bytes - bytes_before
        if self._journal.written_bytes and self._named_journal != self._journal.number:
            self._name(self._journal.number)
        if not self._writes:
            self._bound_memory()
        elif not before:
            self._retry_at_s = 0.0
        self._settle()
        if self._writes and not self._waiting:
            self.trouble = ""
        return self._writes

    def _seal_one(self, journal: Journal) -> None:
        try:
            contents = journal.contents()
        except OSError as error:
            self._give_up(journal, os.strerror(error.errno) if error.errno else str(error))
            return
        segment = write_segment(self._store / "segments", contents.tables, journal.number, journal.number)
        if segment is not None:
            self._housekeeper.added(segment)
        if contents.note:
            text = f"journal {journal.number} was cut after {contents.frames} frames: {contents.note}"
            self.report([text], GAP, segment.to_ns if segment else None)
        if segment is None:
            self._unname(journal)
        journal.remove()

    def _name(self, number: int | None) -> None:
        self._named_journal = number
        self._on_journal(number)

    def _unname(self, journal: Journal) -> None:
        """It goes, and no segment has its number: nobody may miss it."""
        if self._named_journal == journal.number:
            self._name(None)

    def all_sealed(self) -> None:
        """Nobody may miss a journal from now on, if none is left."""
        if not self._waiting and not self._journal.written_bytes:
            self._name(None)

    def _give_up(self, journal: Journal, why: str) -> None:
        """A journal that cannot be read must not hold up those after it."""
        self._unname(journal)
        text = f"journal {journal.number} cannot be read ({why}), and its rows are missing"
        with suppress(OSError):
            text += f"; it was set aside as {set_aside(self._store, journal.path).relative_to(self._store)}"
        self.report([text])

    def _attempt(self, action: Callable[[], None], again: Callable[[], None] | None = None) -> bool:
        """Do it. On a full disk make room, segment by segment, and do it (or `again`) once more; False: not now."""
        while True:
            try:
                action()
                return True
            except OSError as error:
                self.trouble = os.strerror(error.errno) if error.errno else str(error)
                if error.errno not in _NO_ROOM or not self._housekeeper.make_room():
                    return False
                action = again or action

    def _settle(self) -> None:
        """Events count as reported once the rows that hold them are on the disk."""
        if self._reporting is None or self._reporting.journal.unwritten_bytes:
            return
        del self._events[: self._reporting.events]
        del self._lost[: self._reporting.lost]
        self._housekeeper.reported(self._reporting.gone)
        self._reporting = None

    def _bound_memory(self) -> None:
        while sum(one.unwritten_bytes for one in (*self._waiting, self._journal)) > self._max_unwritten:
            oldest = next(one for one in (*self._waiting, self._journal) if one.unwritten_bytes)
            lost = oldest.drop()
            if self._reporting is not None and self._reporting.journal is oldest:
                self._reporting = None
            self._lost.append(lost)
            self._lost_why = self.trouble
            self.lost_samples += lost.samples
            if oldest is self._journal:
                self.rotate()


def _gap(lost: list[Lost], reason: str) -> Event:
    """What is missing, as an event at the time where it begins to be missing."""
    one = together(lost)
    return in_words(
        Event(
            one.from_ns,
            GAP,
            "recorder",
            "store",
            reason=reason,
            from_ns=one.from_ns,
            to_ns=one.to_ns,
            count=one.samples,
        )
    )
