"""The time around a symptom, as the recording has it: cores, starved runs, holes, and what is normal there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.config import Config
from necroscope.diagnose.why.holes import Hole, holes_in
from necroscope.diagnose.why.named_core import NamedCore, named_core
from necroscope.diagnose.why.symptom import ASKED, NOTICED, is_symptom
from necroscope.errors import BadInput
from necroscope.event import Event
from necroscope.model import MODES
from necroscope.query.core_time import CoreTime, core_time
from necroscope.query.landmarks import events, extent
from necroscope.query.starved import from_samples, runs
from necroscope.store.catalog import Window
from necroscope.store.reader import Snapshot, Store
from necroscope.verdict import Complaint, Strip

BEFORE_NS, AFTER_NS = 45 * NS, 2 * NS
"""A symptom is told seconds to tens of seconds after the core was taken; sometimes a little before the look ends."""

# Complaints that the kernel makes only after a longer wait.
_PATIENCE_S = {"hung-task": 180, "rcu-stall": 90, "rcu-starved": 90, "workqueue-lockup": 90, "soft-lockup": 75}
NEAR_NS = 900 * NS
CRITICAL_NS = 15 * NS
_COMPLAINT_NS = NS
_LEAST_S = 2.0
_IN_KERNEL = 0.75
_ALMOST = 0.9
_NEARLY_BUSY, _CALLED, _CALLED_S = 0.8, 0.5, 3.0
_BLOCKS, _FEW_BLOCKS = 12, 3
# How far from symptoms quiet time is looked for: as far as the recording allows.
_AWAY_NS = ((60 * NS, 15 * NS), (20 * NS, 5 * NS), (8 * NS, 2 * NS))
_USUALLY_BUSY = 0.8


class Held(Store):
    """A store as it was at one moment. Looked at anew only where files of the window are gone."""

    def __init__(self, store: Store) -> None:
        self.folder = store.folder
        self._store = store
        self._all = store.snapshot()

    def snapshot(self, window: Window | None = None) -> Snapshot:
        """What was there; of the segments, those that may have rows of the window."""
        chosen = tuple(one for one in self._all.segments if one.overlaps(window))
        if not all(one.path.exists() for one in chosen):
            self._all = self._store.snapshot()
            chosen = tuple(one for one in self._all.segments if one.overlaps(window))
        return replace(self._all, segments=chosen)


@dataclass(frozen=True, slots=True)
class Scene:
    """A symptom and what the recording has around it. `runs` are starved cores of the whole near time."""

    store: Held
    symptom: Complaint
    recorded: Window
    near: Window
    times: CoreTime
    runs: tuple[Run, ...]
    holes: tuple[Hole, ...]
    told: tuple[Event, ...]
    """Events of the near time that are not about cgroups."""
    counted: bool
    named: NamedCore | None = None
    """The core that the symptom is about, where that is known."""
    notes: list[str] = field(default_factory=list)

    @property
    def lookback(self) -> Window:
        """When the core must have been taken to have caused the symptom."""
        slack = min(self.symptom.uncertainty_ns, 60 * NS)
        before = max(BEFORE_NS, _PATIENCE_S.get(self.symptom.kind, 0) * NS)
        return self.symptom.at_ns - before - slack, self.symptom.at_ns + AFTER_NS + slack

    def in_time(self, run: Run) -> bool:
        """Whether a starved core may have caused the symptom: taken before it, not long before, and not just now.

        What a driver or the kernel complains of took at least a second; what somebody marked is as exact as he was.
        """
        slack = min(self.symptom.uncertainty_ns, 60 * NS)
        if self.symptom.source == ASKED:
            return run.overlaps(self.lookback)
        latest = self.symptom.at_ns + slack - (0 if self.symptom.source in NOTICED else _COMPLAINT_NS)
        return run.overlaps(self.lookback) and run.from_ns <= latest

    @property
    def cores(self) -> int:
        """How many cores were seen."""
        return int(np.unique(self.times.cpu).size)

    def covered(self, window: Window) -> float:
        """Which share of a window the cores' counters tell about, second by second."""
        length = max(1, window[1] - window[0]) / NS
        return min(1.0, self.times.close().spent_in(window).covered_s / length)


