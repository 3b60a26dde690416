"""What the cores did, by their own counters: the denominator of every percentage, and the core heat map's rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.numbering import numbered
from necroscope.query.sealed import damage, opened
from necroscope.store.catalog import Window
from necroscope.store.core_times import MODES
from necroscope.store.reader import Snapshot

I64s = NDArray[np.int64]
_COLUMNS = ["at_ns", "cpu", "passed_ms", *(f"{mode}_ms" for mode in MODES)]
_MS_NS = 1_000_000
# The look after the window tells about its last second.
_LATER_NS = 6 * NS


@dataclass(frozen=True, slots=True)
class Spent:
    """Core-seconds, how many of these were not idle, and for how many seconds there were counters at all."""

    core_s: float
    busy_s: float
    covered_s: float


_ByCore = tuple[dict[int, float], float]
"""Seconds of each core, and how many core-seconds of them were not idle."""


@dataclass(frozen=True, slots=True)
class CoreTime:
    """One row for each core and look: `spent` is (rows, modes) of milliseconds in the `passed_ms` before `at_ns`.

    Sorted by time.
    """

    at_ns: I64s
    cpu: NDArray[np.int32]
    passed_ms: I64s
    spent: I64s

    @property
    def begin_ns(self) -> I64s:
        """When the time that a row tells about began."""
        began: I64s = self.at_ns - self.passed_ms * _MS_NS
        return began

    def share_in(self, window: Window) -> NDArray[np.float64]:
        """How much of each row's time lies in a window, from 0 to 1."""
        low, high = np.maximum(self.begin_ns, window[0]), np.minimum(self.at_ns, window[1] + 1)
        return np.clip((high - low) / np.maximum(1, self.passed_ms * _MS_NS), 0.0, 1.0)

    def of(self, cpus: frozenset[int]) -> CoreTime:
        """Only some cores; all when none is named."""
        return self._rows(np.isin(self.cpu, list(cpus))) if cpus else self

    def within(self, window: Window) -> CoreTime:
        """The rows that tell about a window."""
        low, high = np.searchsorted(self.at_ns, (window[0], window[1] + _LATER_NS))
        near = self._rows(slice(low, high))
        return near._rows(near.begin_ns <= window[1])

    def spent_in(self, window: Window) -> Spent:
        """Time of the cores in a window. Time that no row tells about is left out."""
        return _summed([self._by_core(window)])

    def _by_core(self, window: Window) -> _ByCore:
        near = self.within(window)
        seconds = near.passed_ms * near.share_in(window) / 1000
        accounted = near.spent.sum(axis=1)
        busy = np.where(accounted > 0, 1.0 - near.spent[:, -1] / np.maximum(1, accounted), 0.0)
        cpus, place = numbered(near.cpu)
        of_core = np.bincount(place, seconds, cpus.size)
        return dict(zip(cpus.tolist(), of_core.tolist(), strict=True)), float((seconds * busy).sum())

    def _rows(self, rows: NDArray[np.bool_] | slice) -> CoreTime:
        return CoreTime(self.at_ns[rows], self.cpu[rows], self.passed_ms[rows], self.spent[rows])


def core_time(snapshot: Snapshot, windows: Sequence[Window], notes: list[str] | None = None) -> CoreTime:
    """The rows that tell about windows. Of a damaged file `notes` tell; without notes it is `BadInput`."""
    return _together([part for part in _parts(snapshot, windows, notes) if part[0].size])


def spent(
    snapshot: Snapshot, windows: Sequence[Window], cpus: frozenset[int] = frozenset(), notes: list[str] | None = None
) -> tuple[list[Spent], int]:
    """Time of the cores in windows, as `spent_in` tells it, and how many cores there are. One file at a time."""
    found: list[list[_ByCore]] = [[] for _ in windows]
    cores: set[int] = set()
    for part in _parts(snapshot, windows, notes):
        times = _together([part]).of(cpus)
        cores.update(numbered(times.cpu)[0].tolist())
        for place, window in enumerate(windows):
            by_core = times._by_core(window)
            if by_core[0]:
                found[place].append(by_core)
    return [_summed(parts) for parts in found], len(cores)


def _summed(parts: Sequence[_ByCore]) -> Spent:
    of_core: dict[int, float] = {}
    for seconds, _ in parts:
        for cpu, one in seconds.items():
            of_core[cpu] = of_core.get(cpu, 0.0) + one
    return Spent(sum(of_core.values()), sum(busy for _, busy in parts), max(of_core.values(), default=0.0))


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
                file = opened(segment, "cores")
                if file is not None:
                    with file:
                        yield _near(*_columns(file.read(columns=_COLUMNS, use_threads=False)), wider)
    live = snapshot.live.get("cores")
    if live is not None and live.num_rows:
        yield _near(*_columns(live), wider)


def _near(at_ns: I64s, numbers: I64s, windows: Sequence[Window]) -> tuple[I64s, I64s]:
    rows = np.zeros(at_ns.size, np.bool_)
    for low, high in windows:
        rows |= (at_ns >= low) & (at_ns - numbers[:, 1] * _MS_NS <= high - _LATER_NS)
    return at_ns[rows], numbers[rows]


def _columns(table: pa.Table) -> tuple[I64s, I64s]:
    numbers = [np.nan_to_num(table[name].to_numpy()).astype(np.int64) for name in _COLUMNS[1:]]
    return table["at_ns"].to_numpy(), np.stack(numbers, axis=1)
