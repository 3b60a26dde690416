"""Cycles as time: cores of different speeds, idle ones, lost samples, with and without counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.cores.starved import from_samples
from necroscope.query.profile.profile import Profile, profile
from necroscope.query.profile.tops import tops
from necroscope.query.samples.busy_seconds import busy_seconds
from necroscope.query.samples.sample_time import timed
from necroscope.query.select import Select
from necroscope.store.format.core_times import SIGNAL
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import Sample
from stage.looked import IDLE, LOOP, WALK, Frames, One, batch
from stage.recorded import START_NS

SECONDS = 12
WINDOW = START_NS, START_NS + SECONDS * NS - 1
STEP_NS = NS // 1000
Busy = Callable[[int], float]
"""Share of a millisecond, by its number."""


@dataclass(frozen=True)
class Core:
    """A core that works: how fast, when, who, and at what frequency a sample is taken while it works."""

    cpu: int
    ghz: float
    busy: Busy
    pid: int
    comm: str = "worker"
    frames: Frames = LOOP
    hz: float = 97.0
    loses: tuple[float, float] = (0.0, 0.0)
    """Seconds in which no sample is taken."""


def always(number: int) -> float:
    return 1.0


def twentieth(number: int) -> float:
    """5 ms of each 100."""
    return 1.0 if number % 100 < 5 else 0.0


@cache
def worked_ns(core: Core) -> np.ndarray:
    """Nanoseconds of work up to each step."""
    return np.concatenate(([0.0], np.cumsum([core.busy(step) * STEP_NS for step in range(SECONDS * 1000)])))


def samples_of(core: Core, event: str = "cycles", period: bool = True) -> list[One]:
    """As a PMU takes them: none while the core is idle. The period wanders by a factor of ten."""
    pick = np.random.default_rng(core.cpu + 1)
    worked = worked_ns(core)
    factors = 10 ** pick.uniform(-0.5, 0.5, 4000) if period else np.ones(4000)
    due = np.cumsum(NS / core.hz * factors)
    due = due[due < worked[-1]]
    steps = np.maximum(1, np.searchsorted(worked, due))
    times = START_NS + (steps * STEP_NS - (worked[steps] - due)).astype(np.int64)
    lost = (times - START_NS >= core.loses[0] * NS) & (times - START_NS < core.loses[1] * NS)
    one = One(0, core.frames, core.cpu, core.pid, core.pid, core.comm, event=event)
    return [
        replace(one, at_ns=at_ns, weight=round(core.ghz * NS / core.hz * factor) if period else 1)
        for at_ns, factor, gone in zip(times.tolist(), factors.tolist(), lost.tolist(), strict=False)
        if not gone
    ]


def counters(cores: Iterable[Core], second: int) -> list[Sample]:
    found = []
    for core in cores:
        busy = float(worked_ns(core)[second * 1000]) / NS
        found += [
            Sample(SIGNAL, value, (str(core.cpu), mode))
            for mode, value in (("user", 1000 + busy), ("idle", 1000 + second - busy))
        ]
    return found


def recorded(folder: Path, cores: list[Core], counted: bool = True, **how: object) -> Store:
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    for second in range(SECONDS + 1) if counted else ():
        writer.add_signals(START_NS + second * NS, counters(cores, second), "cpu")
    ones = [one for core in cores for one in samples_of(core, **how)]  # type: ignore[arg-type]
    writer.add_samples(batch(sorted(ones, key=lambda one: one.at_ns)))
    writer.close(merge=False)
    return Store(folder)


def cores_by_name(made: Profile) -> dict[str, float]:
    return {
        row.name: row.cores for row in tops(made.counts, "process", made.seconds, made.core_seconds, made.per_weight)
    }


FAST = Core(0, 3.6, always, 100, "fast")
SLOW = Core(1, 0.9, always, 200, "slow")
RARE = Core(2, 1.2, twentieth, 300, "rare")


def test_cores_of_different_speeds_take_what_their_counters_say(tmp_path: Path) -> None:
    found = cores_by_name(profile(recorded(tmp_path, [FAST, SLOW, RARE]), Select(WINDOW)))
    assert found == {
        "fast": pytest.approx(1.0, abs=0.02),
        "slow": pytest.approx(1.0, abs=0.02),
        "rare": pytest.approx(0.05, abs=0.01),
    }


def test_a_core_of_a_hybrid_machine_is_as_much_time_as_another(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for second in range(SECONDS + 1):
        writer.add_signals(START_NS + second * NS, counters([FAST, SLOW], second), "cpu")
    ones = [*samples_of(FAST, "cpu_core/cycles:P/"), *samples_of(SLOW, "cpu_atom/cycles/P")]
    writer.add_samples(batch(sorted(ones, key=lambda one: one.at_ns)))
    writer.close(merge=False)
    made = profile(Store(tmp_path), Select(WINDOW))
    assert cores_by_name(made) == {"fast": pytest.approx(1.0, abs=0.02), "slow": pytest.approx(1.0, abs=0.02)}
    assert made.notes == ()


def test_without_counters_the_time_between_samples_tells(tmp_path: Path) -> None:
    made = profile(recorded(tmp_path, [FAST, SLOW, RARE], counted=False), Select(WINDOW))
    found = cores_by_name(made)
    assert not made.counted
    assert found["fast"] == pytest.approx(1.0, abs=0.1)
    assert found["slow"] == pytest.approx(1.0, abs=0.1)
    assert found["rare"] == pytest.approx(0.05, abs=0.03)


def test_periods_that_nobody_printed_count_alike(tmp_path: Path) -> None:
    made = profile(recorded(tmp_path, [FAST, RARE], counted=False, period=False), Select(WINDOW))
    found = cores_by_name(made)
    assert found["fast"] == pytest.approx(1.0, abs=0.1)
    assert found["rare"] < 0.5


@pytest.mark.parametrize("event", ["cycles", "cpu-clock"])
def test_without_a_cpu_three_full_threads_are_three_cores(tmp_path: Path, event: str) -> None:
    three = [
        replace(FAST, cpu=-1, ghz=ghz, pid=pid, comm=f"thread-{pid}") for pid, ghz in ((1, 1.0), (2, 1.0), (3, 1.0))
    ]
    made = profile(recorded(tmp_path, three, counted=False, event=event), Select(WINDOW))
    assert made.cores == 3
    assert cores_by_name(made) == {f"thread-{pid}": pytest.approx(1.0, abs=0.05) for pid in (1, 2, 3)}


def test_a_core_that_is_five_percent_busy_is_not_starved(tmp_path: Path) -> None:
    store = recorded(tmp_path, [RARE], counted=False)
    assert from_samples(busy_seconds(store.snapshot(), WINDOW), 0.9, 2) == []
    full = recorded(tmp_path / "full", [replace(FAST, frames=WALK), RARE], counted=False)
    runs = from_samples(busy_seconds(full.snapshot(), WINDOW), 0.9, 2)
    assert {run.cpu for run in runs} == {0}
    assert sum(run.seconds for run in runs) >= SECONDS - 2


def test_what_was_lost_is_not_given_to_the_few_that_were_not(tmp_path: Path) -> None:
    """Of ten seconds of a full core nine in ten samples are missing: those that are there stand for their own time."""
    thinned = replace(FAST, loses=(4.05, 11.95))
    made = profile(
        recorded(tmp_path, [thinned]),
        Select((START_NS + 4 * NS, START_NS + 12 * NS - 1)),
        [(START_NS, START_NS + 4 * NS - 1)],
    )
    assert made.counts.total()[1].tolist()[0] / NS == pytest.approx(0.1, abs=0.08)
    assert made.counts.total()[1].tolist()[1] / NS == pytest.approx(4.0, abs=0.1)


def test_idle_samples_take_no_time_from_work(tmp_path: Path) -> None:
    """On a core that polls while it is idle, cycles are counted then too."""
    half: Busy = lambda number: 1.0 if number % 1000 < 500 else 0.0  # noqa: E731
    rest: Busy = lambda number: 1.0 - half(number)  # noqa: E731
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for second in range(SECONDS + 1):
        writer.add_signals(START_NS + second * NS, counters([replace(FAST, busy=half)], second), "cpu")
    ones = [
        *samples_of(replace(FAST, busy=half)),
        *samples_of(replace(FAST, busy=rest, pid=0, comm="swapper/0", frames=IDLE)),
    ]
    writer.add_samples(batch(sorted(ones, key=lambda one: one.at_ns)))
    writer.close(merge=False)
    assert cores_by_name(profile(Store(tmp_path), Select(WINDOW))) == {"fast": pytest.approx(0.5, abs=0.02)}


def test_a_process_alone_gets_no_more_than_among_all(tmp_path: Path) -> None:
    halves = [
        replace(FAST, busy=lambda number: 0.25, comm="small"),
        replace(FAST, busy=lambda number: 0.75, pid=101, comm="big"),
    ]
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for second in range(SECONDS + 1):
        writer.add_signals(START_NS + second * NS, counters([FAST], second), "cpu")
    ones = [one for core in halves for one in samples_of(core)]
    writer.add_samples(batch(sorted(ones, key=lambda one: one.at_ns)))
    writer.close(merge=False)
    found = cores_by_name(profile(Store(tmp_path), Select(WINDOW, pids=frozenset({100}))))
    assert found == {"small": pytest.approx(0.25, abs=0.05)}


def test_sums_of_a_whole_segment_are_spread_over_all_cores(tmp_path: Path) -> None:
    store = recorded(tmp_path, [FAST, replace(SLOW, ghz=3.6)])
    made = profile(store, Select((START_NS - 60 * NS, WINDOW[1] + 60 * NS)), detail="tasks")
    assert (made.counts.weight.sum() / NS / SECONDS) == pytest.approx(2.0, abs=0.05)


def test_clocks_stay_as_they_are_and_are_read_once(tmp_path: Path) -> None:
    store = recorded(tmp_path, [FAST], event="cpu-clock")
    raw = sum(one.weight for one in samples_of(FAST, "cpu-clock"))
    assert sum(int(chunk.weight.sum()) for chunk in timed(store.snapshot(), Select(WINDOW))) == raw


def test_events_that_tell_no_time_keep_their_weights(tmp_path: Path) -> None:
    store = recorded(tmp_path, [FAST], event="page-faults", period=False)
    select = Select(WINDOW, events=frozenset({"page-faults"}))
    made = profile(store, select)
    assert not made.timed
    assert cores_by_name(made) == {"fast": pytest.approx(1.0)}
