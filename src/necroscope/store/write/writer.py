"""The one writer of a store: rows in, a frame of the journal every second, a sealed segment every two minutes.

What was added is readable by other processes after the next flush and survives `kill -9` from then on; it survives the
machine after `sync_s` more. Trouble with the disk ends nothing (`spool.py`); `status` tells of it. Not for several
threads at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope import clock
from necroscope.errors import NecroscopeError, Unavailable
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store import inbox
from necroscope.store.format import rows
from necroscope.store.format.arrow import Tables, from_rows, joined
from necroscope.store.format.core_times import PAUSE_NS, CoreTimes
from necroscope.store.format.segment import Staged
from necroscope.store.format.signals import Key, SignalLog
from necroscope.store.format.tables import JOURNAL, LIVE_STACKS
from necroscope.store.lock import WriterLock
from necroscope.store.read.catalog import Segment
from necroscope.store.write.housekeeping import Housekeeper
from necroscope.store.write.repair import make_fit
from necroscope.store.write.retention import Retention
from necroscope.store.write.spool import Spool
from necroscope.store.write.stack_cache import StackCache
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ParentCount, Record, Sample, Signal, UnitState

_MAX_PENDING = 50_000
_MAX_SCALES = 100_000
_TABLES = {table.name: table for table in JOURNAL}

_FIRST_S = 30.0
LOST = "store-lost"
# For how long the status tells that the store was lost.
_LOSS_SHOWN_S = 60.0


@dataclass(frozen=True, slots=True)
class WriterStatus:
    """How the writer does. `bytes` are those of sealed segments; `written_bytes` all that went to journals so far.
    `hours_left`: for how many hours back it will hold everything; None: not known yet. `loss`: that
    the store was removed."""

    samples: int
    lost_samples: int
    unknown_stacks: int
    bytes: int
    journal_bytes: int
    written_bytes: int
    hours_left: float | None
    trouble: str
    loss: str = ""


class Writer:
    """Takes the store's lock; `Unavailable` names who has it. Seals what an earlier writer left behind."""

    def __init__(
        self,
        folder: Path,
        *,
        segment_s: float = 120.0,
        segment_rows: int = 300_000,
        flush_s: float = 1.0,
        sync_s: float = 5.0,
        retention: Retention | None = None,
        signals: Iterable[Signal] = (),
        max_unwritten_bytes: int = 32 << 20,
        stack_bytes: int = 10 << 20,
        at_any_cost: bool = False,
    ) -> None:
        self._folder, self._at_any_cost = folder, at_any_cost
        # Told of every event, those of the inbox and of the store itself too; must not wait.
        self.on_events: Callable[[Sequence[Event]], None] | None = None
        self._segment_s, self._segment_rows = segment_s, segment_rows
        # The first segment comes early: what sealing needs is then in memory, and what keeps it from working shows.
        self._next_s = min(segment_s, _FIRST_S)
        self._flush_s, self._sync_s = flush_s, sync_s
        self._labels = {signal.name: signal.labels for signal in signals}
        self._scales: dict[Key, int] = {}
        self._stack_cache = StackCache(stack_bytes)
        self._cores = CoreTimes()
        self._samples = self._unknown_stacks = 0
        self._loss: tuple[float, str] | None = None
        self._flushed_s = self._synced_s = clock.elapsed_s()
        try:
            news = make_fit(folder, at_any_cost)
        except OSError as error:
            raise Unavailable(f"{folder} cannot be written: {error.strerror}", "give another --store") from error
        self._lock = WriterLock(folder)
        self._housekeeper = Housekeeper(folder, retention or Retention())
        self._spool = Spool(folder, self._housekeeper, max_unwritten_bytes, self._name_journal)
        self._spool.report(news)
        self._begin()
        self._spool.seal()

    @property
    def folder(self) -> Path:
        """The store."""
        return self._folder

    # -- rows -------------------------------------------------------------------------------------------

    def add_samples(self, batch: SampleBatch) -> None:
        """Samples; their times are UTC."""
        if not len(batch):
            return
        self._stack_cache.learn(batch.stacks)
        self._write_stacks(batch.stack_id)
        self._samples += len(batch)
        self._add("samples", rows.sample_rows(batch))

    def dropped_stacks(self) -> bool:
        """True once after stacks were forgotten to bound memory. The decoder then has to hand out all its stacks anew:
        samples whose stack nobody tells keep their id and lose their frames (`WriterStatus.unknown_stacks`)."""
        return self._stack_cache.take_dropped()

    def add_signals(
        self, at_ns: int, samples: Iterable[Sample], source: str = "", longest_ns: int | None = None
    ) -> None:
        """One look of a source: all that it reports now. What it reported before and does not report now has ended.

        `longest_ns`: how long before the look at the cores may lie for the two to make a row; a few seconds by default.
        """
        seen = list(samples)
        self._signals.add(at_ns, seen, source)
        if cores := self._cores.rows(at_ns, seen, longest_ns or PAUSE_NS):
            self._add("cores", rows.core_rows(cores))
        self._flush_when_due()

    def add_events(self, events: Iterable[Event]) -> None:
        """Things that happened."""
        if not (told := list(events)):
            return
        self._add("events", rows.event_rows(told))
        self._tell(told)

    def add_zombies(self, at_ns: int, counts: Iterable[ParentCount]) -> None:
        """Zombies by parent."""
        self._add("zombies", rows.zombie_rows(at_ns, counts))

    def add_units(self, at_ns: int, units: Iterable[UnitState]) -> None:
        """Units that failed or restart."""
        self._add("units", rows.unit_rows(at_ns, units))

    def add_records(self, at_ns: int, records: Sequence[Record]) -> None:
        """What a look read about things with names, each kind to its table; kinds without a table are left out."""
        for name, table in rows.record_rows(at_ns, records):
            self._add(name, table)

    # -- to disk ----------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Make everything added so far readable and safe from the death of this process; seal when it is time.

        Happens by itself while rows come in; whoever adds none for more than `flush_s` calls it."""
        self._write_out()
        age_s = clock.elapsed_s() - self._begun_s
        if age_s >= self._next_s or self._spool.rows >= self._segment_rows:
            self._next_s = self._segment_s
            self._spool.rotate()
            self._begin()
        self._spool.seal(at_once=False)

    def seal(self) -> None:
        """Make a segment of everything added so far."""
        self._write_out()
        self._spool.rotate()
        self._begin()
        self._spool.seal()

    def reserve(self, count: int) -> int:
        """Numbers for so many segments that are made elsewhere, then `publish`ed; returns the first."""
        self._write_out()
        first = self._spool.reserve(count)
        self._begin()
        return first

    def disown(self) -> None:
        """In a fork: let go of its copy of the lock, which must not outlive the writer's own."""
        self._lock.release()

    def keep_within(self, retention: Retention) -> None:
        """Other limits, from now on."""
        self._housekeeper.limit(retention)

    def take_back(self, names: Collection[str]) -> None:
        """Remove segments by name, as if they had never been there."""
        self._housekeeper.take_back(names)

    @property
    def segments(self) -> list[Segment]:
        """The sealed segments, by number."""
        return self._housekeeper.segments

    def publish(self, staged: Iterable[Staged]) -> None:
        """Add segments whose numbers were reserved. Raises OSError."""
        self._spool.publish(staged)

    def close(self, merge: bool = True) -> None:
        """Seal, tidy, give up the lock. What could not be sealed stays in the journal for the next writer.

        Without `merge`, small segments are left for a writer that nobody waits for."""
        try:
            self.seal()
            if merge:
                self._spool.tidy()
            self.seal()  # what tidying has to tell
            self._spool.all_sealed()
        finally:
            self._lock.release()

    # -- how it does ------------------------------------------------------------------------------------

    @property
    def loss_at_the_end(self) -> str:
        """After `close`: why rows that were still in memory could not be written; empty when all were."""
        return self._spool.trouble if self._spool.unwritten else ""

    def hours_left(self) -> float | None:
        """For how many hours back the store will hold everything, at the present rate; None: not known yet."""
        try:
            return self._housekeeper.hours_left()
        except OSError:
            return None

    def status(self) -> WriterStatus:
        """Counts since this writer began, and what troubles it now."""
        return WriterStatus(
            samples=self._samples,
            lost_samples=self._spool.lost_samples,
            unknown_stacks=self._unknown_stacks,
            bytes=self._housekeeper.bytes,
            journal_bytes=self._spool.bytes,
            written_bytes=self._spool.written_bytes,
            hours_left=self.hours_left(),
            trouble=self._spool.trouble,
            loss=self._of_late(),
        )

    def _of_late(self) -> str:
        """What happened to the store as a whole: it may be mended already, and has to be seen all the same."""
        return self._loss[1] if self._loss and clock.elapsed_s() - self._loss[0] < _LOSS_SHOWN_S else ""

    # -- inside -----------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """A new journal must be readable without those before it: forget what was written."""
        if len(self._scales) > _MAX_SCALES:
            self._scales.clear()
        self._number = self._spool.number
        self._signals = SignalLog(self._number, self._labels, self._scales)
        self._written_stacks: set[int] = set()
        self._pending: dict[str, list[pa.Table]] = {}
        self._pending_rows = 0
        self._begun_s = clock.elapsed_s()

    def _add(self, name: str, table: pa.Table) -> None:
        if table.num_rows:
            self._pending.setdefault(name, []).append(table)
            self._pending_rows += table.num_rows
            self._flush_when_due()

    def _flush_when_due(self) -> None:
        if self._pending_rows >= _MAX_PENDING or clock.elapsed_s() - self._flushed_s >= self._flush_s:
            self.flush()

    def _write_stacks(self, stack_ids: NDArray[np.uint64]) -> None:
        """Put the stacks into the journal that it does not have yet."""
        fresh = set(np.unique(stack_ids).tolist()) - self._written_stacks
        if not fresh:
            return
        self._written_stacks |= fresh
        known = [(stack_id, frames) for stack_id in fresh if (frames := self._stack_cache.frames(stack_id)) is not None]
        self._unknown_stacks += len(fresh) - len(known)
        if known:
            self._pending.setdefault("stacks", []).append(from_rows(LIVE_STACKS, known))

    def _write_out(self) -> None:
        self._flushed_s = clock.elapsed_s()
        if self._lost():
            self._begin_again()
        marks = self._marks()
        if events := [event for _, event in marks] + self._spool.take_events():
            self._pending.setdefault("events", []).append(rows.event_rows(events))
            self._tell(events)
        tables = self._take()
        written = self._spool.append(tables) if tables else self._spool.drain()
        if self._spool.number != self._number:
            self._begin()
        if not written:
            return
        for path, _ in marks:
            with suppress(OSError):
                path.unlink()
        if self._flushed_s - self._synced_s >= self._sync_s:
            self._synced_s = self._flushed_s
            self._spool.sync()

    def _tell(self, events: Sequence[Event]) -> None:
        if self.on_events is not None and events:
            self.on_events(events)

    def _name_journal(self, number: int | None) -> None:
        self._lock.write_owner(number)

    def _marks(self) -> tuple[tuple[Path, Event], ...]:
        """What the inbox has; while nothing can be written, marks are safer there. Files that are no event are put
        aside, so that nobody reads them again and again."""
        if self._spool.stuck:
            return ()
        waiting = inbox.waiting(self._folder)
        for path in waiting.damaged:
            with suppress(OSError):
                path.rename(path.with_suffix(".bad"))
                self._spool.report([f"inbox/{path.name} is no event, or not what was put there; it is left as *.bad"])
        return waiting.events

    def _lost(self) -> bool:
        """Whether the store was removed or replaced, or parts of it: `rm -r` takes one after the other."""
        parts = (self._folder / name for name in ("format.json", "segments", "journal"))
        return self._lock.lost() or self._spool.gone or not all(map(os.path.lexists, parts))

    def _begin_again(self) -> None:
        """The store, its filesystem or the journal was removed or replaced: make it anew and go on. What was not
        sealed is still held by this process, and comes back."""
        try:
            news = make_fit(self._folder, self._at_any_cost)
            if self._lock.lost():
                self._lock.release()
                named = self._lock.journal
                self._lock = WriterLock(self._folder)
                self._lock.write_owner(named)
            self._housekeeper.look_again()
            self._spool.put_back()
        except (OSError, NecroscopeError) as error:
            self._loss = clock.elapsed_s(), f"the store was removed, and cannot be made anew: {error}"
            return
        self._loss = clock.elapsed_s(), "the store was removed or replaced while it was written; it was made anew"
        self._spool.report(news)
        self._spool.report([self._loss[1]], LOST)

    def _take(self) -> Tables:
        pending, self._pending, self._pending_rows = self._pending, {}, 0
        tables = {name: joined(_TABLES[name], parts) for name, parts in pending.items()}
        return tables | self._signals.take()
