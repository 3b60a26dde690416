"""What samples of cycles stand for, in nanoseconds of a core.

A clock's weights are time. Cycles are not: a core counts 800 million a second or 5 billion, and none while it is idle.
So of each core and second, the busy time by the core's own counters is shared among its samples by their cycles.

    ns per cycle = busy time of the core in that second / cycles of its samples in it

Where that would make few samples stand for much (samples were lost, or nothing was sampled with interrupts off), and
where counters are missing for a while, the core's usual ratio counts. Without any counters, as in imported files,
samples show it by themselves: of a core that works without a break, the time from one sample to the next is what the
period of the second one took.

Sums of hours do not say which core they are of: these are spread over the busy time of all cores together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.cores.core_time import CoreTime, core_time
from necroscope.query.numbering import numbered
from necroscope.query.samples.chunk import Chunk
from necroscope.query.samples.chunks import OnProgress, chunks
from necroscope.query.samples.rolled import Detail
from necroscope.query.select import Select
from necroscope.sense.perf.event_names import is_clock, is_time
from necroscope.sense.perf.idle import idle
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import MODES

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]
_MOST_SLOTS = 900
# A slot's own ratio counts with so much busy time and so many of the usual samples in it.
_TELLING_NS, _ENOUGH_SAMPLES = NS // 20, 0.5
_COVERED = 0.5
# Gaps between samples that show how long a period took; the shortest quarter of a core's are those without a pause.
_GAPS_NS = (NS // 10_000, 2 * NS)
_WITHOUT_PAUSE, _LEAST_GAPS, _MOST_GAPS = 0.25, 8, 20_000
# How far apart the speeds of two cores of one machine are, at the most.
_SPEEDS = 6.0
# No core at work counts fewer cycles than this; periods that are smaller were not printed, or are no cycles.
_SLOWEST_NS, _LEAST_PERIOD = 1 / 0.4, 10_000
_UNKNOWN_NS = NS / 97
_STEAL, _IDLE = MODES.index("steal"), MODES.index("idle")


def timed(
    snapshot: Snapshot,
    select: Select,
    on_progress: OnProgress | None = None,
    others: Sequence[Window] = (),
    notes: list[str] | None = None,
    detail: Detail = "samples",
) -> Iterator[Chunk]:
    """`chunks`, with nanoseconds for weights wherever an event stands for time. Windows may not overlap."""
    scale: _Scale | None = None
    for chunk in chunks(snapshot, select, on_progress, others, notes, detail):
        if scale is None and _cycles(chunk).any():
            scale = _scale(snapshot, select, (select.window, *others), detail)
        yield chunk if scale is None else scale.in_time(chunk)


@dataclass(frozen=True, slots=True)
class _Slots:
    """Stretches of time, in order, that do not overlap: the windows, in pieces of a second or more."""

    begins: I64s
    ends: I64s
    whole: bool
    """Whether these are the windows themselves, of which not all may be recorded."""

    @classmethod
    def of(cls, windows: Sequence[Window], whole: bool) -> _Slots:
        total = sum(high - low + 1 for low, high in windows)
        length = total if whole else max(NS, total // _MOST_SLOTS)
        begins = [np.arange(low, high + 1, length) for low, high in sorted(windows)]
        ends = [np.minimum(begin + length - 1, high) for begin, (_, high) in zip(begins, sorted(windows), strict=True)]
        return cls(np.concatenate(begins), np.concatenate(ends), whole)

    def of_times(self, at_ns: I64s) -> I64s:
        """The slot of each time, which lies in a window."""
        found: I64s = np.clip(np.searchsorted(self.begins, at_ns, side="right") - 1, 0, self.begins.size - 1)
        return found


@dataclass(frozen=True, slots=True)
class _Scale:
    """(cores, slots) of nanoseconds that a unit of weight stands for. The last row is of samples of no known core."""

    slots: _Slots
    cpus: I64s
    ns: F64s

    def in_time(self, chunk: Chunk) -> Chunk:
        """With nanoseconds for cycles."""
        rows = _cycles(chunk)
        if not rows.any():
            return chunk
        core, slot = _cores(self.cpus, chunk.cpu), self.slots.of_times(chunk.at_ns)
        weight = np.where(rows, np.rint(chunk.weight * self.ns[core, slot]), chunk.weight)
        return replace(chunk, weight=weight.astype(np.int64))


def _scale(snapshot: Snapshot, select: Select, windows: Sequence[Window], detail: Detail) -> _Scale:
    """Whoever is asked about, the time of a core belongs to all of its samples."""
    anybody = Select(select.window, cpus=select.cpus, events=select.events)
    slots = _Slots.of(windows, whole=detail != "samples")
    times = core_time(snapshot, windows, []).of(select.cpus)
    if not slots.whole:
        times = times.close()  # an average of minutes is no busy time of a second
    cpus = numbered(times.cpu)[0]
    counted = _Counted(cpus if detail == "samples" else cpus[:0], slots)
    for chunk in chunks(snapshot, anybody, others=windows[1:], notes=[], detail=detail):
        cycles = chunk.taken(np.flatnonzero(_cycles(chunk)))
        counted.add(cycles if detail == "samples" else replace(cycles, cpu=np.full(len(cycles), -1, np.int32)))
    busy = _busy(times, np.union1d(cpus, counted.cpus), slots)
    return _Scale(slots, counted.cpus, _ratios(counted, busy if detail == "samples" else busy[-1:]))


class _Counted:
    """Samples and cycles of work by core and slot, and gaps between samples by core."""

    def __init__(self, cpus: I64s, slots: _Slots) -> None:
        self.cpus, self.slots = cpus, slots
        self.cycles = np.zeros((cpus.size + 1, slots.begins.size))
        self.samples = np.zeros_like(self.cycles)
        self.gaps: dict[int, list[F64s]] = {}
        """Nanoseconds per cycle from one sample to the next, by core; of no known core, by thread (below 0)."""

    def add(self, chunk: Chunk) -> None:
        self._know(numbered(chunk.cpu[chunk.cpu >= 0])[0])
        self._add_gaps(chunk)
        numbers, place = numbered(chunk.stack)
        work = chunk.taken(np.flatnonzero(~idle(chunk.stacks.frames(numbers))[place])) if len(chunk) else chunk
        size = self.slots.begins.size
        key = _cores(self.cpus, work.cpu) * size + self.slots.of_times(work.at_ns)
        self.cycles += np.bincount(key, work.weight, self.cycles.size).reshape(self.cycles.shape)
        self.samples += np.bincount(key, _of_each(work), self.cycles.size).reshape(self.cycles.shape)

    @property
    def mean_period(self) -> float:
        """Cycles that a sample stands for."""
        return float(self.cycles.sum() / max(1.0, self.samples.sum()))

    def _know(self, cpus: I64s) -> None:
        """Cores of which there are samples and no counters."""
        known = np.union1d(self.cpus, cpus).astype(np.int64)
        if known.size == self.cpus.size:
            return
        rows = np.append(np.searchsorted(known, self.cpus), known.size)
        grown = [np.zeros((known.size + 1, self.slots.begins.size)) for _ in range(2)]
        grown[0][rows], grown[1][rows] = self.cycles, self.samples
        self.cycles, self.samples, self.cpus = grown[0], grown[1], known

    def _add_gaps(self, chunk: Chunk) -> None:
        whose = np.where(chunk.cpu >= 0, chunk.cpu.astype(np.int64), -2 - chunk.tid.astype(np.int64))
        order = np.lexsort((chunk.at_ns, whose))
        whose, gap = whose[order], np.diff(chunk.at_ns[order])
        usable = (np.diff(whose) == 0) & (gap >= _GAPS_NS[0]) & (gap <= _GAPS_NS[1]) & (chunk.weight[order][1:] > 0)
        ratio = gap[usable] / chunk.weight[order][1:][usable]
        whose = whose[1:][usable]
        for one in numbered(whose)[0].tolist():
            held = self.gaps.setdefault(int(one), [])
            if sum(part.size for part in held) < _MOST_GAPS:
                held.append(ratio[whose == one])


def _ratios(counted: _Counted, busy: F64s) -> F64s:
    """Nanoseconds per cycle of each core and slot; of no known core, those of all cores together."""
    cycles, samples = counted.cycles, counted.samples
    known = ~np.isnan(busy) & (cycles > 0) & (busy > 0)
    own = np.divide(busy, cycles, out=np.zeros_like(busy), where=known)
    pace = np.divide(samples, busy, out=np.zeros_like(busy), where=known)
    by_gaps = _by_gaps(counted)
    found = np.empty_like(busy)
    for core in range(busy.shape[0]):
        telling = known[core] & (busy[core] >= _TELLING_NS)
        usual = _middle(own[core][telling], busy[core][telling])
        enough = telling & (pace[core] >= _ENOUGH_SAMPLES * (_middle(pace[core][telling], busy[core][telling]) or 0.0))
        usual = usual or _middle(own[known], busy[known]) or by_gaps[core]
        found[core] = np.where(enough, own[core], usual)
    return found


def _busy(times: CoreTime, cpus: I64s, slots: _Slots) -> F64s:
    """Nanoseconds that each core worked in each slot, by its counters; nan where these are missing. Stolen time is
    nobody's work. The last row is of all cores together."""
    found = np.full((cpus.size + 1, slots.begins.size), np.nan)
    total = np.maximum(1, times.spent.sum(axis=1))
    share = np.where(times.spent.any(axis=1), 1.0 - (times.spent[:, _IDLE] + times.spent[:, _STEAL]) / total, 0.0)
    for row, cpu in enumerate(cpus.tolist()):
        of_core = times.cpu == cpu
        if of_core.any():
            begin, end = times.begin_ns[of_core], times.at_ns[of_core]
            passed = _between(begin, end, np.ones(end.size), slots)
            worked = _between(begin, end, share[of_core], slots)
            covered = passed / (slots.ends - slots.begins + 1)
            # The look that covers the last second may be yet to come.
            scaled = worked if slots.whole else worked / np.maximum(covered, 1e-9)
            found[row] = np.where(covered >= (1e-9 if slots.whole else _COVERED), scaled, np.nan)
    some = ~np.isnan(found[:-1]).all(axis=0)
    found[-1, some] = np.nansum(found[:-1, some], axis=0)
    return found


