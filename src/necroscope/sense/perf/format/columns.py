"""Samples of a block as columns: every field of every sample of one event is read at once.

The leading fields have fixed places. Behind them come fields of varying length, in this order:

    READ | CALLCHAIN | RAW | BRANCH_STACK | REGS_USER | STACK_USER | WEIGHT | DATA_SRC | TRANSACTION | REGS_INTR |
    PHYS_ADDR | CGROUP | DATA_PAGE_SIZE | CODE_PAGE_SIZE | AUX

A cursor per sample walks over them, all cursors in step. A sample whose fields do not fit into its record is broken:
it is counted and left out, and its neighbours do not notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.native import Layout, Loops, loops
from necroscope.sense.perf.format.attrs import EventAttr, Events
from necroscope.sense.perf.format.branches import with_calls
from necroscope.sense.perf.format.layout import BRANCH_CALL_STACK, BRANCH_COUNTERS, BRANCH_HW_INDEX, Read, Sample
from necroscope.sense.perf.format.tables import select
from necroscope.sense.perf.format.walk import Block, spans

I64s = NDArray[np.int64]
U64s = NDArray[np.uint64]
_NO_CGROUP = np.uint64(0)
# Fields of varying length other than the call chain, and those between it and the cgroup.
_BEFORE_CGROUP = (
    Sample.READ
    | Sample.RAW
    | Sample.BRANCH_STACK
    | Sample.REGS_USER
    | Sample.STACK_USER
    | Sample.WEIGHT
    | Sample.WEIGHT_STRUCT
    | Sample.DATA_SRC
    | Sample.TRANSACTION
    | Sample.REGS_INTR
    | Sample.PHYS_ADDR
)


@dataclass(frozen=True, slots=True)
class SampleRows:
    """Samples in the order they were read. `chain` is all call chains, leaf first, with marks."""

    time: U64s
    cpu: NDArray[np.int32]
    pid: NDArray[np.uint32]
    tid: NDArray[np.uint32]
    event: NDArray[np.int32]
    weight: I64s
    cgroup: U64s
    depth: I64s
    chain: U64s

    def __len__(self) -> int:
        return int(self.time.size)

    def take(self, wanted: NDArray[np.bool_]) -> SampleRows:
        """The rows where `wanted` is true, with their chains."""
        chain = self.chain[np.repeat(wanted, self.depth)]
        return replace(select(replace(self, chain=self.time), wanted), chain=chain)


@dataclass(frozen=True, slots=True)
class RawFields:
    """A tracepoint sample's own bytes."""

    time: int
    event: int
    pid: int
    data: bytes


@dataclass(frozen=True, slots=True)
class RawRows:
    """What tracepoints wrote, in the order it was read. Each row's words begin with the length of its bytes, which
    takes four; `words` is how many there are, and `data` all of them."""

    time: U64s
    event: NDArray[np.int32]
    pid: NDArray[np.uint32]
    words: I64s
    data: U64s

    def __len__(self) -> int:
        return int(self.time.size)

    @property
    def start(self) -> I64s:
        """The word in `data` where each row begins."""
        return np.cumsum(self.words) - self.words

    def take(self, wanted: NDArray[np.bool_]) -> RawRows:
        """The rows where `wanted` is true."""
        data = self.data[np.repeat(wanted, self.words)]
        return replace(select(replace(self, data=self.time), wanted), data=data)

    def fields(self) -> Iterator[RawFields]:
        """The rows one by one."""
        octets, start = self.data.view(np.uint8), self.start
        sizes = (self.data[start] & np.uint64(0xFFFFFFFF)).tolist()
        pids = self.pid.view(np.int32).tolist()
        columns = (self.time.tolist(), self.event.tolist(), pids, (start * 8 + 4).tolist(), sizes)
        for time, event, pid, place, size in zip(*columns, strict=True):
            yield RawFields(time, event, pid, octets[place : place + size].tobytes())


def events_of_samples(block: Block, at: I64s, events: Events) -> NDArray[np.int32]:
    """Which event each sample belongs to; -1 when its id is nobody's."""
    if len(events) == 1:
        return np.zeros(at.size, np.int32)
    word = events.id_word()
    if word is None:
        return np.full(at.size, -1, np.int32)
    where = block.start[at] + np.minimum(word, block.size[at] - 1)
    return events.of_ids(block.words[where])


@dataclass(frozen=True, slots=True)
class Extracted:
    """The samples of one event in one block, what tracepoints wrote, the records they were in, and those broken.

    `left_stacks` counts samples with a copy of the user's stack that nobody unwinds (`--call-graph dwarf`)."""

    rows: SampleRows
    raws: RawRows | None
    whole: I64s
    broken: int
    left_stacks: int = 0


