"""perf.data, as `perf record` writes it: read in pieces, never as a whole.

    with PerfData(path) as recording:
        for row in recording.rows(): ...

Frames are named with what this machine has: the running kernel's symbols when the recording was made by the same build
of it (or a kallsyms file that is given), files whose build id or inode is the recorded one. Others stay unknown.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from necroscope.errors import BadInput, Unavailable
from necroscope.sense.host import Host
from necroscope.sense.importers.placement import Clocks, Placement, placement
from necroscope.sense.importers.source import CUT_SHORT, NO_PLACING, OPEN_IT, Placing
from necroscope.sense.perf.decode.intake import Stats
from necroscope.sense.perf.decode.stream import Decoder
from necroscope.sense.perf.format.header import FileHeader, parse_header, read_events, read_features
from necroscope.sense.perf.format.recording import COMPRESSED, TRACING_DATA, Recording
from necroscope.sense.perf.format.tracepoints import parse_tracing_data
from necroscope.sense.perf.rows import Row
from necroscope.sense.perf.samples import UNKNOWN, SampleBatch, canonical_frame
from necroscope.sense.perf.symbols.objects import ObjectFiles
from necroscope.sense.perf.symbols.symbols import Kernel, Symbols, kernel_from, running_kernel

CHUNK_BYTES = 4 << 20
_REALTIME = 0
# What it costs to pass over samples, as a share of what it costs to read them.
_PASSING = 0.13
_KALLSYMS_BYTES = 128 << 20
_OTHER_KERNEL = "this machine runs another kernel than the one recorded"
_NO_UNWINDER = (
    "their stacks were copied for DWARF (--call-graph dwarf), which only `perf script` unwinds: import its text"
)
_UNUSED = "records are of kinds that are not used: context switches, namespaces, counters, hardware traces"
_NAMELESS = canonical_frame(UNKNOWN, "[kernel]")


class PerfData:
    """One recording; `plain` is what is in it, where `path` is packed. `kallsyms` names the kernel's frames instead of
    the running kernel; `placing` counts more than what the file says about its clock."""

    def __init__(
        self,
        path: Path,
        host: Host | None = None,
        kallsyms: Path | None = None,
        placing: Placing = NO_PLACING,
        plain: BinaryIO | None = None,
    ) -> None:
        self.path = path
        self._host = host or Host()
        self._kallsyms = kallsyms
        self._placing = placing
        self._first_ns: int | None = None
        self._no_names = ""
        self._nameless = self._cut = False
        self._unfinished = 0
        self._fd = _open(path) if plain is None else os.dup(plain.fileno())
        self.size = os.fstat(self._fd).st_size
        self._at = 0
        self._last_ns: int | None = None
        self._placed: tuple[bool, Placement] | None = None
        self._modified_ns = os.fstat(self._fd).st_mtime_ns if plain is None else path.stat().st_mtime_ns
        try:
            self._header = parse_header(self._read(0, 128), self.size)
            self._decoder = Decoder(Symbols(None, ObjectFiles(self._host)))
            self._prepare(self._header)
        except BaseException:
            self.close()
            raise

    # -- what it says ----------------------------------------------------------------------------------------

    @property
    def recording(self) -> Recording:
        """What the file says about itself; of a stream, what was read so far."""
        return self._decoder.recording

    @property
    def stats(self) -> Stats:
        """What was read so far, and what could not be."""
        return self._decoder.stats

    @property
    def symbols(self) -> Symbols:
        """The names that were found, and the places that have none."""
        return self._decoder.symbols

    @property
    def divisible(self) -> bool:
        """Whether the file can be read in pieces; a stream or a compressed one cannot, nor one that does not say."""
        return bool(self._header.features) and COMPRESSED not in self._header.features

    def notes(self) -> tuple[str, ...]:
        """What could not be read, in sentences."""
        broken = self.stats.broken + self.stats.nameless - self._unfinished
        left = self.stats.left_stacks
        placed = self._placed[1].said if self._placed is not None else ""
        said = (
            (placed, placed),
            (self._cut, CUT_SHORT),
            (broken, f"{broken:,} records could not be understood"),
            (self.stats.unused, f"{self.stats.unused:,} {_UNUSED}"),
            (left, f"{left:,} samples have only the innermost function of their program: {_NO_UNWINDER}"),
            (self._nameless, f"the kernel's functions have no names: {self._no_names}; give --kallsyms"),
        )
        return tuple(sentence for holds, sentence in said if holds)

    def emit_stacks_again(self) -> None:
        """Whoever keeps the stacks has forgotten some: hand all of them out anew."""
        self._decoder.emit_stacks_again()

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._at / self.size if self.size else 1.0

    def utc_offset_ns(self) -> tuple[int, bool]:
        """What to add to `at_ns` to get UTC, and whether that is exact.

        Exact when the user gave it or perf noted both clocks (`--clockid`), else by the best witness there is
        (`placement`). Of a stream that is known from its first sample on.
        """
        offset_ns = self.recording.realtime_offset_ns
        if offset_ns is None and self._decoder.events.clockid() == _REALTIME:
            offset_ns = 0
        if self._placed is None or (offset_ns is not None) != self._placed[0]:
            modified_ns = self._modified_ns
            clocks = Clocks(self.path.name, self._first, self._last, modified_ns, modified_ns, offset_ns=offset_ns)
            self._placed = offset_ns is not None, placement(clocks, self._placing)
        made = self._placed[1]
        return made.offset_ns, made.exact

    def _first(self) -> int:
        if self._first_ns is None:
            self._first_ns = self.recording.first_ns or self._find_first()
        return self._first_ns

    def _last(self) -> int:
        if self._last_ns is None:
            self._last_ns = self.recording.last_ns or self._find_last()
        return self._last_ns

    # -- reading ---------------------------------------------------------------------------------------------

    def rows(self, share: tuple[int, int] = (0, 1)) -> Iterator[Row]:
        """Everything in the recording, in time order as far as perf promises.

        `share` is (k, n): only the k-th of n pieces, for n processes that read one file at once. Each goes through what
        comes before its piece for the tasks alone, which is quick, so that all pieces together are the same as the
        whole; later pieces are smaller by as much. What `divisible` denies is one piece, the first.
        """
        start, end = self._piece(share)
        self._at, last = self._piece((0, 1))
        if self._at < start:
            self._decoder.pass_over(samples=True)
            for _ in self._feed_to(start):
                pass
            self._decoder.pass_over(samples=False)
        yield from self._feed_to(end)
        # What the last samples need may come after them: a ring that is read later.
        newest = self._decoder.newest_ns
        self._decoder.pass_over(samples=True)
        while self._at < last and self._decoder.complete_ns < newest:
            yield from self._feed_to(min(last, self._at + CHUNK_BYTES // 4))
        broken = self.stats.broken
        yield from self._noted(self._decoder.finish())
        self._unfinished = self.stats.broken - broken
        self._cut = self._header.unended or self._unfinished > 0 or self._end() > self.size

    def _end(self) -> int:
        """Where the file should end at least, by its header."""
        header = self._header
        end = header.data.offset + header.data.size
        table = self._read(end, 16 * len(header.features))
        places: list[tuple[int, int]] = [
            struct.unpack_from("<QQ", table, place) for place in range(0, len(table) - 15, 16)
        ]
        return max(end + 16 * len(header.features), *(offset + size for offset, size in places), 0)

    def _piece(self, share: tuple[int, int]) -> tuple[int, int]:
        number, count = share
        first = 0 if self._header.pipe else self._header.data.offset
        last = self.size if self._header.pipe else min(self.size, first + self._header.data.size)
        if not self.divisible:
            return (first, last) if number == 0 else (last, last)
        size = max(0, last - first)
        return first + int(size * _up_to(number, count)), first + int(size * _up_to(number + 1, count))

    def _feed_to(self, end: int) -> Iterator[Row]:
        """Up to a place, and on to the end of the record that lies across it."""
        while self._at < end and (data := self._read(self._at, min(CHUNK_BYTES, end - self._at))):
            self._at += len(data)
            yield from self._noted(self._decoder.feed(data))
            self._choose_kernel_of_stream()
        while not self._header.pipe and (missing := self._decoder.missing()):
            last = self._header.data.offset + self._header.data.size
            data = self._read(self._at, max(0, min(missing, last - self._at)))
            if not data:
                return
            self._at += len(data)
            yield from self._noted(self._decoder.feed(data))

    def _noted(self, rows: list[Row]) -> list[Row]:
        """The rows, looked at for kernel functions without a name while there is a reason for that to tell."""
        if self._no_names and not self._nameless:
            stacks = (stack for row in rows if isinstance(row, SampleBatch) for stack in row.stacks)
            self._nameless = any(_NAMELESS in stack.canonical for stack in stacks)
        return rows

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- before the data ---------------------------------------------------------------------------------------

    def _prepare(self, header: FileHeader) -> None:
        if not header.pipe:
            self._decoder.skip_header()
            for attr in read_events(header, self._read):
                self._decoder.add_event(attr)
            if not len(self._decoder.events):
                raise BadInput(f"{self.path} declares no events", "the file is damaged; record again")
            for number, data in read_features(header, self._read):
                if number == TRACING_DATA:
                    self._decoder.add_formats(parse_tracing_data(data))
                else:
                    self.recording.feature(number, data, self._decoder.events)
        objects = self.symbols.objects
        if objects is not None:
            objects.build_ids = self.recording.build_ids
        self.symbols.use_kernel(self._kernel())

    def _kernel(self) -> Kernel | None:
        """Symbols of the recorded kernel: of the file that was given, else of this kernel when it is the same build."""
        if self._kallsyms is not None:
            return kernel_from(_read_whole(self._kallsyms))
        try:
            kernel = running_kernel(self._host)
        except Unavailable as error:
            self._no_names = error.message
            return None
        self._no_names = "" if self._same_kernel(kernel) else _OTHER_KERNEL
        return None if self._no_names else kernel

    def _same_kernel(self, kernel: Kernel) -> bool:
        recorded = self.recording.kernel_build_id
        if recorded and kernel.build_id:
            return recorded == kernel.build_id
        release = (self._host.read_or_none("/proc/sys/kernel/osrelease") or b"").decode("utf-8", "replace").strip()
        return not self.recording.release or self.recording.release == release

    def _choose_kernel_of_stream(self) -> None:
        """A stream tells its kernel on the way: as soon as it is another one, this machine's names are not its."""
        if self._header.pipe and self._kallsyms is None and self.symbols.knows_kernel:
            recording = self.recording
            if recording.release and not self._same_release(recording.release):
                self.symbols.use_kernel(None)
                self._no_names = _OTHER_KERNEL

    def _same_release(self, release: str) -> bool:
        here = self._host.read_or_none("/proc/sys/kernel/osrelease") or b""
        return here.decode("utf-8", "replace").strip() == release

    def _find_last(self) -> int:
        """The newest time in the file, for which all of it is passed over once."""
        other = self._another()
        other.pass_over(samples=True)
        for data in self._chunks():
            other.feed(data)
        return other.newest_ns

    def _find_first(self) -> int:
        """The time of the first sample, for which the file is read up to the end of its first round."""
        other = self._another()
        for rows in chain(map(other.feed, self._chunks()), map(Decoder.finish, (other,))):
            times = [int(row.at_ns.min()) for row in rows if isinstance(row, SampleBatch) and len(row)]
            if times:
                return min(times)
        return 0

    def _another(self) -> Decoder:
        """A decoder of the same recording, for its times alone."""
        other = Decoder(Symbols(None, None))
        if not self._header.pipe:
            other.skip_header()
            for attr in self._decoder.events.attrs:
                other.add_event(attr)
        return other

    def _chunks(self) -> Iterator[bytes]:
        at, end = self._piece((0, 1))
        while at < end and (data := self._read(at, min(CHUNK_BYTES, end - at))):
            at += len(data)
            yield data

    def _read(self, offset: int, size: int) -> bytes:
        if offset >= self.size:
            return b""
        try:
            return os.pread(self._fd, max(0, min(size, self.size - offset)), offset)
        except OSError as error:
            raise BadInput(f"{self.path} cannot be read: {error.strerror}") from error


def _up_to(number: int, count: int) -> float:
    """The share of the first `number` of `count` pieces, such that all take the same time."""
    return (1 - (1 - _PASSING) ** number) / (1 - (1 - _PASSING) ** count)


def _open(path: Path) -> int:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise BadInput(f"{path} cannot be opened: {error.strerror}", OPEN_IT) from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise BadInput(f"{path} is not a file", "a folder of `perf record --threads` cannot be imported")
    return fd


def _read_whole(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_KALLSYMS_BYTES)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
