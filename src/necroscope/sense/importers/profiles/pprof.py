"""pprof's `profile.proto`, usually gzipped: what Go, Pyroscope, Parca and `necroscope export` write.

    for row in Pprof(path, placing).rows(): ...

A profile has stacks and sums, no samples with times: it becomes a window as folded stacks do, at the time and of the
length that it tells. Of several values the samples are taken, else its default, else the last. Labels of the usual
names tell thread, process, core and cgroup; others are lost, as are addresses and lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from necroscope.errors import BadInput
from necroscope.sense.importers.frame_names import frame_name
from necroscope.sense.importers.perf_script.lines import named_module
from necroscope.sense.importers.profiles.folded import EVENT, WINDOW_NS
from necroscope.sense.importers.profiles.protobuf_wire import Malformed, Value, fields, numbers, signed
from necroscope.sense.importers.source import CUT_SHORT, NO_PLACING, Placing, Source
from necroscope.sense.perf.decode.interning import Names, recoded
from necroscope.sense.perf.samples import UNKNOWN, SampleBatch, Stack, canonical_frame

_BYTES = 256 << 20
_BATCH = 1 << 14
_DEEPEST = 1024
_STACKS = 1 << 17
_MOST = 1 << 53
_INT32 = (1 << 31) - 1
_LONGEST_NS = 366 * 86_400 * 1_000_000_000
_TYPES, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_TIME, _DURATION, _DEFAULT = 9, 10, 14
_MESSAGES = frozenset((_TYPES, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING, 11))
_FIELDS = 15
_LEAST_FIELDS = 4
_KEYS = {"pid": "pid", "process_id": "pid", "tid": "tid", "thread_id": "tid", "cpu": "cpu", "thread": "comm"}
_KEYS |= {"thread_name": "comm", "comm": "comm", "cgroup": "cgroup"}
LOST = "pprof tells no time within it, no core: within the window only shares mean something"


def is_pprof(head: bytes) -> bool:
    """Whether a file begins with the fields of a profile."""
    found = 0
    # Text begins otherwise, or has none of the small numbers that every message is full of.
    if head[:1] not in (b"\x0a", b"\x12") or min(head) > 8:
        return False
    try:
        for number, value in fields(head, 0, len(head)):
            if not 1 <= number <= _FIELDS or isinstance(value, tuple) != (number in _MESSAGES or number == 13):
                return False
            found += 1
    except Malformed as error:
        # A head may end within a field, but that field begins as one does.
        return found >= _LEAST_FIELDS and head[error.at] >> 3 in range(1, _FIELDS + 1)
    return found >= _LEAST_FIELDS


@dataclass(slots=True)
class _Profile:
    """Where everything is in the bytes."""

    types: list[tuple[int, int]] = field(default_factory=list)
    samples: list[tuple[int, int]] = field(default_factory=list)
    mappings: dict[int, int] = field(default_factory=dict)
    locations: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    functions: dict[int, int] = field(default_factory=dict)
    strings: list[tuple[int, int]] = field(default_factory=list)
    time_ns: int = 0
    duration_ns: int = 0
    default: int = 0


@dataclass(slots=True)
class _Rows:
    """Samples that wait to become a batch."""

    weight: list[int] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)
    numbers: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in ("pid", "tid", "cpu")})
    texts: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in ("comm", "cgroup")})


class Pprof:
    """One file, held whole: 256 MiB unpacked at most."""

    def __init__(self, path: Path, placing: Placing = NO_PLACING) -> None:
        self._path = path
        self._at_ns = placing.at_ns
        self._data = b""
        self._profile = _Profile()
        self._notes: list[str] = []
        self._names = {"comm": Names(""), "cgroup": Names("")}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._fresh: list[Stack] = []
        self._total = self.samples = self.odd = 0
        self._labels = 0
        self.progress = 0.0

    def notes(self) -> tuple[str, ...]:
        """What is lost, in sentences."""
        odd = (self.odd, f"{self.odd:,} samples could not be used: they have no stack, or a value below zero")
        labels = (self._labels, f"{self._labels:,} labels of samples are not kept")
        return (LOST, *self._notes, *(sentence for count, sentence in (odd, labels) if count))

    def rows(self) -> Iterator[SampleBatch]:
        """The samples, in UTC. `BadInput` for a file that holds none."""
        with Source(self._path) as source:
            self._data = self._whole(source)
            if source.cut:
                self._notes.append(CUT_SHORT)
            self._index()
            start_ns = next(one for one in (self._at_ns, self._profile.time_ns, source.modified_ns) if one)
        column = self._column()
        length_ns = self._profile.duration_ns
        window_ns = length_ns if 0 < length_ns < _LONGEST_NS else WINDOW_NS
        rows = _Rows()
        for number, place in enumerate(self._profile.samples):
            self._sample(place, column, rows)
            if len(rows.stack) >= _BATCH:
                self.progress = number / len(self._profile.samples)
                yield self._batch(rows, start_ns, window_ns)
                rows = _Rows()
        if rows.stack:
            yield self._batch(rows, start_ns, window_ns)
        if not self.samples:
            raise BadInput(f"{self._path} is a profile without samples", "nothing of it can be shown")

    def _whole(self, source: Source) -> bytes:
        parts: list[bytes] = []
        size = 0
        while block := source.read():
            parts.append(block)
            size += len(block)
            if size > _BYTES:
                raise BadInput(f"{self._path} unpacks to more than {_BYTES >> 20} MiB", "export a shorter profile")
        return b"".join(parts)

    # -- what there is -------------------------------------------------------------------------------------------

    def _index(self) -> None:
        found = self._profile
        try:
            for number, value in fields(self._data, 0, len(self._data)):
                self._field(found, number, value)
        except Malformed:
            if CUT_SHORT not in self._notes:
                self._notes.append(CUT_SHORT)

    def _field(self, found: _Profile, number: int, value: Value) -> None:
        if isinstance(value, int):
            if number == _TIME:
                found.time_ns = max(0, signed(value))
            elif number == _DURATION:
                found.duration_ns = signed(value)
            elif number == _DEFAULT:
                found.default = value
        elif number == _SAMPLE:
            found.samples.append(value)
        elif number == _STRING:
            found.strings.append(value)
        elif number == _TYPES:
            values = self._integers(value)
            found.types.append((values.get(1, 0), values.get(2, 0)))
        elif number == _MAPPING:
            values = self._integers(value)
            found.mappings[values.get(1, 0)] = values.get(5, 0)
        elif number == _FUNCTION:
            values = self._integers(value)
            found.functions[values.get(1, 0)] = values.get(2, 0) or values.get(3, 0)
        elif number == _LOCATION:
            self._location(found, value)

    def _integers(self, place: tuple[int, int]) -> dict[int, int]:
        """The numbers of a message; of one that is damaged, those before it."""
        values: dict[int, int] = {}
        try:
            for number, value in fields(self._data, *place):
                if isinstance(value, int):
                    values[number] = value
        except Malformed:
            pass
        return values

    def _location(self, found: _Profile, place: tuple[int, int]) -> None:
        lines: list[int] = []
        identity = mapping = 0
        try:
            for number, value in fields(self._data, *place):
                if number == 4 and isinstance(value, tuple):
                    lines.append(self._integers(value).get(1, 0))
                elif isinstance(value, int):
                    identity, mapping = (value if number == 1 else identity), (value if number == 2 else mapping)
        except Malformed:
            pass
        found.locations[identity] = mapping, lines

    def _text(self, number: int) -> str:
        strings = self._profile.strings
        if not 0 <= number < len(strings):
            return ""
        start, end = strings[number]
        return frame_name(self._data[start : min(end, start + (64 << 10))])

    def _column(self) -> int:
        """Which of a sample's values counts; the others are noted as lost."""
        kinds = [self._text(kind) for kind, _ in self._profile.types]
        default = self._text(self._profile.default)
        chosen = next((kinds.index(one) for one in ("samples", default) if one in kinds), max(0, len(kinds) - 1))
        if left := [kind for place, kind in enumerate(kinds) if place != chosen]:
            self._notes.append(f"of its values {kinds[chosen]} is kept, not {', '.join(left[:8])}")
        return chosen

    # -- samples -------------------------------------------------------------------------------------------------

    def _sample(self, place: tuple[int, int], column: int, rows: _Rows) -> None:
        locations: list[int] = []
        values: list[int] = []
        labels: list[dict[int, int]] = []
        try:
            for number, value in fields(self._data, *place):
                if number == 1:
                    locations += numbers(self._data, value)
                elif number == 2:
                    values += map(signed, numbers(self._data, value))
                elif number == 3 and isinstance(value, tuple):
                    labels.append(self._integers(value))
        except Malformed:
            values = []
        weight = values[column] if column < len(values) else -1
        if weight == 0:
            return
        if weight < 0 or not locations or self._total + weight > _MOST:
            self.odd += 1
            return
        self._total += weight
        rows.weight.append(weight)
        rows.stack.append(self._stack(tuple(locations[:_DEEPEST])))
        self._keep_labels(labels, rows)

    def _keep_labels(self, labels: list[dict[int, int]], rows: _Rows) -> None:
        known: dict[str, int] = {}
        for label in labels:
            kind = _KEYS.get(self._text(label.get(1, 0)), "")
            if kind in rows.numbers:
                known[kind] = min(max(signed(label.get(3, 0)), -1), _INT32)
            elif kind:
                known[kind] = self._names[kind].number(self._text(label.get(2, 0)))
            else:
                self._labels += 1
        for kind, column in rows.numbers.items():
            column.append(known.get(kind, -1))
        for kind, column in rows.texts.items():
            column.append(known.get(kind, 0))

    def _stack(self, locations: tuple[int, ...]) -> int:
        """The id of a stack; locations are innermost first, and so are the lines that were inlined into one."""
        number = self._stacks.get(locations)
        if number is None:
            frames = [frame for one in reversed(locations) for frame in self._frames(one)]
            stack = Stack.spelled(b"".join(canonical_frame(*frame) for frame in frames))
            if len(self._stacks) > _STACKS:
                self._stacks.clear()
            number = self._stacks[locations] = stack.stack_id
            self._fresh.append(stack)
        return number

    def _frames(self, location: int) -> list[tuple[str, str]]:
        mapping, lines = self._profile.locations.get(location, (0, []))
        file = self._text(self._profile.mappings.get(mapping, 0))
        module = named_module(file) if file else UNKNOWN
        names = [self._text(self._profile.functions.get(function, 0)) for function in reversed(lines)] or [""]
        return [(UNKNOWN if name in ("", f"[{module}]", module) else name, module) for name in names]

    def _batch(self, rows: _Rows, start_ns: int, window_ns: int) -> SampleBatch:
        count = len(rows.stack)
        place = (np.arange(self.samples, self.samples + count, dtype=np.int64) * 1_000_003) % window_ns
        self.samples += count
        pid, tid, cpu = (np.array(rows.numbers[name], np.int32) for name in ("pid", "tid", "cpu"))
        comm, comms = recoded(np.array(rows.texts["comm"], np.int32), self._names["comm"].texts)
        cgroup, cgroups = recoded(np.array(rows.texts["cgroup"], np.int32), self._names["cgroup"].texts)
        fresh, self._fresh = tuple(self._fresh), []
        return SampleBatch(
            at_ns=start_ns + np.sort(place),
            cpu=cpu,
            pid=pid,
            tid=tid,
            comm=comm,
            comms=comms,
            cgroup=cgroup,
            cgroups=cgroups,
            event=np.zeros(count, np.int32),
            events=(EVENT,),
            weight=np.array(rows.weight, np.int64),
            stack_id=np.array(rows.stack, np.uint64),
            stacks=fresh,
        )
