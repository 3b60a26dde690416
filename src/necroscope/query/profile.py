"""A window of a recording, ready to be looked at: who ran, in which stacks, for how long, against what is normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.chunks import Told, chunks
from necroscope.query.core_time import Spent, spent
from necroscope.query.idle import idle
from necroscope.query.ledger import Keeper, Ledger
from necroscope.query.sealed import again
from necroscope.query.select import Select, is_clock
from necroscope.store.catalog import Window
from necroscope.store.reader import Snapshot, Store

F64s = NDArray[np.float64]
# Counters are looked at every second.
_LATE_S = 2.0


@dataclass(frozen=True, slots=True)
class Profile:
    """The selected samples of one window and of its baselines. Idle samples are left out of the ledger.

    `seconds` is how much of each window the cores were looked at, `core_seconds` the time of the selected cores in it,
    by their own counters. Where these are missing, as in imported profiles, `counted` is False, and it is the length
    times the number of cores that any sample is of. `per_weight` is the core-seconds that a unit of weight stands for.
    `notes` are sentences about what could not be read, or was left out.
    """

    select: Select
    ledger: Ledger
    cores: int
    seconds: F64s
    core_seconds: F64s
    busy_seconds: F64s
    per_weight: float
    counted: bool
    notes: tuple[str, ...] = ()


def profile(
    store: Store,
    select: Select,
    baselines: Sequence[Window] = (),
    with_idle: bool = False,
    told: Told | None = None,
    rolled: bool = False,
) -> Profile:
    """Read it. What is merged meanwhile is read again; what is damaged is left out, with a note.

    With `rolled`, it may come from roll-ups, of which tasks have nothing but their thread's name.
    """
    return again(lambda: _profile(store, select, baselines, with_idle, told, rolled))


def _profile(
    store: Store, select: Select, baselines: Sequence[Window], with_idle: bool, told: Told | None, rolled: bool
) -> Profile:
    windows = [select.window, *baselines]
    snapshot = store.snapshot(_hull(windows))
    notes = [f"{note}; what came before it is shown" for note in snapshot.notes]
    ledger, select = _ledger(snapshot, select, baselines, with_idle, notes, told, rolled)
    times, known = spent(snapshot, windows, select.cpus, notes)
    seconds, core_seconds, busy = _denominators(times, windows)
    counted = bool(core_seconds[0] > 0)
    cores = known or len(ledger.cpus) or len(select.cpus) or 1
    if not counted:
        seconds = np.array([(high - low + 1) / NS for low, high in windows])
        core_seconds, busy = seconds * cores, np.zeros(seconds.size)
    per_weight = 1 / NS if is_clock(ledger.event) else _spread(snapshot, select, baselines, ledger, busy)
    return Profile(select, ledger, cores, seconds, core_seconds, busy, per_weight, counted, tuple(notes))


def _hull(windows: Sequence[Window]) -> Window:
    """All the windows, and the looks at the counters that follow them."""
    return min(low for low, _ in windows), max(high for _, high in windows) + 10 * NS


def _ledger(
    snapshot: Snapshot,
    select: Select,
    baselines: Sequence[Window],
    with_idle: bool,
    notes: list[str],
    told: Told | None = None,
    rolled: bool = False,
) -> tuple[Ledger, Select]:
    """What was counted, and of which events: clocks and cycles both tell the same time, so only one kind counts."""
    keeper = Keeper([select.window, *baselines])
    for chunk in chunks(snapshot, select, told, baselines, notes, rolled):
        keeper.add(chunk)
    if not select.events and len({is_clock(event) for event in keeper.events}) > 1:
        most = is_clock(max(keeper.events, key=lambda event: keeper.events[event]))
        kept = frozenset(event for event in keeper.events if is_clock(event) == most)
        left = ", ".join(sorted(keeper.events.keys() - kept))
        notes.append(f"samples of {left} are left out, as they tell the same time again; --event-type shows them")
        return _ledger(snapshot, replace(select, events=kept), baselines, with_idle, notes, told, rolled)
    ledger = keeper.close()
    return (ledger if with_idle else ledger.without(idle(ledger.stacks))), select


def _denominators(times: Sequence[Spent], windows: Sequence[Window]) -> tuple[F64s, F64s, F64s]:
    """Seconds, core-seconds and busy core-seconds of each window, as far as the cores were looked at.

    The look that would tell about the last seconds may not have been yet: these count as those before them.
    """
    found = []
    for time, window in zip(times, windows, strict=True):
        length = (window[1] - window[0] + 1) / NS
        seconds = length if time.covered_s > max(0.0, length - _LATE_S) else time.covered_s
        scale = seconds / time.covered_s if time.covered_s > 0 else 0.0
        found.append((seconds, time.core_s * scale, time.busy_s * scale))
    seconds, core_seconds, busy = np.array(found).T
    return seconds, core_seconds, busy


def _spread(snapshot: Snapshot, select: Select, baselines: Sequence[Window], ledger: Ledger, busy: F64s) -> float:
    """Cycles are spread over the busy time that the cores counted: the cycles of all, whoever was asked about."""
    if select.pids or select.tids or select.comms or select.cgroups:
        anybody = Select(select.window, cpus=select.cpus, events=select.events)
        ledger, _ = _ledger(snapshot, anybody, baselines, False, [])
    total = float(ledger.weight.sum())
    return float(busy.sum()) / total if total > 0 and busy.sum() > 0 else 1 / NS
