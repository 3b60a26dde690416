"""Recordings of perf into a store: read in as many processes as there are CPUs, each making segments of its own piece.

Nobody sees anything of a recording before all of it is there. One that is there already is left alone, unless the user
says something else about it now: then what it brought is replaced.
"""

from __future__ import annotations

import ctypes
import gc
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa

from necroscope.errors import BadInput, Unavailable
from necroscope.record.imports.worker_pool import Progress, work_together
from necroscope.record.perf_rows import keep_rows
from necroscope.sense.importers.rows import with_sane_weights
from necroscope.sense.importers.source import OPEN_IT, Source, check_times
from necroscope.sense.perf.rows import Row, TaskBatch
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.format.segment import Staged, read_table
from necroscope.store.write.bulk import Bulk
from necroscope.store.write.imported import (
    Note,
    fingerprint,
    fingerprint_of_stream,
    merged,
    note_of,
    still_there,
    take_note,
)
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event, event_of

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Less than that is not worth a process.
_PIECE_BYTES = 8 << 20
# No piece makes as many segments: numbers are cheap, and those of two pieces must not meet.
_BYTES_PER_SEGMENT = 1 << 20
_NOT_IMPORTED = ("mark", "recorder")
ODD_WEIGHTS = "samples have a period that no event has: they count as one"
REPLACED = "replaces what an earlier import with other options brought"

Piece = tuple[int, list[tuple[str, str]], bool, tuple[str, ...]]
"""Samples, names of the segments (hidden and final), whether its times are exact, and what there is to say."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one file. `exact`: it says itself when it was recorded. `already`: it was there before. `looks`:
    at how many times it tells what the cores did."""

    samples: int
    events: int = 0
    looks: int = 0
    exact: bool = True
    already: bool = False
    notes: tuple[str, ...] = ()


