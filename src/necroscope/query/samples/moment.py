"""A moment from the inside: how busy each core, process, thread or cgroup was in bins of a few milliseconds.

A sample stands for the time since the one before it, and is spread over that time. Counted where they fall, samples at
97 Hz and bins of 20 ms would beat against each other and draw bands that no load has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.coverage import profiled
from necroscope.query.numbering import numbered
from necroscope.query.samples.chunk import Chunk
from necroscope.query.samples.sample_time import timed
from necroscope.query.select import Select
from necroscope.query.stopping import wanted
from necroscope.sense.perf.idle import idle
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

F64s = NDArray[np.float64]
I64s = NDArray[np.int64]
By = Literal["core", "process", "thread", "cgroup"]
"""What a row stands for."""
Wanted = Callable[[str], bool]
"""Whether a stack's canonical text is wanted."""

SHORTEST_NS = 10_000_000
MOST_ROWS = 128
_LATER_NS = 25_000_000
_MOST_KEYS = 20_000


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its label, and what to select for it. -1 and empty: not told by this kind of row."""

    label: str
    cpu: int = -1
    pid: int = -1
    tid: int = -1
    cgroup: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """(rows, bins) of cores that were busy; NaN where nobody took samples. Rows are the busiest, in order.

    `match` is the part of it whose stacks were searched for. `left_out` rows had less than those that are shown.
    """

    from_ns: int
    bin_ns: int
    by: By
    rows: tuple[Row, ...]
    cores: F64s
    match: F64s | None
    samples: int
    left_out: int

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return int(self.cores.shape[1])


def bin_of(window: Window, most: int) -> int:
    """How long bins have to be, so that there are no more than so many: whole tens of milliseconds."""
    length = window[1] - window[0] + 1
    return SHORTEST_NS * max(1, -(-length // (SHORTEST_NS * max(1, most))))


def moment(
    snapshot: Snapshot,
    select: Select,
    by: By = "core",
    most_bins: int = 1000,
    cpus: Sequence[int] = (),
    keep: Wanted | None = None,
    search: Wanted | None = None,
    notes: list[str] | None = None,
) -> Moment:
    """The samples of a window, without those of idle cores. `keep` leaves out stacks; `search` marks some.

    `cpus` are cores that get a row even when nothing ran on them.
    """
    bin_ns = bin_of(select.window, most_bins)
    from_ns = select.window[0] // bin_ns * bin_ns
    bins = -(-(select.window[1] + 1 - from_ns) // bin_ns)
    counted = _Counted(from_ns, bin_ns, bins)
    found = _Counted(from_ns, bin_ns, bins)
    keys = _Keys(by)
    for cpu in cpus if by == "core" else ():
        keys.core(cpu)
    later = replace(select, window=(select.window[0], select.window[1] + _LATER_NS))
    samples = 0
    for chunk in timed(snapshot, later, notes=notes):
        wanted()
        work, match = _work(chunk, keep, search)
        if not len(work):
            continue
        row = keys.of(work)
        counted.add(row, work)
        samples += int((work.at_ns <= select.window[1]).sum())
        if match is not None:
            places = np.flatnonzero(match)
            found.add(row[places], work.taken(places))
    table = counted.table(len(keys.rows))
    order, left_out = _order(keys.rows, table, by)
    seen = _seen(profiled(snapshot, select.window), from_ns, bin_ns, bins)
    cores = np.where(seen, table[order] / bin_ns, np.nan)
    matched = None if search is None else np.where(seen, found.table(len(keys.rows))[order] / bin_ns, np.nan)
    rows = tuple(keys.rows[place] for place in order.tolist())
    return Moment(from_ns, bin_ns, by, rows, cores, matched, samples, left_out)


def _work(chunk: Chunk, keep: Wanted | None, search: Wanted | None) -> tuple[Chunk, NDArray[np.bool_] | None]:
    """The samples that are work and are kept, and which of them are searched for."""
    chosen, place = numbered(chunk.stack)
    texts = chunk.stacks.frames(chosen)
    kept = ~idle(texts) if texts else np.zeros(0, np.bool_)
    if keep is not None:
        kept &= np.array([keep(text) for text in texts], np.bool_)
    rows = np.flatnonzero(kept[place]) if texts else np.zeros(0, np.int64)
    match = None
    if search is not None and texts:
        match = np.array([search(text) for text in texts], np.bool_)[place][rows]
    return chunk.taken(rows), match


class _Keys:
    """Rows by what they stand for."""

    def __init__(self, by: By) -> None:
        self._by = by
        self._number: dict[object, int] = {}
        self.rows: list[Row] = []

    def core(self, cpu: int) -> int:
        """The row of a core."""
        return self._row(cpu, Row(f"cpu {cpu}" if cpu >= 0 else "unknown core", cpu=cpu))

    def of(self, chunk: Chunk) -> I64s:
        """The row of each sample."""
        values = {"core": chunk.cpu, "process": chunk.pid, "thread": chunk.tid, "cgroup": chunk.cgroup.codes}[self._by]
        chosen, place = numbered(values)
        first = np.empty(chosen.size, np.int64)
        first[place] = np.arange(place.size)
        found = [self._named(chunk, sample) for sample in first.tolist()]
        rows: I64s = np.array(found, np.int64)[place]
        return rows

    def _named(self, chunk: Chunk, sample: int) -> int:
        pid, tid = int(chunk.pid[sample]), int(chunk.tid[sample])
        comm, cgroup = chunk.comm.names[chunk.comm.codes[sample]], chunk.cgroup.names[chunk.cgroup.codes[sample]]
        if self._by == "core":
            return self.core(int(chunk.cpu[sample]))
        if self._by == "process":
            return self._row(pid, Row(f"{comm} {pid}" if pid >= 0 else comm or "unknown", pid=pid))
        if self._by == "thread":
            return self._row(tid, Row(f"{comm} {tid}" if tid >= 0 else comm or "unknown", pid=pid, tid=tid))
        return self._row(cgroup, Row(cgroup or "unknown cgroup", cgroup=cgroup))

    def _row(self, key: object, row: Row) -> int:
        if key not in self._number and len(self.rows) >= _MOST_KEYS:
            key, row = "", Row("others")
        number = self._number.setdefault(key, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number


class _Counted:
    """Time of samples by row and bin. Each is the time from `weight` before a sample up to it."""

    def __init__(self, from_ns: int, bin_ns: int, bins: int) -> None:
        self._from_ns, self._bin_ns, self._bins = from_ns, bin_ns, bins
        self._parts: list[tuple[I64s, F64s, F64s]] = []

    def add(self, row: I64s, chunk: Chunk) -> None:
        """Spread these samples."""
        end = (chunk.at_ns - self._from_ns) / self._bin_ns
        begin = end - chunk.weight / self._bin_ns
        self._parts.append((row, begin, end))

    def table(self, rows: int) -> F64s:
        """(rows, bins) of nanoseconds. The time covered up to an edge is a sum of ramps: differences are the bins."""
        width = self._bins + 1
        covered = np.zeros((rows, width))
        for row, begin, end in self._parts:
            for edge, sign in ((begin, 1.0), (end, -1.0)):
                at = np.clip(edge, 0.0, float(self._bins))
                bin_after = np.minimum(np.ceil(at).astype(np.int64), self._bins)
                key = row * width + bin_after
                number = np.bincount(key, minlength=rows * width).reshape(rows, width)
                total = np.bincount(key, at, rows * width).reshape(rows, width)
                covered += sign * (np.cumsum(number, axis=1) * np.arange(width) - np.cumsum(total, axis=1))
        found: F64s = np.maximum(np.diff(covered, axis=1), 0.0) * self._bin_ns
        return found


def _order(rows: Sequence[Row], table: F64s, by: By) -> tuple[I64s, int]:
    """Cores by number, everything else by how busy it was; and how many rows are left out."""
    if by == "core":
        order = np.array(sorted(range(len(rows)), key=lambda place: rows[place].cpu), np.int64)
        return order, 0
    order = np.argsort(-table.sum(axis=1), kind="stable").astype(np.int64)
    return order[:MOST_ROWS], max(0, len(rows) - MOST_ROWS)


def _seen(sampled: Sequence[Window], from_ns: int, bin_ns: int, bins: int) -> NDArray[np.bool_]:
    """Bins in which somebody took samples."""
    seen = np.zeros(bins, np.bool_)
    for low, high in sampled:
        first, last = (low - NS // 50 - from_ns) // bin_ns, (high - from_ns) // bin_ns
        seen[max(0, first) : max(0, last + 1)] = True
    return seen
