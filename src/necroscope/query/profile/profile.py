"""A window of a recording, ready to be looked at: who ran, in which stacks, for how long, against what is normal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.quantity import span
from necroscope.query.cores.core_time import Spent, spent
from necroscope.query.coverage import covered_s, profiled
from necroscope.query.samples.chunks import OnProgress
from necroscope.query.samples.counting import SampleCounter
from necroscope.query.samples.event_kinds import kinds, one_kind
from necroscope.query.samples.rolled import Detail
from necroscope.query.samples.sample_counts import SampleCounts
from necroscope.query.samples.sample_time import timed
from necroscope.query.sealed import again
from necroscope.query.select import FOLDED, Select
from necroscope.sense.perf.event_names import is_time
from necroscope.sense.perf.idle import idle
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.event import Window

F64s = NDArray[np.float64]
# Counters are looked at every second.
_LATE_S = 2.0
_LEAST_S = 0.001
# What a sample too many at a window's edge may add.
_NEARLY_NONE = 0.1
# With less, nobody took samples; with more, there may have been nothing to take: work is rare on an idle node.
_SAMPLED = 0.5


@dataclass(frozen=True, slots=True)
class Profile:
    """The selected samples of one window and of its baselines. Idle samples are left out of the counts.

    `seconds` is how much of each window the cores were looked at, `core_seconds` the time of the selected cores in it,
    by their own counters. Where these are missing, as in imported profiles, `counted` is False, and it is the time in
    which samples were taken times the number of cores that any sample is of. What was not looked at is 0 seconds.
    `per_weight` is the core-seconds that a unit of weight stands for; of events without time, the share. Where
    samples are of cycles, the weights of the counts are the time that these took (`sample_time`).
    `notes` are sentences about what could not be read, or was left out.
    """

    select: Select
    counts: SampleCounts
    cores: int
    seconds: F64s
    core_seconds: F64s
    busy_seconds: F64s
    per_weight: float
    counted: bool
    notes: tuple[str, ...] = ()

    @property
    def timed(self) -> bool:
        """Whether there is time behind the weights; if not, `cores` are shares of all."""
        return not self.counts.event or is_time(self.counts.event)


def profile(
    store: Store,
    select: Select,
    baselines: Sequence[Window] = (),
    with_idle: bool = False,
    on_progress: OnProgress | None = None,
    detail: Detail = "samples",
    sampled: Sequence[Window] | None = None,
) -> Profile:
    """Read it. What is merged meanwhile is read again; what is damaged is left out, with a note.

    With less `detail` it may come from roll-ups: by "stacks", tasks have nothing but their thread's name; by "tasks",
    the counts have no stacks. With `sampled`, stretches in which samples were taken, no other time counts.
    """
    return again(lambda: _profile(store, select, baselines, with_idle, on_progress, detail, sampled))


def _profile(
    store: Store,
    select: Select,
    baselines: Sequence[Window],
    with_idle: bool,
    on_progress: OnProgress | None,
    detail: Detail,
    sampled: Sequence[Window] | None,
) -> Profile:
    windows = [select.window, *baselines]
    snapshot = store.snapshot(_hull(windows))
    notes = [f"{note}; what came before it is shown" for note in snapshot.notes]
    counts, select = _counts(snapshot, select, baselines, with_idle, notes, on_progress, detail)
    if counts.event and not is_time(counts.event):
        return _shares(select, counts, notes)
    times, known = spent(snapshot, windows, select.cpus, notes)
    seconds, core_seconds, busy = _denominators(times, windows)
    counted = bool(core_seconds[0] > 0)
    cores = known or len(counts.cpus) or len(select.cpus)
    if times[0].interval_s:
        length = span(times[0].interval_s)
        notes.append(
            f"what the cores did is known as averages of up to {length} only; shares of shorter times are rough"
        )
    if not counted:
        seconds = _sampled_seconds(counts, windows, cores, profiled(snapshot) if sampled is None else sampled)
        cores = cores or _at_once(counts, seconds)
        core_seconds, busy = seconds * cores, np.zeros(seconds.size)
    elif sampled is not None:
        share = _sampled_share(seconds, windows, sampled)
        seconds, core_seconds, busy = seconds * share, core_seconds * share, busy * share
    return Profile(select, counts, cores, seconds, core_seconds, busy, 1 / NS, counted, tuple(notes))


def _shares(select: Select, counts: SampleCounts, notes: Sequence[str]) -> Profile:
    """Events without time, such as folded stacks: of each, the share of the first window's samples."""
    one, total = np.ones(len(counts.windows)), float(counts.total()[1][0])
    return Profile(select, counts, 1, one, one, one * 0, 1 / total if total > 0 else 0.0, False, tuple(notes))


