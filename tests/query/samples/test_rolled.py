"""Flame graphs and tops from roll-ups, of a segment and of many: the same as from their samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.profile.flame import Box, flame
from necroscope.query.profile.profile import Profile, profile
from necroscope.query.profile.tops import Dimension, tops
from necroscope.query.profile.tree import tree
from necroscope.query.samples.chunks import chunks
from necroscope.query.samples.rolled import Detail
from necroscope.query.select import Select
from necroscope.store.format.segment import merged, read_segment, read_table, write_segment
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Store
from necroscope.store.read.rollups import roll_up, rollups
from necroscope.store.write.writer import Writer
from stage.recorded import LOOP, START_NS, SYSCALL, WALK, batch, look, stack

PART_S, PARTS = 10, 3
IDLE = (("do_idle", "[kernel]"), ("default_idle", "[kernel]"))
LATE = (("do_idle", "[kernel]"), ("sysvec_apic_timer_interrupt", "[kernel]"))
WHOLE = START_NS, START_NS + PART_S * PARTS * NS - 1


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three segments of ten seconds: three stacks under two thread names, and a core that idles."""
    folder = tmp_path_factory.mktemp("rolled") / "s"
    _fill(folder)
    return Store(folder)


@pytest.fixture(scope="module")
def summed(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The same, the first two segments rolled up together."""
    folder = tmp_path_factory.mktemp("summed") / "s"
    _fill(folder)
    assert roll_up(folder, segments(folder)[:2]) is not None
    return Store(folder)


def _fill(folder: Path) -> None:
    writer = Writer(folder, flush_s=1e9)
    for second in range(PART_S * PARTS):
        at_ns = [START_NS + second * NS + place * NS // 50 for place in range(50)]
        made = batch(at_ns, [stack(frames) for frames in (SYSCALL, LOOP, WALK)], comms=("worker", "other"))
        writer.add_samples(replace(made, weight=np.arange(1, 51) * 1_000_000))
        nobody = batch([at_ns + 7 for at_ns in at_ns], [stack(IDLE), stack(IDLE), stack(LATE)], comms=("swapper",))
        writer.add_samples(replace(nobody, pid=np.zeros(50, np.int32), tid=np.zeros(50, np.int32)))
        writer.add_signals(START_NS + second * NS, look(second), "cpu")
        if second % PART_S == PART_S - 1:
            writer.seal()
    writer.close(merge=False)


def boxes(made: Profile) -> list[Box]:
    """The flame graph."""
    return list(flame(tree(made.counts), made.seconds, made.core_seconds, made.per_weight, 0.0).boxes)


def test_the_roll_up_adds_up(store: Store) -> None:
    segment = segments(store.folder)[0]
    flames, samples, stacks = (read_table(segment, name) for name in ("flames", "samples", "stacks"))
    assert flames is not None
    assert samples is not None
    assert stacks is not None
    assert flames.num_rows == 8
    assert flames["samples"].to_numpy().sum() == samples.num_rows == 1000
    assert flames["weight"].to_numpy().sum() == samples["weight"].to_numpy().sum()
    by_stack = np.bincount(flames["stack"].to_numpy(), flames["samples"].to_numpy())
    np.testing.assert_array_equal(by_stack, stacks["samples"].to_numpy())
    keys = list(zip(flames["event"].to_pylist(), flames["comm"].to_pylist(), flames["stack"].to_pylist(), strict=True))
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    "window",
    [WHOLE, (START_NS + 3 * NS, WHOLE[1] - 4 * NS), (START_NS + 3 * NS, START_NS + 5 * NS)],
    ids=["whole segments", "parts at both ends", "part of one"],
)
@pytest.mark.parametrize("comms", [frozenset(), frozenset({"other"})], ids=["all", "one name"])
def test_the_same_picture(store: Store, window: tuple[int, int], comms: frozenset[str]) -> None:
    select = Select(window, comms=comms)
    counted, rolled = profile(store, select), profile(store, select, detail="stacks")
    assert boxes(counted) == boxes(rolled)
    assert (counted.cores, counted.counted, counted.core_seconds.tolist()) == (
        rolled.cores,
        rolled.counted,
        rolled.core_seconds.tolist(),
    )


def test_samples_of_whole_segments_stay_closed(store: Store) -> None:
    found = list(chunks(store.snapshot(WHOLE), Select(WHOLE), detail="stacks"))
    assert [len(chunk) for chunk in found] == [8] * PARTS
    assert all(chunk.samples is not None and chunk.samples.sum() == 1000 for chunk in found)


@pytest.mark.parametrize(
    "asked",
    [
        {"cpus": frozenset({0})},
        {"pids": frozenset({100})},
        {"tids": frozenset({100})},
        {"cgroups": frozenset({"/system.slice"})},
    ],
    ids=["cpu", "pid", "tid", "cgroup"],
)
def test_what_the_roll_up_does_not_know_is_counted(store: Store, asked: dict[str, frozenset[int]]) -> None:
    select = Select(WHOLE, **asked)  # type: ignore[arg-type]
    assert all(chunk.samples is None for chunk in chunks(store.snapshot(WHOLE), select, detail="stacks"))


def test_baselines_in_the_same_segment_are_counted(store: Store) -> None:
    low, middle, high = START_NS, START_NS + 13 * NS, WHOLE[1]
    rolled = profile(store, Select((low, middle - 1)), [(middle, high)], detail="stacks")
    counted = profile(store, Select((low, middle - 1)), [(middle, high)])
    assert boxes(rolled) == boxes(counted)


def test_a_roll_up_that_would_save_little_is_left_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s", flush_s=1e9)
    writer.add_samples(batch([START_NS, START_NS + 1], [stack(SYSCALL), stack(LOOP)]))
    writer.close()
    (segment,) = segments(tmp_path / "s")
    assert not segment.file("flames").exists()
    assert len(boxes(profile(Store(tmp_path / "s"), Select(WHOLE), detail="stacks"))) > 1


WINDOWS = pytest.mark.parametrize(
    "window",
    [WHOLE, (START_NS + 3 * NS, WHOLE[1] - 4 * NS), (START_NS, START_NS + 20 * NS - 1), (START_NS, START_NS + 25 * NS)],
    ids=["all", "parts at both ends", "the roll-up alone", "the roll-up and a part"],
)


def rows(made: Profile, by: Dimension) -> list[tuple[str, str, int, float]]:
    """Who took the cores."""
    found = tops(made.counts, by, made.seconds, made.core_seconds, made.per_weight)
    return sorted((one.name, one.detail, one.samples, round(one.cores, 9)) for one in found)


@WINDOWS
@pytest.mark.parametrize("by", ["process", "thread", "cgroup"])
@pytest.mark.parametrize(
    "asked",
    [{}, {"comms": frozenset({"other"})}, {"pids": frozenset({101})}, {"cgroups": frozenset({"/system.slice"})}],
    ids=["all", "name", "pid", "cgroup"],
)
def test_the_same_tops(summed: Store, window: tuple[int, int], by: Dimension, asked: dict[str, frozenset[str]]) -> None:
    select = Select(window, **asked)  # type: ignore[arg-type]
    by_samples = rows(profile(summed, select), by)
    assert rows(profile(summed, select, detail="tasks"), by) == by_samples
    assert by_samples


@WINDOWS
def test_the_same_picture_of_many_segments(summed: Store, window: tuple[int, int]) -> None:
    assert boxes(profile(summed, Select(window), detail="stacks")) == boxes(profile(summed, Select(window)))


@pytest.mark.parametrize("detail", ["stacks", "tasks"])
def test_segments_of_a_roll_up_stay_closed(summed: Store, detail: Detail) -> None:
    found = list(chunks(summed.snapshot(WHOLE), Select(WHOLE), detail=detail))
    assert [0 if chunk.samples is None else int(chunk.samples.sum()) for chunk in found] == [2000, 1000]


@pytest.mark.parametrize("detail", ["stacks", "tasks"])
@pytest.mark.parametrize("table", ["stacks", "flames", "tasks"])
def test_a_damaged_roll_up_is_passed_over(tmp_path: Path, detail: Detail, table: str) -> None:
    _fill(tmp_path / "s")
    made = roll_up(tmp_path / "s", segments(tmp_path / "s")[:2])
    assert made is not None
    made.file(table).write_bytes(b"PAR1")
    store = Store(tmp_path / "s")
    made = profile(store, Select(WHOLE), detail=detail)
    assert made.notes == ()
    assert made.counts.samples.sum() == profile(store, Select(WHOLE)).counts.samples.sum()


@pytest.mark.parametrize("detail", ["stacks", "tasks"])
def test_nothing_is_told_twice_after_a_merge(tmp_path: Path, detail: Detail) -> None:
    _fill(tmp_path / "s")
    parts = segments(tmp_path / "s")
    roll_up(tmp_path / "s", parts[:2])
    together = merged([read_segment(part) for part in parts[1:]])
    write_segment(tmp_path / "s" / "segments", together, parts[1].first, parts[2].last)
    store = Store(tmp_path / "s")
    assert len(store.snapshot().rollups) == len(rollups(tmp_path / "s")) == 1
    assert sum(len(chunk) for chunk in chunks(store.snapshot(), Select(WHOLE))) == 3000
    found = profile(store, Select(WHOLE), with_idle=True, detail=detail)
    assert found.counts.samples.sum() == 3000