def _between(begin: I64s, end: I64s, share: F64s, slots: _Slots) -> F64s:
    """How much of a share of time lies in each slot: what adds up to its end, less what adds up to its begin."""
    begin = np.maximum(begin, np.concatenate(([begin[0]], end[:-1])))
    length = np.maximum(0, end - begin)
    points = np.stack([begin, begin + length], axis=1).reshape(-1).astype(np.float64)
    added = np.cumsum(length * share)
    values = np.stack([np.concatenate(([0.0], added[:-1])), added], axis=1).reshape(-1)
    found: F64s = np.interp(slots.ends + 1, points, values) - np.interp(slots.begins, points, values)
    return found


def _by_gaps(counted: _Counted) -> list[float]:
    """Nanoseconds per cycle of each core by the gaps between its samples; the last is of no known core.

    A core that never worked without a break would seem slow: none is slower than the fastest by more than speeds
    differ.
    """
    gaps = {one: np.concatenate(parts) for one, parts in counted.gaps.items()}
    ratios = {one: float(np.quantile(part, _WITHOUT_PAUSE)) for one, part in gaps.items() if part.size >= _LEAST_GAPS}
    fastest = min(ratios.values(), default=0.0)
    slowest = _SLOWEST_NS if counted.mean_period >= _LEAST_PERIOD else np.inf
    ratios = {one: min(ratio, slowest) for one, ratio in ratios.items() if ratio <= _SPEEDS * fastest}
    usual = float(np.median(list(ratios.values()))) if ratios else _one_by_one(counted)
    threads = [ratio for one, ratio in ratios.items() if one < 0]
    return [*(ratios.get(one, usual) for one in counted.cpus.tolist()), float(np.median(threads)) if threads else usual]


def _one_by_one(counted: _Counted) -> float:
    """With so few samples that no gap tells anything: as if each stood for a usual period."""
    cycles = float(counted.cycles.sum())
    return _UNKNOWN_NS * float(counted.samples.sum()) / cycles if cycles > 0 else 0.0


def _middle(values: F64s, weights: F64s) -> float | None:
    """The weighted median; None of nothing."""
    if not values.size:
        return None
    order = np.argsort(values)
    added = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(added, added[-1] / 2)])


def _of_each(chunk: Chunk) -> I64s:
    """How many samples each row stands for."""
    return np.ones(len(chunk), np.int64) if chunk.samples is None else chunk.samples


def _cores(cpus: I64s, cpu: NDArray[Any]) -> I64s:
    """The row of each core; what is of no known core has the last."""
    if not cpus.size:
        return np.zeros(cpu.size, np.int64)
    place = np.minimum(np.searchsorted(cpus, cpu), cpus.size - 1)
    found: I64s = np.where(cpus[place] == cpu, place, cpus.size)
    return found


def _cycles(chunk: Chunk) -> NDArray[np.bool_]:
    """Which rows stand for time and are not in time."""
    return chunk.event.among(lambda name: is_time(name) and not is_clock(name))
