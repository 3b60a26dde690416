"""The decoder: bytes of a perf stream in, in pieces of any size; samples with names, and all else worth telling, out.

    decoder = Decoder(symbols)
    for data in pipe:
        for row in decoder.feed(data): ...
    rows = decoder.finish()

A stream is a header, then records. Runs of the kernel's records are read as blocks (`walk`, `intake`); what perf itself
writes in between (events, formats, build ids, compressed data) is taken one by one. Rows wait until their round is
over (`pending`) and go out in time order (`flush`). Bytes that make no sense are skipped up to the next end of a
round, counted, and reported as a `Gap`. Memory stays bounded whatever comes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from necroscope.errors import BadInput
from necroscope.sense.perf.cgroups.churn import CgroupChurn
from necroscope.sense.perf.decode.flush import Flusher
from necroscope.sense.perf.decode.intake import Intake, Sideband, Stats
from necroscope.sense.perf.decode.pending import EVERYTHING, Due
from necroscope.sense.perf.format import sideband
from necroscope.sense.perf.format.attrs import EventAttr
from necroscope.sense.perf.format.channel import Channel
from necroscope.sense.perf.format.compressed import Inflater
from necroscope.sense.perf.format.declared import Declarations, read_attr
from necroscope.sense.perf.format.header import MAGIC, PIPE_HEADER_BYTES
from necroscope.sense.perf.format.layout import HEADER_BYTES, KSYMBOL_UNREGISTER, Type
from necroscope.sense.perf.format.sideband import Notice
from necroscope.sense.perf.format.tracepoints import Format, parse_tracing_data
from necroscope.sense.perf.format.walk import walk
from necroscope.sense.perf.rows import Gap, Lost, Row
from necroscope.sense.perf.symbols.stacks import Stacks
from necroscope.sense.perf.symbols.symbols import Symbols
from necroscope.sense.perf.tasks.tasks import Tasks

PENDING_BYTES = 64 << 20
_TRACING_DATA_BYTES = 64 << 20
_PARTS = 32
_LONGEST_RECORD = 1 << 16
_LAST_TYPE = 255
_WAIT = -1


class Decoder:
    """State of one stream.

    `cgroup_of` tells the memory cgroup of a process where samples do not carry it (cgroup v1); `memory_root` is the
    number of that hierarchy, so that moves within others do not count. `churn` sums up storms of cgroups; without it
    each of their records is kept.
    """

    def __init__(
        self,
        symbols: Symbols | None = None,
        *,
        cgroup_of: Callable[[int], str] | None = None,
        memory_root: int | None = None,
        formats: dict[int, Format] | None = None,
        pending_bytes: int = PENDING_BYTES,
        churn: CgroupChurn | None = None,
    ) -> None:
        self.declared = Declarations()
        self.recording, self.events = self.declared.recording, self.declared.events
        self.stats = Stats()
        self.symbols = symbols or Symbols(None, None)
        self.tasks = Tasks(cgroup_of)
        self._intake = Intake(self.events, self.tasks.comm_names, self.stats)
        self._stacks = Stacks(self.symbols)
        self._flusher = Flusher(self.events, self.tasks, self._stacks, memory_root, churn)
        self._flusher.ask_tasks_for_cgroups = cgroup_of is not None
        self._intake.wants_cgroups = cgroup_of is None
        self.symbols.files = self._intake.files.values
        self._pending_bytes = pending_bytes
        self._gaps: list[Gap] = []
        self._flushed = (0, 0)
        self._header_read = False
        self._outer, self._inner = Channel(), Channel()
        self._inflater: Inflater | None = None
        self.add_formats(formats or {})

    # -- feeding ---------------------------------------------------------------------------------------------

    def feed(self, data: bytes | bytearray | memoryview) -> list[Row]:
        """Take in the next bytes; returns what is complete and in order now."""
        self.stats.bytes += len(data)
        if self.symbols.objects is not None:
            self.symbols.objects.begin()
        rows: list[Row] = []
        self._records(self._outer, data, rows)
        self._flush(rows, self._intake.complete)
        return rows

    def finish(self) -> list[Row]:
        """The end of the stream: everything that still waits. A record cut short is counted as broken."""
        self.stats.broken += bool(self._outer.rest) + bool(self._inner.rest)
        rows: list[Row] = []
        self._flush(rows, EVERYTHING)
        return rows

    def skip_header(self) -> None:
        """What comes is the data of a file whose header was read elsewhere."""
        self._header_read = True

    def pass_over(self, samples: bool) -> None:
        """Pass over samples from now on, or no longer: to get to some place with the tasks as they were there."""
        self._aside(self._intake.settle())
        self._intake.tasks_only = samples

    def missing(self) -> int:
        """How many bytes the last record still needs."""
        return self._outer.missing()

    @property
    def complete_ns(self) -> int:
        """Everything up to this time has been handed out."""
        return self._intake.complete

    def emit_stacks_again(self) -> None:
        """Whoever keeps the stacks has forgotten some: hand all of them out anew."""
        self._stacks.emit_again()

    def name_programs(self, wanted: bool) -> None:
        """Ask for the names of programs' functions, or no longer: what is known by now stays."""
        if wanted and not self.symbols.name_programs:
            self._stacks.forget_addresses()
        self.symbols.name_programs = wanted

    @property
    def newest_ns(self) -> int:
        """The newest time seen so far, on the recording's clock."""
        return self._intake.newest

    def add_event(self, attr: EventAttr) -> None:
        """Declare an event; a stream does so itself."""
        self.declared.add_event(attr)
        self._intake.events_changed()

    def add_formats(self, formats: dict[int, Format]) -> None:
        """Tell how tracepoints look."""
        self.declared.add_formats(formats)
        self._intake.wanted_raw.update(one.id for one in formats.values() if one.system == "cgroup")
        self._intake.events_changed()

    # -- records ---------------------------------------------------------------------------------------------

    def _records(self, channel: Channel, data: bytes | bytearray | memoryview, rows: list[Row]) -> None:
        buffer = channel.join(data)
        place = 0 if channel is self._inner else self._header(buffer)
        while place >= 0 and len(buffer) - place >= HEADER_BYTES:
            if channel.lost:
                place = self._find_round(channel, buffer, place)
                continue
            kind, _, size = struct.unpack_from("<IHH", buffer, place)
            if size < HEADER_BYTES or kind > _LAST_TYPE:
                channel.lose()
                continue
            if kind >= Type.USER_START and kind != Type.FINISHED_ROUND:
                channel.interrupted()
                used = self._special(channel, buffer, place, kind, size, rows)
            else:
                used = self._block(buffer, place, channel.window(), rows)
                if not used and place + size <= len(buffer):
                    channel.lose()
                    continue
            if used <= 0 and not channel.lost:
                break
            place += max(used, 0)
        channel.keep(buffer, max(place, 0))

    def _header(self, buffer: bytes | bytearray) -> int:
        """Where records start; -1 while the stream's header is not wholly there."""
        if self._header_read:
            return 0
        if buffer[:8] != MAGIC[: len(buffer)]:
            raise BadInput("this is not a perf recording of this machine's byte order", "give what `perf record` wrote")
        if len(buffer) < PIPE_HEADER_BYTES:
            return -1
        if struct.unpack_from("<Q", buffer, 8)[0] != PIPE_HEADER_BYTES:
            raise BadInput("this is a perf.data file, not a stream", "import it as a file")
        self._header_read = True
        return PIPE_HEADER_BYTES

    def _block(self, buffer: bytes | bytearray, place: int, window: int, rows: list[Row]) -> int:
        view = memoryview(buffer)[place : place + window + _LONGEST_RECORD]
        # Words must lie at multiples of eight in memory.
        block, used = walk(memoryview(bytes(view)) if place & 7 else view, window)
        if used:
            self._intake.take(block)
            if self._intake.enough:
                self._aside(self._intake.settle())
            if self._intake.nbytes() > self._pending_bytes:
                self._force(rows)
            elif len(self._intake.pending.samples) >= _PARTS:
                self._flush(rows, self._intake.complete)
        return used

    def _find_round(self, channel: Channel, buffer: bytes | bytearray, place: int) -> int:
        reached = channel.find_round(buffer, place)
        if not channel.lost:
            self.stats.skipped_bytes += channel.skipped
            self._gaps.append(Gap(self._intake.newest, channel.skipped))
        return reached

    # -- what does not wait ------------------------------------------------------------------------------------

    def _aside(self, found: Sideband) -> None:
        if found.cgroups is not None:
            self._flusher.cgroups.add(found.cgroups)
        for notice in found.notices:
            if notice.type == Type.KSYMBOL and len(notice.payload) > 16:
                self._program(notice)
        for notice in found.kernel:
            self._kernel(notice)
        if self.symbols.objects is not None:
            for file, pid in found.files:
                self.symbols.objects.hold(file, pid)

    def _program(self, notice: Notice) -> None:
        address, size, _, flags = struct.unpack_from("<QIHH", notice.payload)
        if flags & KSYMBOL_UNREGISTER:
            self.symbols.programs.went(address, notice.time)
        else:
            self.symbols.programs.came(address, size, sideband.text(notice.payload[16:]), notice.time)

    def _kernel(self, notice: Notice) -> None:
        """The recorded kernel's own mapping: where it was."""
        name = sideband.text(notice.payload[64 if notice.type == Type.MMAP2 else 32 :])
        kernel, bracket, reference = name.partition("]")
        if kernel == "[kernel.kallsyms" and bracket:
            address = int.from_bytes(notice.payload[24:32], "little")
            self.recording.kernel_reference = (reference, address)
            self.symbols.kernel_mapped(reference, address)

    # -- handing out ---------------------------------------------------------------------------------------------

    def _flush(self, rows: list[Row], limit: int) -> None:
        rows.extend(self._gaps)
        self._gaps.clear()
        state = (self._intake.rounds, limit)
        if state == self._flushed:  # no round has ended since
            return
        self._flushed = state
        self._aside(self._intake.settle())
        due = self._intake.pending.take(limit)
        if not due:
            return
        self._emit(due, rows)
        if self._intake.files.full or self.tasks.comm_names.full or self.tasks.cgroup_names.full:
            self._start_over(rows)

    def _start_over(self, rows: list[Row]) -> None:
        """Too many files or names were seen: with nothing pending, their numbers can be given anew."""
        self._emit(self._intake.pending.take(EVERYTHING), rows)
        self._intake.files.clear()
        self._intake.forget_names()
        self.tasks.forget_files()
        self.tasks.forget_names()
        self._stacks.forget_addresses()

    def _emit(self, due: Due, rows: list[Row]) -> None:
        self._intake.thin_out = self._flusher.storm
        for row in self._flusher.rows(due, self.declared.formats):
            if isinstance(row, Lost):
                self.stats.lost += row.count
            rows.append(row)

    def _force(self, rows: list[Row]) -> None:
        """Too much waits for the end of its round: the older half goes."""
        self.stats.forced_flushes += 1
        self._aside(self._intake.settle())
        self._flushed = (-1, 0)
        self._flush(rows, max(self._intake.pending.middle(), self._intake.complete))

    # -- records that perf writes ----------------------------------------------------------------------------------

    def _special(
        self, channel: Channel, buffer: bytes | bytearray, place: int, kind: int, size: int, rows: list[Row]
    ) -> int:
        """Take one record; returns its length with what follows it, or `_WAIT` when it is not wholly there."""
        if place + size > len(buffer):
            return _WAIT
        record = bytes(buffer[place : place + size])
        if kind == Type.HEADER_TRACING_DATA and size >= 12:
            return self._tracing_data(channel, buffer, place, size)
        if kind == Type.AUXTRACE and size >= 16:
            return size + channel.skip(struct.unpack_from("<Q", record, 8)[0], len(buffer) - place - size)
        if kind in (Type.COMPRESSED, Type.COMPRESSED2):
            self._compressed(channel, record, rows)
        elif kind == Type.HEADER_ATTR:
            attr = read_attr(record)
            self.stats.broken += attr is None
            if attr is not None:
                self.add_event(attr)
        else:
            self.declared.take(kind, record)
        return size

    def _tracing_data(self, channel: Channel, buffer: bytes | bytearray, place: int, size: int) -> int:
        length = struct.unpack_from("<I", buffer, place + HEADER_BYTES)[0]
        if length > _TRACING_DATA_BYTES:
            channel.lose()
            return 0
        end = place + size + int(length)
        if end > len(buffer):
            return _WAIT
        self.add_formats(parse_tracing_data(bytes(buffer[place + size : end])))
        return end - place

    def _compressed(self, channel: Channel, record: bytes, rows: list[Row]) -> None:
        if channel is self._inner:  # compressed data holds no compressed data
            self.stats.broken += 1
            return
        start, end = HEADER_BYTES, len(record)
        if record[0] == Type.COMPRESSED2 and len(record) >= 16:
            start, end = 16, 16 + min(struct.unpack_from("<Q", record, 8)[0], len(record) - 16)
        self._inflater = self._inflater or Inflater()
        try:
            for piece in self._inflater.feed(record[start:end]):
                self._records(self._inner, piece, rows)
        except BadInput:
            self.stats.broken += 1
