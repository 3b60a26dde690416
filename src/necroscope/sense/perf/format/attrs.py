"""Events of a recording: `perf_event_attr`, the ids of its counters, its name, and where its samples keep their fields.

A sample starts with up to nine single words in an order the ABI fixes; other records end with up to six (`sample_id`).
Both orders depend only on `sample_type`, so a position is known once per event, not once per record.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from necroscope.errors import BadInput
from necroscope.sense.perf.event_names import is_time
from necroscope.sense.perf.format.layout import Sample

ATTR_MIN_BYTES = 64
ATTR_MAX_BYTES = 4096
SAMPLE_ID_ALL = 1 << 18
USE_CLOCKID = 1 << 25

TYPE_HARDWARE, TYPE_SOFTWARE, TYPE_TRACEPOINT = 0, 1, 2
_HARDWARE = (
    "cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
    "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
)  # fmt: skip
_SOFTWARE = (
    "cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
    "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches",
)  # fmt: skip

_FIRST = (
    Sample.IDENTIFIER, Sample.IP, Sample.TID, Sample.TIME, Sample.ADDR, Sample.ID, Sample.STREAM_ID, Sample.CPU,
    Sample.PERIOD,
)  # fmt: skip
_LAST = (Sample.TID, Sample.TIME, Sample.ID, Sample.STREAM_ID, Sample.CPU, Sample.IDENTIFIER)


@dataclass(frozen=True, slots=True)
class EventAttr:
    """One event that perf was asked to record. `name` is without modifiers: "cpu-clock", "cgroup:cgroup_mkdir"."""

    type: int
    config: int
    sample_type: int
    read_format: int
    flags: int
    branch_sample_type: int = 0
    regs_user: int = 0
    regs_intr: int = 0
    clockid: int | None = None
    ids: tuple[int, ...] = ()
    name: str = ""

    @property
    def sample_id_all(self) -> bool:
        """Whether records that are no samples end in `sample_id`."""
        return bool(self.flags & SAMPLE_ID_ALL)

    @property
    def tracepoint(self) -> bool:
        """Whether samples carry a tracepoint's fields."""
        return self.type == TYPE_TRACEPOINT

    def has(self, field: int) -> bool:
        """Whether samples have this field."""
        return bool(self.sample_type & field)

    def word_of(self, field: int) -> int | None:
        """The word of a sample, counted from the record's start, that holds one of the leading fields."""
        return _word_of(self.sample_type, field)

    def words_before_variable(self) -> int:
        """Words of a sample, header included, before the first field of varying length."""
        return 1 + sum(1 for field in _FIRST if self.sample_type & field)

    def word_from_end(self, field: int) -> int | None:
        """The word of `sample_id`, counted from the record's end (1 is the last one)."""
        if not self.sample_id_all or not self.has(field):
            return None
        return sum(1 for other in _LAST[_LAST.index(field) :] if self.has(other))

    def trailer_words(self) -> int:
        """Length of `sample_id`."""
        return sum(1 for field in _LAST if self.has(field)) if self.sample_id_all else 0


@lru_cache(maxsize=1024)
def _word_of(sample_type: int, field: int) -> int | None:
    if not sample_type & field:
        return None
    return 1 + sum(1 for other in _FIRST[: _FIRST.index(field)] if sample_type & other)


def parse_attr(data: bytes | memoryview, ids: Iterable[int] = ()) -> EventAttr:
    """A `perf_event_attr` of any length; what an older perf did not write is zero."""
    if len(data) < ATTR_MIN_BYTES:
        raise BadInput("the recording describes an event in fewer bytes than any perf ever wrote")
    fields = bytes(data[:128]).ljust(128, b"\0")
    kind, _, config, _, sample_type, read_format, flags = struct.unpack_from("<IIQQQQQ", fields)
    branch, regs_user, _, clockid, regs_intr = struct.unpack_from("<QQIiQ", fields, 72)
    clock = clockid if flags & USE_CLOCKID else None
    attr = EventAttr(kind, config, sample_type, read_format, flags, branch, regs_user, regs_intr, clock, tuple(ids))
    return replace(attr, name=default_name(attr))


def default_name(attr: EventAttr) -> str:
    """What perf calls the event when nobody gave it a name."""
    if attr.type == TYPE_HARDWARE and attr.config & 0xFF < len(_HARDWARE):
        return _HARDWARE[attr.config & 0xFF]
    if attr.type == TYPE_SOFTWARE and attr.config < len(_SOFTWARE):
        return _SOFTWARE[attr.config]
    if attr.type == TYPE_TRACEPOINT:
        return f"tracepoint:{attr.config}"
    return f"event-{attr.type}:{attr.config:#x}"


def plain_name(name: str) -> str:
    """The name without modifiers: "cpu-clock:ppp" is cpu-clock, "cgroup:cgroup_mkdir" is itself."""
    head, colon, tail = name.rpartition(":")
    return head if colon and tail and set(tail) <= set("ukhpPSGHDIWebR") else name


class Events:
    """The recording's events in the order they were declared, and whose id is whose."""

    def __init__(self) -> None:
        self.attrs: list[EventAttr] = []
        self._ids = np.zeros(0, np.uint64)
        self._owner = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.attrs)

    def add(self, attr: EventAttr) -> None:
        """Declare an event. A hostile stream declares no more than 4,096."""
        if len(self.attrs) >= 4096:
            raise BadInput("the recording declares more than 4,096 events")
        self.attrs.append(attr)
        self._index()

    def name(self, position: int, name: str) -> None:
        """Give an event its name. One that stands for time is not called by a name of its user's that hides that."""
        own = default_name(self.attrs[position])
        name = own if is_time(own) and not is_time(name) else plain_name(name)
        self.attrs[position] = replace(self.attrs[position], name=name)

    def name_by_id(self, counter: int, name: str) -> None:
        """Give the event that has this counter its name; an unknown one is nobody's."""
        found = int(self.of_ids(np.array([counter], np.uint64))[0])
        if found >= 0 and name:
            self.name(found, name)

    def of_ids(self, ids: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The event of each id, -1 for ids that nobody declared."""
        if not self._ids.size:
            return np.full(ids.size, -1, np.int32)
        at = np.minimum(np.searchsorted(self._ids, ids), self._ids.size - 1)
        return np.where(self._ids[at] == ids, self._owner[at], np.int32(-1))

    def id_word(self) -> int | None:
        """The word of a sample that holds its id, when all events agree on it."""
        words = {attr.word_of(Sample.IDENTIFIER) or attr.word_of(Sample.ID) for attr in self.attrs}
        return words.pop() if len(words) == 1 else None

    def time_word(self) -> int | None:
        """The word of a sample that holds its time, when all events agree on it."""
        words = {attr.word_of(Sample.TIME) for attr in self.attrs}
        return words.pop() if len(words) == 1 else None

    def clockid(self) -> int | None:
        """The clock that the recording uses; None is perf's own."""
        return next((attr.clockid for attr in self.attrs if attr.clockid is not None), None)

    def _index(self) -> None:
        pairs = sorted({number: owner for owner, attr in enumerate(self.attrs) for number in attr.ids}.items())
        self._ids = np.array([number for number, _ in pairs], np.uint64)
        self._owner = np.array([owner for _, owner in pairs], np.int32)
