"""Folded stacks, `main;work;[kernel]` and a count a line, as flame graph tools take them, and gProfiler's `.col`.

    for row in Folded(path, Placing(at_ns=...)).rows(): ...

Lost: when, on which core, in which process and thread. The lines stand a millisecond apart from `at_ns` on, within a
nominal minute, so that the whole is one window; within it, time means nothing. Modules are lost too, except where names
end in the marks of stackcollapse: `_[k]` kernel, `_[i]` inlined, `_[j]` made at run time.

The file is read twice: first for what its counts look like. Counts with fractions are multiplied by a power of ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from necroscope.errors import BadInput
from necroscope.sense.importers.frame_names import frame_name
from necroscope.sense.importers.profiles.folded_lines import (
    HEAD_BYTES,
    ColumnHead,
    Line,
    is_comment,
    own_frames,
    parse_column_head,
    parse_line,
)
from necroscope.sense.importers.source import NO_PLACING, Placing, Source
from necroscope.sense.perf.samples import UNKNOWN, SampleBatch, Stack, canonical_frame, stack_id
from necroscope.sense.perf.symbols.jit import JIT_MODULE

EVENT = "folded"
WINDOW_NS = 60_000_000_000
_BATCH = 1 << 16
_DEEPEST = 1024
_DIGITS = 9
_MOST = 1 << 53  # what sums of weights still tell exactly
_MARKS = {"_[k]": "[kernel]", "_[j]": JIT_MODULE, "_[i]": "[inlined]"}
LOST = "folded stacks tell no time, no core, no process: within the window only shares mean something"


@dataclass(slots=True)
class Survey:
    """What the first look at a file found."""

    lines: int = 0
    differential: int = 0
    digits: int = 0
    total: int = 0
    head: ColumnHead | None = None

    @property
    def scale(self) -> int:
        """What counts are multiplied by, so that none has a fraction."""
        scale: int = 10 ** min(self.digits, _DIGITS)
        while scale > 1 and self.total * scale > _MOST:
            scale //= 10
        return scale


class Folded:
    """One file. The count of a line is the weight of one sample; `event` says what is counted."""

    def __init__(
        self,
        file: Path | BinaryIO,
        placing: Placing = NO_PLACING,
        window_ns: int = WINDOW_NS,
        event: str = EVENT,
    ) -> None:
        self._file = file
        self._at_ns = placing.at_ns
        self._window_ns = window_ns
        self._event = event
        self._source: Source | None = None
        self._survey = Survey()
        self._total = 0
        self.samples = 0
        self.odd_lines = 0

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._source.progress if self._source else 0.0

    def notes(self) -> tuple[str, ...]:
        """What is lost, in sentences."""
        head, scale = self._survey.head, self._survey.scale
        fractions = f"counts have fractions: of each, {scale:,} times as many samples are counted, so that none is lost"
        said = (
            (True, LOST),
            (head, "applications and containers are named by gProfiler in words only: containers are kept as frames"),
            (scale > 1, fractions),
            (self.odd_lines, f"{self.odd_lines:,} lines were no folded stacks"),
        )
        return (*(self._source.notes() if self._source else ()), *(sentence for holds, sentence in said if holds))

    def rows(self) -> Iterator[SampleBatch]:
        """The stacks, in UTC. `BadInput` for a differential file, and for one without any stack."""
        self._survey = self._look()
        with Source(self._file) as source:
            self._source = source
            start_ns = self._start_ns(source)
            stacks: list[Stack] = []
            counts: list[int] = []
            for text in source.lines():
                if (line := self._line(text)) is not None:
                    stacks.append(_stack(own_frames(line.stack, self._columns)))
                    counts.append(self._count(line))
                if len(stacks) >= _BATCH:
                    yield self._batch(stacks, counts, start_ns)
                    stacks, counts = [], []
            if stacks:
                yield self._batch(stacks, counts, start_ns)
        if not self.samples:
            raise BadInput(f"{source.name} holds no folded stack", "a line is `main;work;deeper 12`")

    def _look(self) -> Survey:
        found = Survey()
        with Source(self._file) as source:
            found.head = parse_column_head(source.beginning(HEAD_BYTES))
        self._rewind()
        with Source(self._file) as source:
            for line in filter(None, map(parse_line, source.lines())):
                found.lines += 1
                found.differential += line.two
                found.digits = max(found.digits, len(line.fraction))
                found.total = min(_MOST, found.total + line.whole + 1)
            name = source.name
        self._rewind()
        if found.differential * 2 > found.lines:
            raise BadInput(
                f"{name} is a differential: its lines have two counts", "import the two profiles it was made from"
            )
        return found

    def _rewind(self) -> None:
        if not isinstance(self._file, Path):
            self._file.seek(0)

    @property
    def _columns(self) -> int:
        return self._survey.head.columns if self._survey.head is not None else 0

    def _start_ns(self, source: Source) -> int:
        declared_ns = self._survey.head.start_ns if self._survey.head is not None else None
        start_ns = next((one for one in (self._at_ns, declared_ns, source.modified_ns) if one is not None), None)
        if start_ns is None:
            raise BadInput(f"{source.name} has no date", "say with --at where to put folded stacks")
        return start_ns

    def _line(self, text: bytes) -> Line | None:
        """A line with a stack; one whose count no sum can hold is none."""
        if is_comment(text):
            return None
        line = parse_line(text)
        if line is None or self._total + self._count(line) > _MOST:
            self.odd_lines += 1
            return None
        self._total += self._count(line)
        return line

    def _count(self, line: Line) -> int:
        scale = self._survey.scale
        digits = len(str(scale)) - 1
        return line.whole * scale + int(line.fraction[:digits].ljust(digits, b"0") or b"0")

    def _batch(self, stacks: list[Stack], counts: list[int], start_ns: int) -> SampleBatch:
        count = len(stacks)
        place = (np.arange(self.samples, self.samples + count, dtype=np.int64) * 1_000_003) % max(1, self._window_ns)
        self.samples += count
        nothing, nobody = np.zeros(count, np.int32), np.full(count, -1, np.int32)
        distinct = {stack.stack_id: stack for stack in stacks}
        return SampleBatch(
            at_ns=start_ns + np.sort(place),
            cpu=nobody,
            pid=nobody,
            tid=nobody,
            comm=nothing,
            comms=("",),
            cgroup=nothing,
            cgroups=("",),
            event=nothing,
            events=(self._event,),
            weight=np.array(counts, np.int64),
            stack_id=np.array([stack.stack_id for stack in stacks], np.uint64),
            stacks=tuple(distinct.values()),
        )


def _stack(text: bytes) -> Stack:
    """Blank frames are functions without a name."""
    frames = [_frame(frame_name(name)) for name in text.split(b";", _DEEPEST)[:_DEEPEST]]
    identity = stack_id(canonical_frame(*frame) for frame in frames)
    return Stack(identity, tuple(name for name, _ in frames), tuple(module for _, module in frames))


def _frame(name: str) -> tuple[str, str]:
    module = _MARKS.get(name[-4:])
    return (name[:-4], module) if module and len(name) > 4 else (name or UNKNOWN, UNKNOWN)
