"""`perf script` text whose samples have no times (`-F comm,pid,event,ip,sym`): a profile of all of it, as one window.

    python 26718/26718 [000]   10309278 cpu-clock:ppp:
    \t          1aee01 _PyObject_Free (/usr/lib/libpython3.11.so.1.0)

Each sample counts once, whatever its period; within the window only shares mean something, as with folded stacks.
Thread, process and core are kept where they are printed. The window is where the recording was, by its header or name,
and as long as the header says, else a nominal minute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from necroscope.errors import BadInput
from necroscope.sense.importers.frame_names import frame_name
from necroscope.sense.importers.perf_script.head import parse_head_comments
from necroscope.sense.importers.perf_script.lines import parse_frame
from necroscope.sense.importers.perf_script.stacks import Chains
from necroscope.sense.importers.placement import Clocks, Placement, placement
from necroscope.sense.importers.profiles.folded import EVENT, WINDOW_NS
from necroscope.sense.importers.source import NO_PLACING, Placing, Source
from necroscope.sense.perf.decode.interning import Names, recoded
from necroscope.sense.perf.samples import SampleBatch

_HEAD_BYTES = 256 << 10
_BATCH = 1 << 14
_DEEPEST = 1024
_INT32 = (1 << 31) - 1
_EVENT = (rb"(?:\s{1,30}\[(\d{1,5})\])?"
          rb"(?:(?:\s{1,30}\d{1,18})?\s{1,30}[^\s:]\S{0,200}?:(?:\s{1,30}([0-9a-f]{1,16}\s.*))?)?$")  # fmt: skip
_HEADS = (
    re.compile(rb"(.{0,200}?)(?<!\S)(-?\d{1,10})(?:\s{0,9}/\s{0,9}(-?\d{1,10}))?" + _EVENT, re.DOTALL),
    re.compile(rb"(.{0,200}?)()()" + _EVENT, re.DOTALL),
)
_FRAME = re.compile(rb"[\t ]+[0-9a-f]{1,16} ")
LOST = "its samples have no times: all of it is one profile, within which only shares mean something"


def is_frame(line: bytes) -> bool:
    """Whether a line is one of a call chain, with its address."""
    return _FRAME.match(line) is not None and parse_frame(line) is not None


def is_flat(line: bytes) -> bool:
    """Whether a line is a sample without a call chain: its instruction, with a file, stands behind the event."""
    return line.endswith(b")") and len(line) < 4096 and (found := _head(line)) is not None and bool(found[5])


@dataclass(slots=True)
class _Columns:
    """Samples that wait to become a batch."""

    comm: list[int] = field(default_factory=list)
    pid: list[int] = field(default_factory=list)
    tid: list[int] = field(default_factory=list)
    cpu: list[int] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)


class TimelessScript:
    """One file. `BadInput`, while it is read, when it holds no call chain."""

    divisible = False

    def __init__(self, path: Path, placing: Placing = NO_PLACING) -> None:
        self.path = path
        with Source(path) as source:
            self.size = source.size
            self._modified_ns = source.modified_ns or 0
            self._head = parse_head_comments(source.beginning(_HEAD_BYTES))
        first, last = self._head.first_ns or 0, self._head.last_ns or 0
        self._window_ns = last - first if last > first else WINDOW_NS
        self._placing = placing
        self._placed: Placement | None = None
        self._chains = Chains()
        self._comms = Names()
        self._columns = _Columns()
        self._cut: tuple[str, ...] = ()
        self.progress = 0.0
        self.samples = self.odd_lines = 0

    def utc_offset_ns(self) -> tuple[int, bool]:
        """Where the window begins; never exact, unless the user gave it."""
        if self._placed is None:
            name, captured_ns = self.path.name, self._head.captured_ns
            clocks = Clocks(name, int, lambda: self._window_ns, self._modified_ns, captured_ns=captured_ns)
            self._placed = placement(clocks, self._placing)
        return self._placed.offset_ns, self._placed.exact

    def notes(self) -> tuple[str, ...]:
        """What is lost or guessed, in sentences."""
        placed = self._placed.said if self._placed is not None else ""
        odd = f"{self.odd_lines:,} lines could not be understood" if self.odd_lines else ""
        return tuple(filter(None, (LOST, placed, *self._cut, odd)))

    def emit_stacks_again(self) -> None:
        """Hand out all stacks anew when they come again."""
        self._chains.forget()

    def rows(self, share: tuple[int, int] = (0, 1)) -> Iterator[SampleBatch]:
        """The samples in the order of the file. It is one piece, the first."""
        with Source(self.path) as source:
            for sample in _blocks(source.lines()) if share[0] == 0 else ():
                self._keep(sample)
                if len(self._columns.stack) >= _BATCH:
                    self.progress = source.progress
                    yield self._batch()
            if self._columns.stack:
                yield self._batch()
            self._cut = source.notes()
        if share[0] == 0 and not self.samples:
            raise BadInput(
                f"{self.path} holds no sample of `perf script`",
                "make it with `perf script --header -F comm,pid,tid,cpu,time,period,event,ip,sym,dso`",
            )

    def _keep(self, lines: list[bytes]) -> None:
        """A sample: its first line, where it has one, and its call chain, innermost first."""
        headless = is_frame(lines[0])
        found = None if headless else _head(lines[0])
        below = lines if headless else lines[1:]
        if found is not None and found[5] and not below:
            below = [found[5]]
        frames = [line for line in below[:_DEEPEST] if parse_frame(line) is not None]
        self.odd_lines += len(below) - len(frames) - max(0, len(below) - _DEEPEST)
        if not frames or (found is None and not headless):
            self.odd_lines += not headless
            return
        comm, pid, tid, cpu = found.group(1, 2, 3, 4) if found is not None else (b"", None, None, None)
        columns = self._columns
        columns.comm.append(self._comms.number(frame_name(comm.strip())))
        columns.pid.append(_number(pid))
        columns.tid.append(_number(tid or pid))
        columns.cpu.append(_number(cpu))
        columns.stack.append(self._chains.ids[self._chains.of_lines(frames)])

    def _batch(self) -> SampleBatch:
        columns, self._columns = self._columns, _Columns()
        count = len(columns.stack)
        place = (np.arange(self.samples, self.samples + count, dtype=np.int64) * 1_000_003) % max(1, self._window_ns)
        self.samples += count
        nothing = np.zeros(count, np.int32)
        pid, tid, cpu, comm = (np.array(one, np.int32) for one in (columns.pid, columns.tid, columns.cpu, columns.comm))
        batch = SampleBatch(
            at_ns=np.sort(place),
            cpu=cpu,
            pid=pid,
            tid=tid,
            comm=recoded(comm, self._comms.texts)[0],
            comms=recoded(comm, self._comms.texts)[1],
            cgroup=nothing,
            cgroups=("",),
            event=nothing,
            events=(EVENT,),
            weight=np.ones(count, np.int64),
            stack_id=np.array(columns.stack, np.uint64),
            stacks=self._chains.take_fresh(),
        )
        self._chains.bound()
        if self._comms.full:
            self._comms = Names()
        return batch

    def close(self) -> None:
        """Nothing stays open between two calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _head(line: bytes) -> re.Match[bytes] | None:
    """A sample's first line taken apart, with a process or without."""
    line = line.strip()
    return _HEADS[0].match(line) or _HEADS[1].match(line)


def _begins(line: bytes) -> bool:
    """Whether a line ends the sample before it: it is not indented, or it is padded and has its instruction behind."""
    if line[:1] not in (b"\t", b" "):
        return True
    return line[:1] == b" " and _FRAME.match(line) is None and (found := _head(line)) is not None and bool(found[5])


def _blocks(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Samples as lines: an empty line ends one, as does one that is not indented."""
    block: list[bytes] = []
    for line in lines:
        if line.startswith(b"#"):
            continue
        if block and (not line.strip() or _begins(line)):
            yield block
            block = []
        if line.strip() and len(block) <= 2 * _DEEPEST:
            block.append(line)
    if block:
        yield block


def _number(text: bytes | None) -> int:
    return min(max(int(text), -1), _INT32) if text else -1
