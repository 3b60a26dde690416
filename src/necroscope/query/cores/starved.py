"""Cores with next to no idle time: when, for how long, and what they did instead.

From the cores' own counters where there are some; else, as in imported profiles, from the weight of their samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.cores.core_time import CoreTime
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import MODES

F64s = NDArray[np.float64]
I64s = NDArray[np.int64]
Mask = NDArray[np.bool_]
_MS_NS = 1_000_000
# A look that lies this much after the one before leaves a hole between their times.
_HOLE_NS = 300 * _MS_NS
_NEARLY = 0.07
# Idle time of an interval that is no more than what its shares are rounded to: 0.01 % of ten minutes.
_NO_TIME_MS = 100.0
# Looks come every second, give or take some milliseconds.
_EDGE_S = 0.05
_KERNEL = ("system", "irq", "softirq")


def runs(times: CoreTime, busy: float, seconds: float, kernel: float = 0.0, interrupts: float = 0.0) -> list[Run]:
    """Times of at least so many seconds in which a core was at least so busy (0 to 1), by time: in every look, or
    nearly so and on average.

    With `kernel`, at least that share of each look must also have been in the kernel: on a node that is busy anyway,
    this finds the part of a long run in which somebody held the core in kernel mode. With `interrupts`, at least that
    share must have been in interrupts of both kinds.
    """
    looks = _looks(times, busy, kernel, interrupts)
    found: list[Run] = []
    for first, end in _together(looks, seconds):
        above = looks.used[first:end] - busy
        for low, high in full_parts(looks.full[first:end].tolist(), above.tolist()):
            lasted_ns = int(looks.at_ns[first + high - 1] - looks.begin_ns[first + low])
            if lasted_ns / NS >= seconds - _EDGE_S:
                found.append(_run(times, looks.row[first + low : first + high]))
    return sorted(found, key=lambda run: (run.from_ns, run.cpu))


@dataclass(frozen=True, slots=True)
class _Looks:
    """Looks core by core, each core's in order of time: their rows, how busy they were, and which are (nearly) full."""

    row: NDArray[np.intp]
    core_begins: Mask
    begin_ns: I64s
    at_ns: I64s
    used: F64s
    full: Mask
    nearly: Mask


def _looks(times: CoreTime, busy: float, kernel: float, interrupts: float) -> _Looks:
    total = np.maximum(1, times.spent.sum(axis=1))
    used = 1.0 - times.spent[:, MODES.index("idle")] / total
    inside = times.spent[:, [MODES.index(mode) for mode in _KERNEL]].sum(axis=1) / total
    called = times.spent[:, [MODES.index(mode) for mode in _KERNEL[1:]]].sum(axis=1) / total
    full = (used >= busy) & (inside >= kernel) & (called >= interrupts)
    nearly = (used >= busy - _NEARLY) & (inside >= kernel - _NEARLY) & (called >= interrupts - _NEARLY)
    if (coarse := times.coarse).any():
        # An average hides the seconds of its interval: it shows a full core only where the whole of it is full.
        idle_ms = (1.0 - used) * times.whole_ms
        full &= ~coarse | (idle_ms <= _NO_TIME_MS)
        nearly = np.where(coarse, full, nearly)
    row = np.argsort(times.cpu, kind="stable")
    cpu = times.cpu[row]
    begins = np.diff(cpu, prepend=cpu[:1] - 1) != 0
    full, nearly = full[row], nearly[row]
    before, after = _beside(full, begins)
    # One look of a second may come at a bad moment: nearly busy between two busy ones is still the same run.
    return _Looks(
        row, begins, times.begin_ns[row], times.at_ns[row], used[row], full | (nearly & before & after), nearly
    )


def _beside(full: Mask, begins: Mask) -> tuple[Mask, Mask]:
    """The same of the look before and of that after; beside a core's first one is its last one."""
    firsts = np.flatnonzero(begins)
    lasts = np.append(firsts[1:], full.size)[: firsts.size] - 1
    before, after = np.roll(full, 1), np.roll(full, -1)
    before[firsts], after[lasts] = full[lasts], full[firsts]
    return before, after


