"""Text of `perf script` to columns. Nearly all time goes into this module: each sample costs a few look-ups.

A block is cut at empty lines, a piece at the colons of its first line: who and where, when, what, and the lines below.
All but the time come again and again and are looked up as they stand. What looks different (several samples without an
empty line between, comments, fields of tracepoints) goes line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.importers.perf_script.columns import Origins, Subjects, times_ns
from necroscope.sense.importers.perf_script.lines import Head, parse_head, parse_lost
from necroscope.sense.importers.perf_script.scan import Scanned, scan
from necroscope.sense.importers.perf_script.stacks import Chains
from necroscope.sense.perf.decode.interning import recoded
from necroscope.sense.perf.rows import Lost
from necroscope.sense.perf.samples import SampleBatch

I64s = NDArray[np.int64]
_Columns = tuple[I64s, I64s, I64s, I64s]
"""Thread, subject and stack of samples, as numbers of what is remembered, and times."""

_CLOCKS = ("cpu-clock", "task-clock")
# The instruction, printed behind the event where there is no call chain; fields of tracepoints do not look like it.
_ALONE = re.compile(rb"[0-9a-f]{1,16} .+\)$", re.DOTALL)


@dataclass(slots=True)
class ScriptStats:
    """What was read. `odd_lines` could not be understood; samples `without_period` got a nominal weight."""

    samples: int = 0
    odd_lines: int = 0
    without_cpu: int = 0
    without_period: int = 0
    one_number: int = 0
    lost: int = 0
    records: int = 0


class ScriptDecoder:
    """Blocks of text in, batches out. A block begins with a sample (or a comment) and ends with a whole one."""

    def __init__(self, period_ns: int, event: str = "") -> None:
        self.stats = ScriptStats()
        self._period_ns = period_ns
        self._event = (event or "samples").encode()
        self._chains = Chains()
        self._origins, self._subjects = Origins(), Subjects()
        self._lost: list[Lost] = []

    def decode(self, block: bytes) -> Iterator[SampleBatch | Lost]:
        """The block's samples, in the order they stand in it."""
        scanned = scan(block)
        batch = self._batch(*(self._one_by_one(block) if scanned is None else self._at_once(block, scanned)))
        if len(batch):
            yield batch
        yield from self._lost
        self._lost.clear()
        self._bound()

    def emit_stacks_again(self) -> None:
        """Hand out all stacks anew when they come again. Between two blocks only."""
        self._chains.forget()

    def _at_once(self, block: bytes, scanned: Scanned) -> _Columns:
        """The samples of a block that was scanned. What looks different goes line by line."""
        usual = np.flatnonzero(scanned.at_ns >= 0)
        places, hashes = scanned.places[usual], scanned.hashes[usual]
        chains, origins, subjects = self._chains, self._origins, self._subjects
        numbers = (
            origins.by_hash.numbers(hashes[:, 0], _cut(block, places[:, 0], places[:, 2]), origins.__getitem__),
            subjects.by_hash.numbers(hashes[:, 1], _cut(block, places[:, 3], places[:, 4]), subjects.__getitem__),
            chains.by_hash.numbers(hashes[:, 2], _cut(block, places[:, 5], places[:, 1]), chains.of_text),
        )
        known = np.minimum(np.minimum(*numbers[:2]), numbers[2]) >= 0
        columns = (*(one[known] for one in numbers), scanned.at_ns[usual[known]])
        if int(known.sum()) == scanned.at_ns.size:
            return columns
        return self._with_odd(block, scanned, usual[known], columns)

    def _with_odd(self, block: bytes, scanned: Scanned, usual: I64s, columns: _Columns) -> _Columns:
        """The columns with those of the other pieces, in the order of the block."""
        found, piece_of = _Found(), usual.tolist()
        for piece in np.setdiff1d(np.arange(scanned.at_ns.size), usual).tolist():
            begin, end = scanned.places[piece, :2].tolist()
            before = len(found.stacks)
            self._by_line(block[begin:end], found)
            piece_of += [piece] * (len(found.stacks) - before)
        order = np.argsort(np.array(piece_of, np.int64), kind="stable")
        together = (np.concatenate(pair)[order] for pair in zip(columns, found.columns(), strict=True))
        origin, subject, stack, at_ns = together
        return origin, subject, stack, at_ns

    def _one_by_one(self, block: bytes) -> _Columns:
        """The samples of a block without a library for it."""
        pieces = block.split(b"\n\n")
        counted = self.stats.odd_lines, self.stats.lost, self.stats.records
        try:
            return self._found(pieces).columns()
        except ValueError:
            # A word stands where a time should: somebody's name looks like the beginning of a sample.
            self.stats.odd_lines, self.stats.lost, self.stats.records = counted
            self._lost.clear()
            found = _Found()
            for piece in pieces:
                self._by_line(piece, found)
            return found.columns()

    def _found(self, pieces: list[bytes]) -> _Found:
        """The samples of a block. Whole lists instead of this loop were tried: slower, memory being what it costs."""
        found = _Found()
        origins, subjects, chains = self._origins, self._subjects, self._chains
        keep_origin, keep_subject = found.origins.append, found.subjects.append
        keep_stack, keep_time = found.stacks.append, found.times.append
        for piece in pieces:
            cut = piece.split(b": ", 2)
            if len(cut) == 3:
                who, _, when = cut[0].rpartition(b" ")
                if (
                    (origin := origins[who]) >= 0
                    and (subject := subjects[cut[1]]) >= 0
                    and (stack := chains[cut[2]]) >= 0
                ):
                    keep_origin(origin)
                    keep_subject(subject)
                    keep_stack(stack)
                    keep_time(when)
                    continue
            self._by_line(piece, found)
        return found

    # -- line by line -------------------------------------------------------------------------------------------

    def _by_line(self, piece: bytes, found: _Found) -> None:
        head: Head | None = None
        below: list[bytes] = []
        for line in piece.split(b"\n"):
            if not line or line.startswith(b"#"):
                continue
            began = None if line.startswith(b"\t") else parse_head(line)
            if began is not None:
                self._sample(head, below, found)
                head, below = began, []
            elif head is not None and line[:1] in (b"\t", b" "):
                below.append(line)
            else:
                self.stats.odd_lines += 1
        self._sample(head, below, found)

    def _sample(self, head: Head | None, below: list[bytes], found: _Found) -> None:
        if head is None:
            return
        if b"PERF_RECORD_" in (head.rest[:12], head.event[:12]):
            if (count := parse_lost(head.rest)) is not None:
                self._lost.append(Lost(head.at_ns, count, head.cpu))
                self.stats.lost += count
            else:
                self.stats.records += 1
            return
        if not below and _ALONE.match(head.rest):
            below = [head.rest]
        when = b"%d.%09d" % divmod(head.at_ns, 1_000_000_000)
        subject = self._subjects.of(head, self._event)
        found.keep(self._origins.of(head), subject, self._chains.of_lines(below), when)

    # -- columns ------------------------------------------------------------------------------------------------

    def _batch(self, origin: I64s, subject: I64s, stack: I64s, at_ns: I64s) -> SampleBatch:
        comm, comms = recoded(self._origins.column(0)[origin], self._origins.comms.texts)
        event, events = recoded(self._subjects.column(0)[subject], self._subjects.events.texts)
        cpu = self._origins.column(3)[origin]
        periods = np.array(self._subjects.periods, np.int64)[subject]
        self.stats.samples += stack.size
        self.stats.without_cpu += int((cpu < 0).sum())
        self.stats.one_number += int(self._origins.column(4)[origin].sum())
        return SampleBatch(
            at_ns=at_ns,
            cpu=cpu,
            pid=self._origins.column(1)[origin],
            tid=self._origins.column(2)[origin],
            comm=comm,
            comms=comms,
            cgroup=np.zeros(origin.size, np.int32),
            cgroups=("",),
            event=event,
            events=events,
            weight=self._weights(periods, event, events),
            stack_id=np.fromiter(map(self._chains.ids.__getitem__, stack.tolist()), np.uint64, stack.size),
            stacks=self._chains.take_fresh(),
        )

    def _bound(self) -> None:
        self._chains.bound()
        self._origins.bound()
        self._subjects.bound()

    def _weights(
        self, periods: NDArray[np.int64], codes: NDArray[np.int32], events: Sequence[str]
    ) -> NDArray[np.int64]:
        """The printed period; else the nominal one for clocks, and 1 for what is counted."""
        missing = periods <= 0
        if missing.any():
            self.stats.without_period += int(missing.sum())
            nominal = [self._period_ns if name in _CLOCKS else 1 for name in events]
            periods[missing] = np.array(nominal, np.int64)[codes[missing]]
        return periods


def _cut(block: bytes, begin: I64s, end: I64s) -> Callable[[int], bytes]:
    return lambda row: block[int(begin[row]) : int(end[row])]


@dataclass(slots=True)
class _Found:
    """The samples of a block, as numbers of what is remembered; times as they stand."""

    origins: list[int] = field(default_factory=list)
    times: list[bytes] = field(default_factory=list)
    subjects: list[int] = field(default_factory=list)
    stacks: list[int] = field(default_factory=list)

    def columns(self) -> _Columns:
        """Thread, subject, stack and time of each; `ValueError` when a time is none."""
        origin, subject, stack = (np.array(one, np.int64) for one in (self.origins, self.subjects, self.stacks))
        return origin, subject, stack, times_ns(self.times)

    def keep(self, origin: int, subject: int, stack: int, time: bytes) -> None:
        self.origins.append(origin)
        self.times.append(time)
        self.subjects.append(subject)
        self.stacks.append(stack)
