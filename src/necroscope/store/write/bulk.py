"""Segments of a recording that exists already: rows in time order in, large sealed segments out, no journal.

Nobody sees a segment before the store's writer publishes all of them. So several processes can make segments of one
recording at once, each with numbers of its own, and one that dies leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.format import rows
from necroscope.store.format.arrow import Tables, from_columns
from necroscope.store.format.grouping import numbered
from necroscope.store.format.segment import Staged, stage_segment
from necroscope.store.format.tables import LIVE_SAMPLES, LIVE_STACKS, valid_text
from necroscope.vocabulary.event import Event

MOST_ROWS = 1 << 19
MOST_STACK_BYTES = 64 << 20
_LONGEST_COLUMN = (1 << 31) - 1

_NUMBERS = {"at_ns": np.int64, "cpu": np.int32, "pid": np.int32, "tid": np.int32}
_NUMBERS |= {"weight": np.int64, "stack_id": np.uint64}
_WORDS = {"comm": "comms", "cgroup": "cgroups", "event": "events"}


class Bulk:
    """Takes the rows of one decoder. `staged` are the segments it has made so far, numbered from `first` on."""

    def __init__(
        self, segments: Path, first: int, most_rows: int = MOST_ROWS, stack_bytes: int = MOST_STACK_BYTES
    ) -> None:
        self._folder, self._number = segments, first
        self._most_rows, self._most_stack_bytes = most_rows, stack_bytes
        self._stacks: dict[int, bytes] = {}
        self._stacks_before: dict[int, bytes] = {}
        self._stack_bytes = 0
        self._dropped = False
        self.samples = 0
        self.staged: list[Staged] = []
        self._begin()

    def add_samples(self, batch: SampleBatch) -> None:
        """Samples; their times are UTC."""
        for stack in batch.stacks:
            self._stacks[stack.stack_id] = stack.canonical
            self._stack_bytes += len(stack.canonical)
        for name in _NUMBERS:
            self._columns[name].append(getattr(batch, name))
        for name, texts in _WORDS.items():
            self._columns[name].append(self._coded(name, getattr(batch, name), getattr(batch, texts)))
        self._rows += len(batch)
        self.samples += len(batch)
        if self._rows >= self._most_rows or self._stack_bytes >= self._most_stack_bytes:
            self.seal()

    def add_events(self, events: Iterable[Event]) -> None:
        """Things that happened."""
        self._events += events

    def take_dropped(self) -> bool:
        """True once after stacks were forgotten to bound memory: the decoder has to hand them out anew."""
        dropped, self._dropped = self._dropped, False
        return dropped

    def seal(self) -> None:
        """Make a segment of everything added so far."""
        tables: Tables = {}
        if self._rows:
            tables = self._sample_tables()
        if self._events:
            tables["events"] = rows.event_rows(self._events)
        made = stage_segment(self._folder, tables, self._number, self._number)
        if made is not None:
            self.staged.append(made)
            self._number += 1
        if self._stack_bytes >= self._most_stack_bytes // 2:
            # Those before are still known: rows that are on their way rely on them.
            self._stacks_before, self._stacks = self._stacks, {}
            self._stack_bytes, self._dropped = 0, True
        self._begin()

    def _begin(self) -> None:
        self._columns: dict[str, list[NDArray[np.generic]]] = {name: [] for name in (*_NUMBERS, *_WORDS)}
        self._texts: dict[str, dict[str, int]] = {name: {} for name in _WORDS}
        self._events: list[Event] = []
        self._rows = 0

    def _coded(self, name: str, codes: NDArray[np.int32], texts: tuple[str, ...]) -> NDArray[np.int32]:
        """Codes into the texts of the batch as codes into those of the segment."""
        known = self._texts[name]
        numbers = np.array([known.setdefault(text, len(known)) for text in texts], np.int32)
        return numbers[codes]

    def _sample_tables(self) -> Tables:
        columns: dict[str, object] = {name: self._column(name) for name in _NUMBERS}
        for name in _WORDS:
            texts = pa.array([valid_text(text) for text in self._texts[name]], pa.string())
            columns[name] = pa.DictionaryArray.from_arrays(self._column(name), texts)
        samples = from_columns(LIVE_SAMPLES, columns)
        seen = samples["stack_id"].to_numpy()
        ids = seen[numbered(seen)[1]]
        stacks = {"stack_id": ids, "frames": _texts([self._stack(one) for one in ids.tolist()])}
        return {"samples": samples, "stacks": from_columns(LIVE_STACKS, stacks)}

    def _stack(self, stack_id: int) -> bytes:
        found = self._stacks.get(stack_id)
        return self._stacks_before.get(stack_id, b"") if found is None else found

    def _column(self, name: str) -> NDArray[np.generic]:
        """A column of the segment; its parts are let go at once, or memory would hold everything twice."""
        parts, self._columns[name] = self._columns[name], []
        return np.concatenate(parts)


def _texts(stacks: list[bytes]) -> pa.Array:
    try:
        return _joined_texts(stacks)
    except pa.ArrowInvalid:  # names of files need not be UTF-8
        return pa.array([valid_text(one.decode("utf-8", "surrogateescape")) for one in stacks], pa.string())


def _joined_texts(stacks: list[bytes]) -> pa.Array:
    """As `pa.array` makes it, copied as a whole instead of one by one."""
    ends = np.cumsum([0, *map(len, stacks)])
    if ends[-1] > _LONGEST_COLUMN:
        return pa.array(stacks, pa.string())
    made = pa.StringArray.from_buffers(len(stacks), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(stacks)))
    made.validate(full=True)
    return made