class Recording(Protocol):
    """Samples in a file that several processes can read, each a piece of it."""

    size: int

    @property
    def divisible(self) -> bool:
        """Whether there can be more than one piece."""

    @property
    def progress(self) -> float:
        """The share of the piece that was read."""

    def rows(self, share: tuple[int, int]) -> Iterable[Row]:
        """The k-th of n pieces."""

    def utc_offset_ns(self) -> tuple[int, bool]:
        """What makes UTC of the times, and whether that is exact."""

    def emit_stacks_again(self) -> None:
        """Hand out all stacks anew."""

    def notes(self) -> tuple[str, ...]:
        """What is lost or guessed."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


def import_recording(
    writer: Writer,
    path: Path,
    opened: Callable[[], Recording],
    jobs: int = 1,
    progress: Progress = lambda done: None,
    options: str = "",
) -> Imported:
    """Add a recording to a store, all of it or, when anything goes wrong, nothing. `options`: see `Note`."""
    mark = fingerprint_of(path)
    before = imported_before(writer, path, mark, options)
    if before is not None and before.options == options:
        return Imported(before.samples, already=True)
    with opened() as data:
        count = max(1, min(jobs, data.size // _PIECE_BYTES)) if data.divisible else 1
        each = data.size // _BYTES_PER_SEGMENT + 2
        first = writer.reserve(count * each)
        importer = _Importer(writer, path, data, first, each, count)
        samples, staged, exact, notes = importer.run(progress)
    if before is not None:
        take_back(writer, before.segments)
    _publish(writer, mark, Note(path.name, samples, tuple(one.final.name for one in staged), True, options), staged)
    return Imported(samples, exact=exact, notes=notes + ((REPLACED,) if before is not None else ()))


def imported_before(writer: Writer, path: Path, mark: str, options: str) -> Note | None:
    """An earlier import of the same file that is whole, if any. `BadInput` when it cannot be replaced and has to be."""
    note = note_of(writer.folder, mark)
    if note is not None and not note.whole:
        writer.take_back(note.segments)
    if note is None or not note.whole or not still_there(note, writer.segments):
        return None
    if note.options != options and merged(note, writer.segments):
        raise BadInput(
            f"{path} was imported before with other options, and its rows are merged with others by now.",
            "import it into a fresh store",
        )
    return note


def take_back(writer: Writer, names: Collection[str]) -> None:
    """Remove what an import made. What came from elsewhere meanwhile (`mark`, the store itself) stays."""
    others: list[Event] = []
    for segment in writer.segments:
        if segment.path.name in names:
            with suppress(OSError, pa.ArrowException):  # damaged
                others += _from_elsewhere(read_table(segment, "events"))
    writer.take_back(names)
    writer.add_events(others)


def _from_elsewhere(events: pa.Table | None) -> list[Event]:
    rows = events.to_pylist() if events is not None else []
    return [event_of(row) for row in rows if row["source"] in _NOT_IMPORTED]


def reuse_memory() -> None:
    """Columns come and go by the megabyte: keep their memory instead of asking the kernel for it again each time."""
    with suppress(AttributeError):  # glibc only
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, 256 << 20)
        libc.mallopt(_TRIM_THRESHOLD, 256 << 20)
    gc.freeze()


@dataclass(frozen=True, slots=True)
class _Importer:
    """The pieces of one recording: piece k has the numbers from first + k * each on."""

    writer: Writer
    path: Path
    data: Recording
    first: int
    each: int
    count: int

    @property
    def segments(self) -> Path:
        """Where they go."""
        return self.writer.folder / "segments"

    def run(self, progress: Progress) -> tuple[int, list[Staged], bool, tuple[str, ...]]:
        """All pieces; what was begun is removed when one fails."""
        try:
            made = [self.piece(0, progress)] if self.count == 1 else work_together(self.count, self.forked, progress)
        except BaseException:
            self._clean()
            raise
        samples = sum(piece[0] for piece in made)
        staged = [Staged(self.segments / hidden, self.segments / final) for piece in made for hidden, final in piece[1]]
        return samples, staged, all(piece[2] for piece in made), added_up(note for piece in made for note in piece[3])

    def forked(self, number: int, progress: Progress) -> Piece:
        """`piece` in a process of its own."""
        self.writer.disown()
        return self.piece(number, progress)

    def piece(self, number: int, progress: Progress) -> Piece:
        """One piece, its segments not published yet."""
        bulk = Bulk(self.segments, self.first + number * self.each)
        odd = 0
        try:
            for rows in self.data.rows((number, self.count)):
                row, few = with_sane_weights(rows) if isinstance(rows, SampleBatch) else (rows, 0)
                odd += few
                offset_ns = self.data.utc_offset_ns()[0]
                check_times(self.path, *(at_ns + offset_ns for at_ns in ends(row)))
                keep_rows(bulk, [row], offset_ns)
                if bulk.take_dropped():
                    self.data.emit_stacks_again()
                progress(self.data.progress)
            bulk.seal()
        except OSError as error:
            store = self.segments.parent
            raise Unavailable(f"{store} cannot be written: {error.strerror}", "make room, or give --store") from error
        names = [(one.hidden.name, one.final.name) for one in bulk.staged]
        notes = self.data.notes() + ((f"{odd:,} {ODD_WEIGHTS}",) if odd else ())
        return bulk.samples, names, self.data.utc_offset_ns()[1], notes

    def _clean(self) -> None:
        numbers = range(self.first, self.first + self.count * self.each)
        for path in self.segments.glob(".*-*"):
            if path.name[1:].partition("-")[0] in {f"{number:08d}" for number in numbers}:
                shutil.rmtree(path, ignore_errors=True)


def added_up(notes: Iterable[str]) -> tuple[str, ...]:
    """What several readers of one file noted: each sentence once, the numbers that they begin with added up."""
    counts: dict[str, int] = {}
    for note in notes:
        number, _, rest = note.partition(" ")
        counted = number.replace(",", "").isdecimal()
        sentence = rest if counted else note
        counts[sentence] = counts.get(sentence, 0) + (int(number.replace(",", "")) if counted else 0)
    return tuple(f"{count:,} {sentence}" if count else sentence for sentence, count in counts.items())


def ends(row: Any) -> tuple[int, ...]:
    """The first and the last time of a row; none where it has no times that are kept."""
    if isinstance(row, SampleBatch):
        return (int(row.at_ns.min()), int(row.at_ns.max())) if len(row) else ()
    return () if isinstance(row, TaskBatch) else (row.at_ns,)


def _publish(writer: Writer, mark: str, note: Note, staged: Iterable[Staged]) -> None:
    try:
        take_note(writer.folder, mark, replace(note, whole=False))
        writer.publish(staged)
        take_note(writer.folder, mark, note)
    except OSError as error:
        raise Unavailable(
            f"{writer.folder} cannot be written: {error.strerror}", "make room, or give --store"
        ) from error


def fingerprint_of(path: Path) -> str:
    """A name for a file's contents: packed or not, the same. `BadInput` when it cannot be read."""
    try:
        with Source(path) as source:
            packed = bool(source.packing)
        return fingerprint_of_stream(lambda: _unpacked(path)) if packed else fingerprint(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be opened: {error.strerror}", OPEN_IT) from error


def _unpacked(path: Path) -> Iterator[bytes]:
    with Source(path) as source:
        while block := source.read():
            yield block