def span_of(snapshot: Snapshot, notes: list[str] | None = None) -> Window | None:
    """First and last moment of a recording: of its samples, else of its segments. None: it is empty.

    Of samples that cannot be read `notes` tell.
    """
    try:
        return extent(snapshot, notes=notes)
    except BadInput:
        pass
    spans = [(one.from_ns, one.to_ns) for one in snapshot.segments]
    for name in ("cores", "events", "ticks"):
        table = snapshot.live.get(name)
        if table is not None and table.num_rows:
            at_ns = table["at_ns"].to_numpy()
            spans.append((int(at_ns.min()), int(at_ns.max())))
    return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None


def look_around(store: Held, symptom: Complaint, recorded: Window, config: Config) -> Scene:
    """Read what is around a symptom. Little: a quarter of an hour of counters and events."""
    notes: list[str] = []
    near = symptom.at_ns - NEAR_NS, symptom.at_ns + NEAR_NS // 6
    snapshot = store.snapshot((near[0], near[1] + 10 * NS))
    times = core_time(snapshot, [near], notes)
    counted = bool(times.close().at_ns.size)
    found = _runs(times, config)
    if not counted:
        # Averages tell of nothing but cores that were full all the time, samples of their seconds.
        sampled = _sampled_runs(snapshot, near, config, notes)
        found = [*sampled, *(one for one in found if not any(_touch(one, other) for other in sampled))]
    told = _told(snapshot, near, notes)
    about = symptom.at_ns - BEFORE_NS, symptom.at_ns + AFTER_NS
    named = named_core(store.snapshot(about), symptom, about)
    holes = tuple(holes_in(told))
    return Scene(store, symptom, recorded, near, times, tuple(found), holes, tuple(told), counted, named, notes)


def _told(snapshot: Snapshot, near: Window, notes: list[str]) -> list[Event]:
    """Events without the lives of cgroups, of which there may be very many."""
    return events(snapshot, near, kinds=lambda kind: not kind.startswith("cgroup-"), notes=notes)


def _runs(times: CoreTime, config: Config) -> list[Run]:
    """Starved cores; and the part of a longer run in which a core was held in the kernel, as a run of its own.

    Interrupts come before everything else on a core: so many of them starve it even while it has a little idle time.
    """
    busy = runs(times, config.cpu.busy, _LEAST_S)
    held = runs(times, config.cpu.busy, _LEAST_S, _IN_KERNEL)
    called = runs(times, _NEARLY_BUSY, _CALLED_S, interrupts=_CALLED)
    plain = [one for one in busy if not any(_nearly_all_of(part, one) for part in held)]
    other = [one for one in (*plain, *held) if not any(_nearly_all_of(part, one) for part in called)]
    return sorted([*other, *called], key=lambda run: (run.from_ns, run.cpu))


def _nearly_all_of(part: Run, whole: Run) -> bool:
    overlap = min(part.to_ns, whole.to_ns) - max(part.from_ns, whole.from_ns)
    return part.cpu == whole.cpu and overlap >= 0.75 * (whole.to_ns - whole.from_ns)


def _sampled_runs(snapshot: Snapshot, near: Window, config: Config, notes: list[str]) -> list[Run]:
    """Without counters, a second in which a core was sampled busy nearly all the time."""
    from necroscope.query.busy_seconds import busy_seconds

    return from_samples(busy_seconds(snapshot, near, notes), config.cpu.busy - 0.07, int(_LEAST_S))


def quiet_blocks(scene: Scene, run: Run, most: int = _BLOCKS) -> list[Window]:
    """What is normal: windows about as long as the run, near in time, away from every symptom's time and the run.

    Where a recording is so short that nothing is left, it may be nearer to symptoms; the starved time of the run's core
    is always left out.
    """
    length = int(min(max(run.seconds, 2.0), 10.0) * NS)
    symptoms = [*(one.at_ns for one in scene.told if is_symptom(one)), scene.symptom.at_ns]
    limits = max(scene.near[0], scene.recorded[0]), min(scene.near[1], scene.recorded[1])
    bad = _not_quiet(scene, run, symptoms)
    for before, after in _AWAY_NS:
        far = [(at - before, at + after) for at in symptoms]
        found = _blocks(limits, [*bad, *far], length, most)
        if len(found) >= _FEW_BLOCKS:
            return found
    found = _blocks(limits, bad, length, most)
    return found if len(found) >= _FEW_BLOCKS else _blocks(limits, bad, 2 * NS, most)