def _sampled_seconds(counts: SampleCounts, windows: Sequence[Window], cores: int, sampled: Sequence[Window]) -> F64s:
    """Seconds of each window in which samples were taken; no less than these stand for, where cores are known."""
    seconds = np.array([covered_s(window, sampled) for window in windows])
    least = counts.total()[1] / NS / cores if cores else np.full(seconds.size, _LEAST_S)
    found: F64s = np.where(seconds > 0, np.maximum(seconds, least), 0.0)
    return found


def _at_once(counts: SampleCounts, seconds: F64s) -> int:
    """The fewest cores that can have run what was sampled, where samples do not say theirs."""
    taken = counts.total()[1] / NS / np.maximum(seconds, _LEAST_S)
    return max(1, math.ceil(float(taken.max(initial=0.0)) - _NEARLY_NONE))


def _sampled_share(seconds: F64s, windows: Sequence[Window], sampled: Sequence[Window]) -> F64s:
    """How much of the time that cores counted was sampled: all of it, where most of it was."""
    covered = np.array([covered_s(window, sampled) for window in windows])
    found: F64s = np.where(covered < _SAMPLED * seconds, covered / np.maximum(seconds, 1e-9), 1.0)
    return found


def _hull(windows: Sequence[Window]) -> Window:
    """All the windows, and the looks at the counters that follow them."""
    return min(low for low, _ in windows), max(high for _, high in windows) + 10 * NS


def _counts(
    snapshot: Snapshot,
    select: Select,
    baselines: Sequence[Window],
    with_idle: bool,
    notes: list[str],
    on_progress: OnProgress | None = None,
    detail: Detail = "samples",
) -> tuple[SampleCounts, Select]:
    """What was counted, and of which events: clocks and cycles both measure the same time, so only one kind counts."""
    counter = SampleCounter([select.window, *baselines])
    for chunk in timed(snapshot, select, on_progress, baselines, notes, detail):
        counter.add(chunk)
    if not select.events:
        kept, note = one_kind(counter.events)
        if kept:
            notes.append(note)
            return _counts(snapshot, replace(select, events=kept), baselines, with_idle, notes, on_progress, detail)
    counts = counter.close()
    if not select.events and not (counts.window == 0).any() and FOLDED in kinds(snapshot, select.window):
        folded = replace(select, events=frozenset({FOLDED}))
        return _counts(snapshot, folded, baselines, with_idle, notes, on_progress, detail)
    return (counts if with_idle else counts.without(idle(counts.stacks))), select


def _denominators(times: Sequence[Spent], windows: Sequence[Window]) -> tuple[F64s, F64s, F64s]:
    """Seconds, core-seconds and busy core-seconds of each window, as far as the cores were looked at.

    The look that covers the last seconds may be yet to come: these count as those before them.
    """
    found = []
    for time, window in zip(times, windows, strict=True):
        length = (window[1] - window[0] + 1) / NS
        seconds = length if time.covered_s > max(0.0, length - _LATE_S) else time.covered_s
        scale = seconds / time.covered_s if time.covered_s > 0 else 0.0
        found.append((seconds, time.core_s * scale, time.busy_s * scale))
    seconds, core_seconds, busy = np.array(found).T
    return seconds, core_seconds, busy
