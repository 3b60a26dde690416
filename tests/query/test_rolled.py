"""Flame graphs from the roll-ups of segments: the same as from their samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.chunks import chunks
from necroscope.query.flame import Box, flame
from necroscope.query.profile import Profile, profile
from necroscope.query.select import Select
from necroscope.query.tree import tree
from necroscope.store.catalog import segments
from necroscope.store.reader import Store
from necroscope.store.segment import read_table
from necroscope.store.writer import Writer
from stage.recorded import LOOP, START_NS, SYSCALL, WALK, batch, look, stack

PART_S, PARTS = 10, 3
WHOLE = START_NS, START_NS + PART_S * PARTS * NS - 1


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three segments of ten seconds: three stacks under two thread names."""
    folder = tmp_path_factory.mktemp("rolled") / "s"
    writer = Writer(folder, flush_s=1e9)
    for second in range(PART_S * PARTS):
        at_ns = [START_NS + second * NS + place * NS // 50 for place in range(50)]
        told = batch(at_ns, [stack(frames) for frames in (SYSCALL, LOOP, WALK)], comms=("worker", "other"))
        writer.add_samples(replace(told, weight=np.arange(1, 51) * 1_000_000))
        writer.add_signals(START_NS + second * NS, look(second), "cpu")
        if second % PART_S == PART_S - 1:
            writer.seal()
    writer.close(merge=False)
    return Store(folder)


def boxes(made: Profile) -> list[Box]:
    """The flame graph."""
    return list(flame(tree(made.ledger), made.seconds, made.core_seconds, made.per_weight, 0.0).boxes)


def test_the_roll_up_adds_up(store: Store) -> None:
    segment = segments(store.folder)[0]
    flames, samples, stacks = (read_table(segment, name) for name in ("flames", "samples", "stacks"))
    assert flames is not None
    assert samples is not None
    assert stacks is not None
    assert flames.num_rows == 6
    assert flames["samples"].to_numpy().sum() == samples.num_rows == 500
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
    counted, rolled = profile(store, select), profile(store, select, rolled=True)
    assert boxes(counted) == boxes(rolled)
    assert (counted.cores, counted.counted, counted.core_seconds.tolist()) == (
        rolled.cores,
        rolled.counted,
        rolled.core_seconds.tolist(),
    )


def test_samples_of_whole_segments_stay_closed(store: Store) -> None:
    found = list(chunks(store.snapshot(WHOLE), Select(WHOLE), rolled=True))
    assert [len(chunk) for chunk in found] == [6] * PARTS
    assert all(chunk.samples is not None and chunk.samples.sum() == 500 for chunk in found)


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
    assert all(chunk.samples is None for chunk in chunks(store.snapshot(WHOLE), select, rolled=True))


def test_baselines_in_the_same_segment_are_counted(store: Store) -> None:
    low, middle, high = START_NS, START_NS + 13 * NS, WHOLE[1]
    rolled = profile(store, Select((low, middle - 1)), [(middle, high)], rolled=True)
    counted = profile(store, Select((low, middle - 1)), [(middle, high)])
    assert boxes(rolled) == boxes(counted)


def test_a_roll_up_that_would_save_little_is_left_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s", flush_s=1e9)
    writer.add_samples(batch([START_NS, START_NS + 1], [stack(SYSCALL), stack(LOOP)]))
    writer.close()
    (segment,) = segments(tmp_path / "s")
    assert not segment.file("flames").exists()
    assert len(boxes(profile(Store(tmp_path / "s"), Select(WHOLE), rolled=True))) > 1