def _not_quiet(scene: Scene, run: Run, symptoms: Sequence[int]) -> list[Window]:
    """The run itself, and the same thing again before another symptom, with what belongs to them on both sides; also
    where it left the core a little idle time, as real-time threads do that the kernel stops now and then.

    Without a symptom after it, the same thing again is quiet time: it does no harm. A longer run of which this one is
    a part is what is usual there, not the same again.
    """
    lookbacks = [(at - BEFORE_NS, at + AFTER_NS) for at in symptoms]
    almost = runs(scene.times.of(frozenset({run.cpu})), _ALMOST, _LEAST_S) if run.counted else []
    again = [
        one
        for one in (*scene.runs, *almost)
        if one.cpu == run.cpu
        and _alike(one, run)
        and not _part_of(run, one)
        and any(one.overlaps(window) for window in lookbacks)
    ]
    return [_with_shoulders(scene.times, one) for one in (*again, run)]


def _touch(one: Run, other: Run) -> bool:
    return one.cpu == other.cpu and one.overlaps(other.window)


def _part_of(run: Run, whole: Run) -> bool:
    """Whether a run is a small part of another one."""
    return whole.from_ns <= run.from_ns and run.to_ns <= whole.to_ns and run.seconds <= 0.5 * whole.seconds


def _with_shoulders(times: CoreTime, run: Run) -> Window:
    """A run with the time just before and after it in which its core was still much busier than it usually is.

    A look of a second in which somebody took the core for half of it is no starved core, but no quiet time either.
    """
    low, high = run.from_ns - NS, run.to_ns + NS
    of_core = times.of(frozenset({run.cpu}))
    total = of_core.spent.sum(axis=1)
    if not total.size or not run.counted:
        return low, high
    busy = 1.0 - of_core.spent[:, MODES.index("idle")] / np.maximum(1, total)
    usual = float(np.median(busy))
    if usual > _USUALLY_BUSY:
        return low, high
    longest = max(2 * NS, min(run.to_ns - run.from_ns, 10 * NS))
    more = busy >= usual + 0.5 * (1.0 - usual)
    for begin, end in zip(of_core.begin_ns[more].tolist(), of_core.at_ns[more].tolist(), strict=True):
        if end > high >= begin and high - run.to_ns < longest:
            high = end
    for begin, end in zip(of_core.begin_ns[more][::-1].tolist(), of_core.at_ns[more][::-1].tolist(), strict=True):
        if begin < low <= end and run.from_ns - low < longest:
            low = begin
    return low, high


def _alike(one: Run, run: Run) -> bool:
    """Whether another run may be the same thing again: spent in much the same way."""
    return sum(abs(a - b) for a, b in zip(one.shares, run.shares, strict=True)) < 0.5


def _blocks(limits: Window, left_out: list[Window], length: int, most: int) -> list[Window]:
    free, at = [], limits[0]
    for low, high in sorted(left_out):
        if low > at:
            free.append((at, min(low, limits[1])))
        at = max(at, high + 1)
    if at < limits[1]:
        free.append((at, limits[1]))
    blocks = [
        (low + n * length, low + (n + 1) * length - 1) for low, high in free for n in range((high - low) // length)
    ]
    if len(blocks) <= most:
        return blocks
    return [blocks[place * len(blocks) // most] for place in range(most)]


def strip_of(scene: Scene, cpu: int, before_s: int = 40, after_s: int = 15) -> Strip | None:
    """The core around the symptom, second by second; None where no counter tells."""
    if not scene.counted:
        return None
    from_ns = (scene.symptom.at_ns // NS - before_s) * NS
    columns = before_s + after_s
    close = scene.times.close()
    shares = [_by_second(times, from_ns, columns) for times in (close.of(frozenset({cpu})), close)]
    (busy, system), (average, _) = shares
    return Strip(cpu, from_ns, busy, system, average)


def _by_second(times: CoreTime, from_ns: int, columns: int) -> tuple[tuple[float | None, ...], ...]:
    column = (times.at_ns - times.passed_ms * 500_000 - from_ns) // NS
    busy: list[float | None] = []
    system: list[float | None] = []
    idle, kernel = MODES.index("idle"), [MODES.index(mode) for mode in ("system", "irq", "softirq")]
    for number in range(columns):
        spent = times.spent[column == number]
        total = int(spent.sum())
        busy.append(round(1 - int(spent[:, idle].sum()) / total, 3) if total else None)
        system.append(round(int(spent[:, kernel].sum()) / total, 3) if total else None)
    return tuple(busy), tuple(system)
