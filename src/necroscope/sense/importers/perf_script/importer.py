"""`perf script` text, as the tool printed it: with or without `--header`, packed or not, several files in a row.

    with PerfScript(path, Placing()) as script:
        offset_ns, exact = script.utc_offset_ns()
        for row in script.rows(): ...

Lost against perf.data: cgroups, forks and exits, everything that `-F` left out. Without `--ns` times are rounded to
microseconds. `rows((k, n))` reads the k-th of n pieces, cut where samples begin, for n processes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from necroscope.errors import BadInput
from necroscope.sense.importers.perf_script.head import ScriptHead, parse_head_comments
from necroscope.sense.importers.perf_script.lines import parse_head
from necroscope.sense.importers.perf_script.samples import ScriptDecoder, ScriptStats
from necroscope.sense.importers.placement import Clocks, Placement, placement
from necroscope.sense.importers.read_ahead import is_perf_data
from necroscope.sense.importers.source import NO_PLACING, Placing, Source
from necroscope.sense.perf.rows import Lost
from necroscope.sense.perf.samples import SampleBatch

BLOCK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 20
_TAIL_BYTES = 256 << 10
_CARRY_BYTES = 16 << 20
_SINCE_1970_NS = 1_000_000_000_000_000_000  # no machine is up for 31 years: such times are UTC already
_NOMINAL_NS = 1_000_000_000 // 99
_SPLIT = re.compile(rb"\n\r?\n")
_LINE = re.compile(rb"(?<=\n)([^\n]+)(?=\n)")
_LINES_BACK = 2000
CUT_SAMPLE = "the file ends within its last sample, which is left out"
NOT_CLOSED = "nothing closes the last sample: the file may have been cut"


class NoTimes(BadInput):
    """No sample of a text has a time."""


class PerfScript:
    """One file. `BadInput` when its beginning holds no sample."""

    def __init__(self, path: Path, placing: Placing = NO_PLACING) -> None:
        self.path = path
        self._placing = placing
        with Source(path) as source:
            self.size, self.packing = source.size, source.packing
            self._modified_ns = source.modified_ns or 0
            text = source.beginning(_HEAD_BYTES)
        self.head: ScriptHead = parse_head_comments(text)
        first = self._look(text)
        self._first_ns = int(first.at_ns.min())
        self._decoder = self._new_decoder(first)
        self._spaced = b"\n\n" in text.replace(b"\r\n", b"\n")
        self._last_ns: int | None = None
        self._placed: Placement | None = None
        self._at = 0.0
        self._cut: tuple[str, ...] = ()

    # -- what it says ---------------------------------------------------------------------------------------------

    @property
    def stats(self) -> ScriptStats:
        """What was read so far."""
        return self._decoder.stats

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._at

    def utc_offset_ns(self) -> tuple[int, bool]:
        """What to add to `at_ns` to get UTC, and whether that is exact. The same for every piece of the file.

        Exact when the user gave it, when perf noted both clocks, or when the times are UTC; else by the best witness
        there is (`placement`).
        """
        if self._placed is None:
            utc = self.head.offset_ns is None and self._first_ns > _SINCE_1970_NS
            clocks = Clocks(
                self.path.name,
                lambda: self._first_ns if self._placing.at_ns is not None else self.head.first_ns or self._first_ns,
                lambda: self.head.last_ns or self._last_sample_ns(),
                self._modified_ns,
                _date_beside(self.path),
                self.head.captured_ns,
                0 if utc else self.head.offset_ns,
            )
            self._placed = placement(clocks, self._placing)
        return self._placed.offset_ns, self._placed.exact

    def notes(self) -> tuple[str, ...]:
        """What is lost or guessed in what was read so far, in sentences."""
        stats = self.stats
        said = (
            (stats.odd_lines, f"{stats.odd_lines:,} lines could not be understood"),
            (stats.without_cpu, f"{stats.without_cpu:,} samples do not say on which core they were taken"),
            (stats.without_period, f"{stats.without_period:,} samples have no period; a nominal weight was given"),
            (stats.one_number, f"{stats.one_number:,} samples name one number only: threads count as processes"),
            (stats.records, f"{stats.records:,} lines tell of tasks and mappings, which are not used"),
            (stats.lost, f"{stats.lost:,} records were lost while recording"),
        )
        placed = (self._placed.said,) if self._placed is not None and self._placed.said else ()
        return (*placed, *self._cut, *(sentence for holds, sentence in said if holds))

    @property
    def divisible(self) -> bool:
        """Whether several processes can read a piece each."""
        return not self.packing

    def emit_stacks_again(self) -> None:
        """Hand out all stacks anew when they come again."""
        self._decoder.emit_stacks_again()

    # -- reading ---------------------------------------------------------------------------------------------------

    def rows(self, share: tuple[int, int] = (0, 1)) -> Iterator[SampleBatch | Lost]:
        """The samples of the k-th of n pieces, in the order of the file. A packed file is one piece, the first."""
        for block in self._packed(share) if self.packing else self._piece(share):
            yield from self._decoder.decode(block.replace(b"\r\n", b"\n") if b"\r" in block else block)
        self._at = 1.0

    def _packed(self, share: tuple[int, int]) -> Iterator[bytes]:
        if share[0] == 0:
            with Source(self.path) as source:
                for block in _blocks(lambda: source.read(BLOCK_BYTES), self._ending):
                    self._at = source.progress
                    yield block
                self._cut = (*source.notes(), *self._cut)

    def _piece(self, share: tuple[int, int]) -> Iterator[bytes]:
        number, count = share
        try:
            file = self.path.open("rb", buffering=0)
        except OSError as error:
            raise BadInput(f"{self.path} cannot be opened: {error.strerror}") from error
        with file:
            start, end = (_boundary(file.fileno(), self.size * one // count, self.size) for one in (number, number + 1))
            at = start

            def read() -> bytes:
                nonlocal at
                data = os.pread(file.fileno(), min(BLOCK_BYTES, end - at), at) if at < end else b""
                at += len(data)
                self._at = (at - start) / max(1, end - start)
                return data

            yield from _blocks(read, self._ending if number == count - 1 else bytes)

    def _ending(self, text: bytes) -> bytes:
        """The end of the file, from its last sample on, without what was cut."""
        last = text.rstrip(b"\r\n").rpartition(b"\n")[2]
        whole = not last or last.startswith(b"#") or (text.endswith(b"\n") and not self._spaced)
        if whole:
            return text
        if text.endswith(b"\n") or last.endswith(b")"):
            self._cut = (NOT_CLOSED,)
            return text
        self._cut = (CUT_SAMPLE,)
        return b"" if self._spaced else text[: text.rfind(b"\n") + 1]

    def close(self) -> None:
        """Nothing stays open between two calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- before the rows ---------------------------------------------------------------------------------------------

    def _look(self, text: bytes) -> SampleBatch:
        """The samples of the beginning, for their times and how far apart they are."""
        text = text.replace(b"\r\n", b"\n")
        whole = text[: cut + 1] if len(text) >= _HEAD_BYTES and (cut := text.rfind(b"\n")) >= 0 else text
        for row in ScriptDecoder(_NOMINAL_NS).decode(whole):
            if isinstance(row, SampleBatch):
                return row
        raise NoTimes(
            f"{self.path} holds no sample of `perf script` with a time",
            "make it with `perf script --header -F comm,pid,tid,cpu,time,period,event,ip,sym,dso`",
        )

    def _new_decoder(self, first: SampleBatch) -> ScriptDecoder:
        frequency = self.head.frequency
        period_ns = 1_000_000_000 // frequency if frequency else _spacing_ns(first)
        return ScriptDecoder(period_ns, self.head.events[0] if len(self.head.events) == 1 else "")

    def _last_sample_ns(self) -> int:
        if self._last_ns is None:
            tail = self._tail()
            cut = _SPLIT.search(tail)
            rows = ScriptDecoder(_NOMINAL_NS).decode(tail[cut.end() :].replace(b"\r\n", b"\n") if cut else tail)
            times = [int(row.at_ns.max()) for row in rows if isinstance(row, SampleBatch)]
            self._last_ns = max(times, default=self._first_ns)
        return self._last_ns

    def _tail(self) -> bytes:
        if not self.packing:
            with self.path.open("rb") as file:
                file.seek(max(0, self.size - _TAIL_BYTES))
                return file.read(_TAIL_BYTES)
        tail = b""
        with Source(self.path) as source:
            while data := source.read():
                tail = (tail + data)[-_TAIL_BYTES:]
        return tail