def extracted(
    block: Block,
    at: I64s,
    attr: EventAttr,
    event: NDArray[np.int32],
    want_raw: bool = False,
    few: Callable[[NDArray[np.uint32]], I64s] | None = None,
) -> Extracted:
    """Read samples of events that are laid out alike, as `attr` says; `event` tells which each is of. Of what
    tracepoints wrote all is read; with `few`, only some of the samples themselves, chosen by their processes."""
    native = loops()
    if native is not None and not attr.sample_type & _BEFORE_CGROUP:
        return _in_one_pass(native, block, at, attr, event)
    if native is not None and want_raw and attr.sample_type & _BEFORE_CGROUP == Sample.RAW:
        return _traced(native, block, at, attr, event, few)
    extractor = _Extractor(block, at, attr, event, want_raw)
    rows, raws = extractor.rows(few)
    return Extracted(rows, raws, extractor.whole, extractor.broken, extractor.left_stacks)


def _layout(attr: EventAttr) -> Layout:
    fields = (Sample.TIME, Sample.TID, Sample.CPU, Sample.PERIOD, Sample.IP)
    time, tid, cpu, period, ip = (-1 if (word := attr.word_of(field)) is None else word for field in fields)
    before, chain, cgroup = attr.words_before_variable(), attr.has(Sample.CALLCHAIN), attr.has(Sample.CGROUP)
    return Layout(time, tid, cpu, period, ip, before, chain, cgroup)


def _in_one_pass(native: Loops, block: Block, at: I64s, attr: EventAttr, event: NDArray[np.int32]) -> Extracted:
    columns = native.samples(block.words, block.start, block.size, at, _layout(attr))
    whole = columns.pop("whole")
    own = event if whole.size == at.size else event[np.searchsorted(at, whole)]
    rows = SampleRows(event=own, **columns)
    return Extracted(rows, None, whole, int(at.size - whole.size))


def _traced(
    native: Loops,
    block: Block,
    at: I64s,
    attr: EventAttr,
    event: NDArray[np.int32],
    few: Callable[[NDArray[np.uint32]], I64s] | None,
) -> Extracted:
    """What tracepoints wrote in one pass; the samples themselves, of which there may be few, in many."""
    columns = native.raws(block.words, block.start, block.size, at, _layout(attr))
    places = columns.pop("whole")
    raws, whole = RawRows(event=event[places], **columns), at[places]
    chosen = slice(None) if few is None else few(raws.pid)
    rows, _ = _Extractor(block, whole[chosen], attr, raws.event[chosen]).rows(None)
    return Extracted(rows, raws, whole, int(at.size - whole.size))


