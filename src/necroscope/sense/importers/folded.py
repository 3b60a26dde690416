"""Folded stacks, `main;work;[kernel]` and a count a line, as flame graph tools take them.

    for row in Folded(path, Placing(at_ns=...)).rows(): ...

Lost: when, on which core, in which process and thread. The lines stand a millisecond apart from `at_ns` on, within a
nominal minute, so that the whole is one window; within it, time means nothing. Modules are lost too, except where names
end in the marks of stackcollapse: `_[k]` kernel, `_[i]` inlined, `_[j]` made at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from necroscope.errors import BadInput
from necroscope.sense.importers.source import NOTHING_TOLD, Placing, Source
from necroscope.sense.perf.jit import JIT_MODULE
from necroscope.sense.perf.samples import UNKNOWN, SampleBatch, Stack, canonical_frame, stack_id

EVENT = "folded"
WINDOW_NS = 60_000_000_000
_BATCH = 1 << 16
_DEEPEST = 1024
_LINE = re.compile(rb"(.*\S)\s+(\d{1,18})(?:\.\d+)?\s*$", re.DOTALL)
_TWO_COUNTS = re.compile(rb"\s\d{1,18}(?:\.\d+)?$")
_MARKS = {"_[k]": "[kernel]", "_[j]": JIT_MODULE, "_[i]": "[inlined]"}
LOST = "folded stacks tell no time, no core, no process: within the window only shares mean something"


class Folded:
    """One file. The count of a line is the weight of one sample; `event` says what is counted."""

    def __init__(
        self,
        file: Path | BinaryIO,
        placing: Placing = NOTHING_TOLD,
        window_ns: int = WINDOW_NS,
        event: str = EVENT,
    ) -> None:
        self._file = file
        self._at_ns = placing.at_ns
        self._window_ns = window_ns
        self._event = event
        self._source: Source | None = None
        self.samples = 0
        self.odd_lines = 0

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._source.progress if self._source else 0.0

    def notes(self) -> tuple[str, ...]:
        """What is lost, in sentences."""
        odd = (f"{self.odd_lines:,} lines were no folded stacks",) if self.odd_lines else ()
        return (LOST, *(self._source.notes() if self._source else ()), *odd)

    def rows(self) -> Iterator[SampleBatch]:
        """The stacks, in UTC. `BadInput` for a differential file, and for one without any stack."""
        with Source(self._file) as source:
            self._source = source
            start_ns = self._at_ns if self._at_ns is not None else source.modified_ns
            if start_ns is None:
                raise BadInput(f"{source.name} has no date", "say with --at where to put folded stacks")
            stacks: list[Stack] = []
            counts: list[int] = []
            for line in source.lines():
                found = self._line(line, source.name)
                if found is not None:
                    stacks.append(found[0])
                    counts.append(found[1])
                if len(stacks) >= _BATCH:
                    yield self._batch(stacks, counts, start_ns)
                    stacks, counts = [], []
            if stacks:
                yield self._batch(stacks, counts, start_ns)
        if not self.samples:
            raise BadInput(f"{source.name} holds no folded stack", "a line is `main;work;deeper 12`")

    def _line(self, line: bytes, name: str) -> tuple[Stack, int] | None:
        if not line.strip() or line.startswith(b"#"):
            return None
        found = _LINE.match(line)
        if found is None:
            self.odd_lines += 1
            return None
        if _TWO_COUNTS.search(found[1]):
            raise BadInput(
                f"{name} is a differential: its lines have two counts", "import the two profiles it was made from"
            )
        stack = _stack(found[1].decode("utf-8", "replace"))
        return stack, int(found[2])

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


def _stack(text: str) -> Stack:
    frames = [_frame(name) for name in text.split(";")[:_DEEPEST] if name] or [(UNKNOWN, UNKNOWN)]
    identity = stack_id(canonical_frame(*frame) for frame in frames)
    return Stack(identity, tuple(name for name, _ in frames), tuple(module for _, module in frames))


def _frame(name: str) -> tuple[str, str]:
    module = _MARKS.get(name[-4:])
    return (name[:-4], module) if module and len(name) > 4 else (name, UNKNOWN)