def _date_beside(path: Path) -> int | None:
    """The date of the recording that a text was made from, where it lies beside it: x.data of x.data.stacks.gz."""
    beside = path
    for _ in range(2):
        beside = beside.with_suffix("")
        with suppress(OSError):
            if beside != path and beside.is_file() and is_perf_data(beside):
                return beside.stat().st_mtime_ns
    return None


def _spacing_ns(batch: SampleBatch) -> int:
    """How far apart samples of one core usually are: the period, where nobody tells it."""
    order = np.lexsort((batch.at_ns, batch.cpu))
    steps = np.diff(batch.at_ns[order])[np.diff(batch.cpu[order]) == 0]
    steps = steps[steps > 0]
    return int(np.median(steps)) if steps.size >= 8 else _NOMINAL_NS


def _blocks(read: Callable[[], bytes], ending: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """What `read` yields, cut anew where samples begin. What never begins a sample is dropped when it gets too long.

    What is left at the end, the last sample unless an empty line follows it, is what `ending` makes of it."""
    rest = b""
    while data := read():
        rest += data
        cut = _last_start(rest)
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
        elif len(rest) > _CARRY_BYTES:
            rest = b""
    if rest := ending(rest):
        yield rest


def _last_start(text: bytes) -> int:
    """Where the last sample that may still go on begins; 0: nowhere."""
    for mark in (b"\n\n", b"\n\r\n"):
        if (at := text.rfind(mark)) >= 0:
            return at + len(mark)
    end = text.rfind(b"\n")
    for _ in range(_LINES_BACK):
        start = text.rfind(b"\n", 0, end) + 1 if end > 0 else 0
        if start == 0 or _begins(text[start:end]):
            return start
        end = start - 1
    return 0


def _begins(line: bytes) -> bool:
    """Whether a line begins a sample. That of a call chain may begin with blanks, as may a name."""
    return not line.startswith(b"\t") and parse_head(line) is not None


def _boundary(fd: int, wanted: int, size: int) -> int:
    """The first place at or after `wanted` where a sample begins; the same for whoever asks."""
    if wanted <= 0 or wanted >= size:
        return max(0, min(wanted, size))
    at = max(0, wanted - 3)
    while at < size:
        text = os.pread(fd, _HEAD_BYTES, at)
        for found in _SPLIT.finditer(text) if _SPLIT.search(text) else _LINE.finditer(text):
            place = at + found.end()
            if place >= wanted and (found.re is _SPLIT or _begins(found[1])):
                return place - (0 if found.re is _SPLIT else len(found[1]))
        at += max(1, len(text) - 3 if text.find(b"\n") < 0 else text.rfind(b"\n"))
    return size