class _Extractor:
    """Reads the samples of one layout in one block, whatever their fields."""

    def __init__(
        self, block: Block, at: I64s, attr: EventAttr, event: NDArray[np.int32], want_raw: bool = False
    ) -> None:
        self._want_raw = want_raw
        self._words = block.words
        self._attr = attr
        fits = block.size[at] >= attr.words_before_variable()
        self.broken = int(at.size - np.count_nonzero(fits))
        at, event = (at, event) if not self.broken else (at[fits], event[fits])
        self._event = event
        self.whole = at
        self._start = block.start[at]
        self._end = self._start + block.size[at]
        self._cursor = self._start + attr.words_before_variable()
        self._alive = np.ones(at.size, np.bool_)
        self._chain_start = self._start
        self._depth = np.zeros(at.size, np.int64)
        self._cgroup = np.zeros(at.size, np.uint64)
        self._raw_at: I64s | None = None
        self._branches_at = self._calls = np.zeros(at.size, np.int64)
        self._stack_bytes = np.zeros(at.size, np.int64)

    @property
    def left_stacks(self) -> int:
        """Samples with a copy of the user's stack."""
        return int(np.count_nonzero(self._stack_bytes))

    def rows(self, few: Callable[[NDArray[np.uint32]], I64s] | None) -> tuple[SampleRows, RawRows | None]:
        """The samples as columns, and what tracepoints wrote, broken samples left out."""
        self._chains()
        if any(self._attr.has(one) for one in (Sample.RAW, Sample.BRANCH_STACK, Sample.STACK_USER, Sample.CGROUP)):
            self._behind_chain()
        self.broken += int(self._alive.size - np.count_nonzero(self._alive))
        if not self._alive.all():
            self.whole = self.whole[self._alive]
            self._keep(self._alive)
        raws = self._raw_fields()
        if few is not None and raws is not None:
            self._keep(few(raws.pid))
        return self._columns(), raws

    # -- fixed fields ----------------------------------------------------------------------------------

    def _field(self, field: int) -> U64s | None:
        word = self._attr.word_of(field)
        return None if word is None else self._words[self._start + word]

    def _columns(self) -> SampleRows:
        count = self._start.size
        time, ids, cpu, period = (self._field(f) for f in (Sample.TIME, Sample.TID, Sample.CPU, Sample.PERIOD))
        pid, tid = _halves(ids, count)
        core = np.full(count, -1, np.int32) if cpu is None else _halves(cpu, count)[0].view(np.int32)
        chain, depth = self._whole_chains()
        return SampleRows(
            time=np.zeros(count, np.uint64) if time is None else time,
            cpu=core,
            pid=pid,
            tid=tid,
            event=self._event,
            weight=np.ones(count, np.int64) if period is None else period.view(np.int64),
            cgroup=self._cgroup,
            depth=depth,
            chain=chain,
        )

    def _whole_chains(self) -> tuple[U64s, I64s]:
        """All chains and their lengths, with the calls that the CPU kept where there are some."""
        if self._attr.branch_sample_type & BRANCH_CALL_STACK and self._calls.any():
            return with_calls(self._words, self._chain_start, self._depth, self._branches_at, self._calls)
        return self._words[spans(self._chain_start, self._depth)], self._depth

    # -- fields of varying length ------------------------------------------------------------------------

    def _chains(self) -> None:
        """Call chains; without one the instruction pointer is a chain of its own."""
        if self._attr.has(Sample.READ):
            self._skip(self._read_words())
        if self._attr.has(Sample.CALLCHAIN):
            depth = self._count()
            self._chain_start, self._depth = self._cursor, np.where(self._alive, depth, 0)
            self._skip(depth)
            self._depth = np.where(self._alive, self._depth, 0)
        pointer = self._attr.word_of(Sample.IP)
        if pointer is not None and not self._depth.all():
            bare = (self._depth == 0) & self._alive
            self._chain_start = np.where(bare, self._start + pointer, self._chain_start)
            self._depth = np.where(bare, 1, self._depth)

    def _behind_chain(self) -> None:
        attr = self._attr
        if attr.has(Sample.RAW):
            self._raw_at = self._cursor
            octets = self._peek() & np.uint64(0xFFFFFFFF)
            self._skip(((octets + np.uint64(4 + 7)) >> np.uint64(3)).astype(np.int64))
        if not any(attr.has(one) for one in (Sample.BRANCH_STACK, Sample.STACK_USER, Sample.CGROUP)):
            return
        if attr.has(Sample.BRANCH_STACK):
            extra = bool(attr.branch_sample_type & BRANCH_HW_INDEX)
            each = 4 if attr.branch_sample_type & BRANCH_COUNTERS else 3
            calls = self._count()
            self._branches_at = self._cursor + extra
            self._skip(calls * each + extra)
            self._calls = np.where(self._alive, calls, 0)
        if attr.has(Sample.REGS_USER):
            self._registers(attr.regs_user)
        if attr.has(Sample.STACK_USER):
            size = self._count()
            self._skip((size >> 3) + (size > 0))
            self._stack_bytes = np.where(self._alive, size, 0)
        if not attr.has(Sample.CGROUP):
            return
        singles = (bool(attr.sample_type & (Sample.WEIGHT | Sample.WEIGHT_STRUCT)), Sample.DATA_SRC, Sample.TRANSACTION)
        self._skip(int(singles[0]) + sum(attr.has(field) for field in singles[1:]))
        if attr.has(Sample.REGS_INTR):
            self._registers(attr.regs_intr)
        self._skip(int(attr.has(Sample.PHYS_ADDR)))
        self._cgroup = self._peek()

    def _registers(self, mask: int) -> None:
        self._skip(np.where(self._count() != 0, mask.bit_count(), 0))

    def _read_words(self) -> I64s | int:
        how = self._attr.read_format
        times = bool(how & Read.TOTAL_TIME_ENABLED) + bool(how & Read.TOTAL_TIME_RUNNING)
        each = 1 + bool(how & Read.ID) + bool(how & Read.LOST)
        return self._count() * each + times if how & Read.GROUP else times + each

    def _peek(self) -> U64s:
        """The word at each cursor; zero for samples that end before it."""
        inside = self._cursor < self._end
        self._alive &= inside
        here = self._words[np.where(inside, self._cursor, self._start)]
        return here if inside.all() else np.where(inside, here, _NO_CGROUP)

    def _count(self) -> I64s:
        """A length at each cursor, which moves behind it. A record holds at most 8,192 words."""
        value = np.minimum(self._peek(), np.uint64(1 << 16)).astype(np.int64)
        self._cursor = self._cursor + 1
        return value

    def _skip(self, words: I64s | int) -> None:
        self._cursor = self._cursor + words
        self._alive &= self._cursor <= self._end

    def _keep(self, wanted: NDArray[Any]) -> None:
        """Go on with these samples only."""
        for name in (
            "_event",
            "_start",
            "_end",
            "_cursor",
            "_chain_start",
            "_depth",
            "_cgroup",
            "_branches_at",
            "_calls",
            "_stack_bytes",
        ):
            setattr(self, name, getattr(self, name)[wanted])
        if self._raw_at is not None:
            self._raw_at = self._raw_at[wanted]

    def _raw_fields(self) -> RawRows | None:
        if self._raw_at is None or not self._want_raw:
            return None
        time, pids = self._field(Sample.TIME), _halves(self._field(Sample.TID), self._start.size)[0]
        octets = (self._words[self._raw_at] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        words = (octets + (4 + 7)) >> 3
        return RawRows(
            time=np.zeros(self._start.size, np.uint64) if time is None else time,
            event=self._event,
            pid=pids,
            words=words,
            data=self._words[spans(self._raw_at, words)],
        )


def _halves(words: U64s | None, count: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    if words is None:
        return np.full(count, 0xFFFFFFFF, np.uint32), np.full(count, 0xFFFFFFFF, np.uint32)
    pair = words.view(np.uint32)
    return pair[0::2], pair[1::2]
