"""Patterns of busy and idle cores that nobody complained about: what a practised eye sees in a heat map.

    single-core-saturation   one core busy for seconds while the others have time
    all-idle-but-one         the same with next to nothing on the others: work that does not spread
    all-cores-pause          a busy node on which every core stands still for a moment
    periodic-bursts          work that comes back with a beat

From the cores' own counters, a second at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.cores.core_time import CoreTime, core_time
from necroscope.query.extent import recorded
from necroscope.query.sealed import again
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import MODES

F64s = NDArray[np.float64]
_FULL, _SOME, _NEXT_TO_NOTHING = 0.97, 0.6, 0.1
_SATURATED_S = 5
_BUSY_NODE, _STANDS_STILL = 0.3, 0.05
_LONGEST_PAUSE_S = 15
_PERIODS_S = (4, 300)
_CYCLES = 4
# They are looked for second by second: in at most so many core-seconds, the latest ones.
_MOST_CELLS = 10_000_000
KINDS = ("single-core-saturation", "all-idle-but-one", "all-cores-pause", "periodic-bursts")
_BEAT, _APART, _LEAST_SWING = 0.6, 0.2, 0.1


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, from when to when, on which core (None: all of them), and in words."""

    kind: str
    from_ns: int
    to_ns: int
    cpu: int | None
    text: str


def patterns_in(store: Store, window: Window) -> list[Pattern]:
    """Patterns of a window of a recording; of a long one, of its latest part."""

    def read() -> list[Pattern]:
        snapshot = store.snapshot()
        whole = recorded(snapshot) or (0, 0)
        low, high = max(window[0], whole[0]), min(window[1], whole[1])
        cores = max(1, len(set(core_time(snapshot, [(high - 5 * NS, high)], []).cpu.tolist())))
        low = max(low, high - _MOST_CELLS // cores * NS)
        if low >= high:
            return []
        return patterns(core_time(snapshot, [(low, high)], []).within((low, high)))

    return again(read)


def patterns(times: CoreTime) -> list[Pattern]:
    """The patterns in what cores did, by time. Expects looks of a second; a busy second counts whole. Averages of
    longer intervals have no pattern."""
    times = times.close()
    if not times.at_ns.size:
        return []
    cpus, first, busy = _matrix(times)
    found = [*_saturated(cpus, first, busy), *_pauses(first, busy), *_beats(first, busy)]
    return sorted(found, key=lambda one: (one.from_ns, one.kind, -1 if one.cpu is None else one.cpu))


def _matrix(times: CoreTime) -> tuple[list[int], int, F64s]:
    """Cores, the first second, and (cores, seconds) of busy shares; nan: not looked at."""
    cpus = np.unique(times.cpu)
    second = (times.at_ns - times.passed_ms * 500_000) // NS
    first = int(second.min())
    busy = np.full((cpus.size, int(second.max()) - first + 1), np.nan)
    total = np.maximum(1, times.spent.sum(axis=1))
    busy[np.searchsorted(cpus, times.cpu), second - first] = 1.0 - times.spent[:, MODES.index("idle")] / total
    return cpus.tolist(), first, busy


def _saturated(cpus: list[int], first: int, busy: F64s) -> Iterator[Pattern]:
    if len(cpus) < 2:
        return
    total = np.nansum(busy, axis=0)
    for row, cpu in enumerate(cpus):
        others = (total - np.nan_to_num(busy[row])) / (len(cpus) - 1)
        for low, high in _stretches((busy[row] >= _FULL) & (others <= _SOME)):
            if high - low + 1 < _SATURATED_S:
                continue
            rest = float(others[low : high + 1].mean())
            alone = rest <= _NEXT_TO_NOTHING
            kind = "all-idle-but-one" if alone else "single-core-saturation"
            text = f"core {cpu} had no idle time for {high - low + 1} s, the others were {rest:.0%} busy"
            yield Pattern(kind, (first + low) * NS, (first + high + 1) * NS - 1, cpu, text)


def _pauses(first: int, busy: F64s) -> Iterator[Pattern]:
    """Seconds in which no core did anything, between times in which the node was at work."""
    seen = ~np.isnan(busy).any(axis=0)
    still: NDArray[np.bool_] = seen & np.all(np.nan_to_num(busy, nan=1.0) <= _STANDS_STILL, axis=0)
    mean = np.nanmean(np.where(np.isnan(busy).all(axis=0), 0.0, np.nan_to_num(busy)), axis=0)
    for low, high in _stretches(still):
        before, after = mean[max(0, low - 10) : low], mean[high + 1 : high + 11]
        if high - low + 1 > _LONGEST_PAUSE_S or before.size < 5 or after.size < 5:
            continue
        if before.mean() >= _BUSY_NODE and after.mean() >= _BUSY_NODE:
            text = f"all {busy.shape[0]} cores stood still for {high - low + 1} s between work of {before.mean():.0%}"
            yield Pattern("all-cores-pause", (first + low) * NS, (first + high + 1) * NS - 1, None, text)


def _beats(first: int, busy: F64s) -> Iterator[Pattern]:
    """A beat of the whole node, by autocorrelation: the shortest period that explains most of the ups and downs."""
    mean = np.nan_to_num(busy).mean(axis=0)
    swing = float(np.quantile(mean, 0.95) - np.quantile(mean, 0.25)) if mean.size else 0.0
    longest = min(_PERIODS_S[1], mean.size // _CYCLES)
    if swing < _LEAST_SWING or longest <= _PERIODS_S[0]:
        return
    centred = mean - mean.mean()
    power = float((centred**2).sum())
    likeness = np.array([_likeness(centred, lag, power) for lag in range(longest + 2)])
    # What changes slowly is like itself a little later without any beat: only what was different in between comes back.
    apart = np.flatnonzero(likeness[1:] < _APART)
    for lag in range(max(_PERIODS_S[0], int(apart[0]) + 2 if apart.size else longest + 1), longest + 1):
        if likeness[lag] >= _BEAT and likeness[lag] >= max(likeness[lag - 1], likeness[lag + 1]):
            text = f"work comes back every {lag} s, by {swing:.0%} of all cores (likeness {likeness[lag]:.2f})"
            yield Pattern("periodic-bursts", first * NS, (first + mean.size) * NS - 1, None, text)
            return


def _likeness(centred: F64s, lag: int, power: float) -> float:
    """How alike the line and itself some seconds later are, from -1 to 1."""
    if lag == 0 or lag >= centred.size or power <= 0:
        return 0.0
    return float((centred[:-lag] * centred[lag:]).sum() / power * centred.size / (centred.size - lag))


def _stretches(on: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], on.astype(np.int8), [0]))))
    return list(zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True))