def _together(looks: _Looks, seconds: float) -> Iterator[tuple[int, int]]:
    """Looks of a core that follow one another, all of them nearly full, one of them full: first, and after the last.
    Only where they are long enough for a run."""
    on = looks.nearly
    apart = looks.core_begins.copy()
    apart[1:] |= looks.begin_ns[1:] - looks.at_ns[:-1] > _HOLE_NS
    firsts = np.flatnonzero(on & (apart | ~np.concatenate([[False], on[:-1]])))
    lasts = np.flatnonzero(on & ~np.concatenate([on[1:] & ~apart[1:], [False]]))
    fulls = np.concatenate([[0], np.cumsum(looks.full)])
    long = looks.at_ns[lasts] - looks.begin_ns[firsts] >= (seconds - _EDGE_S) * NS
    some = long & (fulls[lasts + 1] > fulls[firsts])
    yield from zip(firsts[some].tolist(), (lasts[some] + 1).tolist(), strict=True)


def full_parts(full: Sequence[bool], above: Sequence[float]) -> list[tuple[int, int]]:
    """Parts around full looks among nearly full ones, as long as they are full on average.

    What has a core for itself at real-time priority is still stopped for a twentieth of each second: so the first look
    that is not quite full ends nothing.
    """
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(full):
        if not full[at]:
            at += 1
            continue
        low, high, spare = at, at + 1, above[at]
        while high < len(full) and (full[high] or spare + above[high] >= 0):
            spare += above[high]
            high += 1
        ended = found[-1][1] if found else 0
        while low > ended and spare + above[low - 1] >= 0:
            low -= 1
            spare += above[low]
        if found and low == ended:
            low, _ = found.pop()
        found.append((low, high))
        at = high
    return found


def _run(times: CoreTime, rows: NDArray[np.intp]) -> Run:
    spent = times.spent[rows].sum(axis=0)
    shares = tuple(float(one) for one in spent / max(1, int(spent.sum())))
    first, last = int(rows[0]), int(rows[-1])
    begin_ns = int(times.at_ns[first]) - int(times.passed_ms[first]) * _MS_NS
    return Run(int(times.cpu[first]), begin_ns, int(times.at_ns[last]), shares)


def within(times: CoreTime, run: Run, window: Window) -> Run:
    """The part of a run that lies in a window, with what the core did in it."""
    low, high = max(run.from_ns, window[0]), min(run.to_ns, window[1])
    of_core = times.of(frozenset({run.cpu}))
    spent = (of_core.spent * of_core.share_in((low, high))[:, None]).sum(axis=0)
    total = float(spent.sum())
    shares = tuple(float(one) for one in spent / total) if total > 0 else run.shares
    return Run(run.cpu, low, high, shares, run.counted)


def from_samples(seconds: dict[int, dict[int, tuple[float, float]]], busy: float, at_least: int) -> list[Run]:
    """Runs by samples alone: core -> second -> (busy seconds, of these in the kernel). Steal and idle look alike."""
    found = []
    for cpu, by_second in seconds.items():
        full = sorted(second for second, (spent, _) in by_second.items() if spent >= busy)
        for first, last in _stretches(full):
            if last - first + 1 >= at_least:
                rows = [by_second[second] for second in range(first, last + 1)]
                total = sum(spent for spent, _ in rows) or 1.0
                kernel = sum(inside for _, inside in rows) / total
                shares = tuple({"user": 1 - kernel, "system": kernel}.get(mode, 0.0) for mode in MODES)
                found.append(Run(cpu, first * NS, (last + 1) * NS - 1, shares, counted=False, kind="sampled"))
    return sorted(found, key=lambda run: (run.from_ns, run.cpu))


def _stretches(numbers: list[int]) -> Iterator[tuple[int, int]]:
    first = last = None
    for one in numbers:
        if last is not None and first is not None and one != last + 1:
            yield first, last
            first = one
        first = one if first is None else first
        last = one
    if first is not None and last is not None:
        yield first, last


def mean_busy(times: CoreTime, window: Window) -> float | None:
    """How busy all cores together were in a window; None where no counter tells, or only averages of longer times."""
    spent = times.close(window[1] - window[0] + 1).spent_in(window)
    return spent.busy_s / spent.core_s if spent.core_s > 0 else None
