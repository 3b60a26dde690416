"""What the cores did, by their own counters: the denominator of every percentage, and the core heat map's rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.query.cores.coarse_looks import Looked, left_over
from necroscope.query.numbering import numbered
from necroscope.query.remembered import remembered
from necroscope.query.sealed import damage, opened
from necroscope.store.format.core_times import COARSE_NS
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import MODES

I64s = NDArray[np.int64]
I32s = NDArray[np.int32]
_COLUMNS = ["at_ns", "cpu", "passed_ms", *(f"{mode}_ms" for mode in MODES)]
_MS_NS = 1_000_000
# The look after the window covers its last second. A look that covers a longer time is in a segment that says so.
_LATER_NS = COARSE_NS


@dataclass(frozen=True, slots=True)
class Spent:
    """Core-seconds, how many of these were not idle, and for how many seconds there were counters at all.

    `interval_s`: the longest interval of which only an average is known; 0 where somebody looked every second.
    """

    core_s: float
    busy_s: float
    covered_s: float
    interval_s: float = 0.0


_ByCore = tuple[dict[int, float], float, float]
"""Seconds of each core, how many core-seconds of them were not idle, and the longest interval."""


@dataclass(frozen=True, slots=True)
class CoreTime:
    """One row for each core and look: `spent` is (rows, modes) of milliseconds in the `passed_ms` before `at_ns`.

    Sorted by time. `interval_ms` is longer than `passed_ms` where a row is a part of a coarse look, the rest of which
    others cover more closely.
    """

    at_ns: I64s
    cpu: NDArray[np.int32]
    passed_ms: I64s
    spent: I64s
    interval_ms: I64s | None = None

    @property
    def begin_ns(self) -> I64s:
        """When the time that a row covers began."""
        began: I64s = self.at_ns - self.passed_ms * _MS_NS
        return began

    @property
    def whole_ms(self) -> I64s:
        """How long the intervals are that rows are shares of."""
        return self.passed_ms if self.interval_ms is None else self.interval_ms

    @property
    def coarse(self) -> NDArray[np.bool_]:
        """Which rows cover an interval as a whole, and not its seconds."""
        found: NDArray[np.bool_] = self.whole_ms * _MS_NS > COARSE_NS
        return found

    def close(self, longest_ns: int = 0) -> CoreTime:
        """The rows of those who looked closely: every second, give or take, or at least every `longest_ns`."""
        return self._rows(~self.coarse | (self.whole_ms * _MS_NS <= longest_ns))

    def share_in(self, window: Window) -> NDArray[np.float64]:
        """How much of each row's time lies in a window, from 0 to 1."""
        low, high = np.maximum(self.begin_ns, window[0]), np.minimum(self.at_ns, window[1] + 1)
        return np.clip((high - low) / np.maximum(1, self.passed_ms * _MS_NS), 0.0, 1.0)

    def of(self, cpus: frozenset[int]) -> CoreTime:
        """Only some cores; all when none is named."""
        return self._rows(np.isin(self.cpu, list(cpus))) if cpus else self

    def within(self, window: Window) -> CoreTime:
        """The rows that cover a window."""
        longest_ns = max(_LATER_NS, int(self.passed_ms.max(initial=0)) * _MS_NS)
        low, high = np.searchsorted(self.at_ns, (window[0], window[1] + longest_ns))
        near = self._rows(slice(low, high))
        return near._rows(near.begin_ns <= window[1])

    def spent_in(self, window: Window) -> Spent:
        """Time of the cores in a window. Time that no row covers is left out."""
        return _summed([self._by_core(window)])

    def _by_core(self, window: Window) -> _ByCore:
        near = self.within(window)
        seconds = near.passed_ms * near.share_in(window) / 1000
        accounted = near.spent.sum(axis=1)
        busy = np.where(accounted > 0, 1.0 - near.spent[:, -1] / np.maximum(1, accounted), 0.0)
        cpus, place = numbered(near.cpu)
        of_core = np.bincount(place, seconds, cpus.size)
        interval_s = float(near.whole_ms[near.coarse].max(initial=0)) / 1000
        return dict(zip(cpus.tolist(), of_core.tolist(), strict=True)), float((seconds * busy).sum()), interval_s

    def _left_over(self, looked: Looked) -> CoreTime:
        """What nobody looked at more closely: parts of rows, with their share of what the core did."""
        row, low, high = left_over(self.at_ns, self.cpu, self.passed_ms, looked)
        passed_ms = (high - low) // _MS_NS
        part = passed_ms / np.maximum(1, self.passed_ms[row])
        spent = np.round(self.spent[row] * part[:, None]).astype(np.int64)
        return _in_order([CoreTime(high, self.cpu[row], passed_ms, spent, self.whole_ms[row])])

    def _rows(self, rows: NDArray[np.bool_] | slice | NDArray[np.intp]) -> CoreTime:
        whole = None if self.interval_ms is None else self.interval_ms[rows]
        return CoreTime(self.at_ns[rows], self.cpu[rows], self.passed_ms[rows], self.spent[rows], whole)


def core_time(snapshot: Snapshot, windows: Sequence[Window], notes: list[str] | None = None) -> CoreTime:
    """The rows that cover windows. `notes` gets damaged files; without it they are `BadInput`."""
    times = _together([part for part in _parts(snapshot, windows, notes) if part[0].size])
    if not times.coarse.any():
        return times
    close, looked = times.close(), Looked()
    looked.add_looks(close.begin_ns, close.at_ns, close.cpu)
    return _in_order([close, times._rows(times.coarse)._left_over(looked)])


def spent(
    snapshot: Snapshot, windows: Sequence[Window], cpus: frozenset[int] = frozenset(), notes: list[str] | None = None
) -> tuple[list[Spent], int]:
    """Time of the cores in windows, as `spent_in` tells it, and how many cores there are. One file at a time."""
    found: list[list[_ByCore]] = [[] for _ in windows]
    cores: set[int] = set()
    coarse: list[CoreTime] = []

    def count(times: CoreTime) -> None:
        cores.update(numbered(times.cpu)[0].tolist())
        for place, window in enumerate(windows):
            by_core = times._by_core(window)
            if by_core[0]:
                found[place].append(by_core)

    for part in _parts(snapshot, windows, notes):
        times = _together([part]).of(cpus)
        if times.coarse.any():
            coarse.append(times._rows(times.coarse))
            times = times.close()
        count(times)
    if coarse:
        looked = Looked()
        for part in _parts(snapshot, windows, None if notes is None else []):
            times = _together([part]).of(cpus).close()
            looked.add_looks(times.begin_ns, times.at_ns, times.cpu)
        count(_in_order(coarse)._left_over(looked))
    return [_summed(parts) for parts in found], len(cores)


def _in_order(parts: Sequence[CoreTime]) -> CoreTime:
    columns = ((part.at_ns, part.cpu, part.passed_ms, part.spent, part.whole_ms) for part in parts)
    joined = CoreTime(*(np.concatenate(column) for column in zip(*columns, strict=True)))
    return joined._rows(np.argsort(joined.at_ns, kind="stable"))


def _summed(parts: Sequence[_ByCore]) -> Spent:
    of_core: dict[int, float] = {}
    for seconds, _, _ in parts:
        for cpu, one in seconds.items():
            of_core[cpu] = of_core.get(cpu, 0.0) + one
    interval_s = max((longest for _, _, longest in parts), default=0.0)
    return Spent(
        sum(of_core.values()), sum(busy for _, busy, _ in parts), max(of_core.values(), default=0.0), interval_s
    )


def _together(parts: Sequence[tuple[I64s, I64s]]) -> CoreTime:
    at_ns = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, np.int64)
    numbers = np.concatenate([part[1] for part in parts]) if parts else np.zeros((0, 2 + len(MODES)), np.int64)
    order = np.argsort(at_ns, kind="stable")
    at_ns, numbers = at_ns[order], numbers[order]
    return CoreTime(at_ns, numbers[:, 0].astype(np.int32), numbers[:, 1], numbers[:, 2:])


def _parts(snapshot: Snapshot, windows: Sequence[Window], notes: list[str] | None) -> Iterator[tuple[I64s, I64s]]:
    wider = [(low, high + _LATER_NS) for low, high in windows]
    for segment in snapshot.segments:
        if any(segment.overlaps(window) for window in wider):
            with damage(segment.file("cores"), notes):
                yield _near(*remembered(("cores", segment.path), partial(_of_segment, segment), _bytes), wider)
    live = snapshot.live.get("cores")
    if live is not None and live.num_rows:
        yield _near(*_columns(live), wider)


def _of_segment(segment: Segment) -> tuple[I64s, I32s]:
    """Times, and all other columns; nothing of a segment that has none."""
    file = opened(segment, "cores")
    if file is None:
        return np.zeros(0, np.int64), np.zeros((0, len(_COLUMNS) - 1), np.int32)
    with file:
        return _columns(file.read(columns=_COLUMNS, use_threads=False))


def _bytes(read: tuple[I64s, I32s]) -> int:
    return sum(column.nbytes for column in read)


def _near(at_ns: I64s, numbers: I32s, windows: Sequence[Window]) -> tuple[I64s, I64s]:
    rows = np.zeros(at_ns.size, np.bool_)
    for low, high in windows:
        rows |= (at_ns >= low) & (at_ns - numbers[:, 1].astype(np.int64) * _MS_NS <= high - _LATER_NS)
    return at_ns[rows], numbers[rows].astype(np.int64)


def _columns(table: pa.Table) -> tuple[I64s, I32s]:
    numbers = [np.nan_to_num(table[name].to_numpy()).astype(np.int32) for name in _COLUMNS[1:]]
    return table["at_ns"].to_numpy(), np.stack(numbers, axis=1)
