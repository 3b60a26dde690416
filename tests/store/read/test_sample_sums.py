"""Sums of samples over segments: what the segments together have, no more and no less."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.store.format.arrow import Tables
from necroscope.store.format.segment import read_segment
from necroscope.store.read.catalog import Segment, segments
from necroscope.store.read.sample_sums import sample_sums
from necroscope.store.write.writer import Writer
from stage.recorded import LOOP, START_NS, SYSCALL, WALK, batch, look, stack

IDLE = (("do_idle", "[kernel]"), ("default_idle", "[kernel]"))


@pytest.fixture
def parts(tmp_path: Path) -> list[Segment]:
    """Two segments that share one of their stacks, with an idle task in the second."""
    writer = Writer(tmp_path, flush_s=1e9)
    for number, known in enumerate(((SYSCALL, LOOP), (LOOP, WALK))):
        for second in range(10 * number, 10 * number + 10):
            at_ns = [START_NS + second * NS + place * NS // 50 for place in range(50)]
            made = batch(at_ns, [stack(frames) for frames in known], comms=("worker", "other"))
            writer.add_samples(replace(made, weight=np.arange(1, 51) * 1_000_000))
            writer.add_signals(START_NS + second * NS, look(second), "cpu")
            if number:
                nobody = batch([at + 7 for at in at_ns], [stack(IDLE)], comms=("swapper",))
                writer.add_samples(replace(nobody, pid=np.zeros(50, np.int32), tid=np.zeros(50, np.int32)))
        writer.seal()
    writer.close(merge=False)
    return segments(tmp_path)


def counted(parts: list[Segment]) -> tuple[Counter[tuple[object, ...]], Counter[tuple[object, ...]]]:
    """Weights of the samples by thread, and by thread name and stack."""
    tasks: Counter[tuple[object, ...]] = Counter()
    flames: Counter[tuple[object, ...]] = Counter()
    for part in parts:
        for row in read_segment(part)["samples"].to_pylist():
            tasks[row["event"], row["pid"], row["tid"], row["comm"], row["cgroup"]] += row["weight"]
            flames[row["event"], row["comm"], row["stack_id"]] += row["weight"]
    return tasks, flames


def test_nothing_is_lost_and_nothing_added(parts: list[Segment]) -> None:
    sums = sample_sums(parts)
    tasks, flames = counted(parts)
    by_task = {
        (row["event"], row["pid"], row["pid"] + row["thread"], row["comm"], row["cgroup"]): row["weight"]
        for row in sums["tasks"].to_pylist()
    }
    assert by_task == tasks
    ids = sums["stacks"]["stack_id"].to_pylist()
    by_stack = {(row["event"], row["comm"], ids[row["stack"]]): row["weight"] for row in sums["flames"].to_pylist()}
    assert by_stack == flames
    assert sum(sums["tasks"]["samples"].to_pylist()) == sum(sums["flames"]["samples"].to_pylist()) == 1500
    assert sum(sums["stacks"]["samples"].to_pylist()) == 1500


def test_rows_are_in_order_and_stacks_written_once(parts: list[Segment]) -> None:
    sums = sample_sums(parts)
    texts = sums["stacks"]["frames"].to_pylist()
    assert texts == sorted(set(texts))
    assert texts == sorted(
        "".join(f"{name}\x1f{module}\x1e" for name, module in one) for one in (SYSCALL, LOOP, WALK, IDLE)
    )
    assert _keys(sums, "flames", "event", "comm", "stack") == sorted(_keys(sums, "flames", "event", "comm", "stack"))
    assert _keys(sums, "tasks", "event", "comm", "pid") == sorted(_keys(sums, "tasks", "event", "comm", "pid"))


def test_only_the_idle_task_tells_its_innermost_frame(parts: list[Segment]) -> None:
    leaves = {(row["comm"], row["leaf"]) for row in sample_sums(parts)["tasks"].to_pylist()}
    assert leaves == {("worker", ""), ("other", ""), ("swapper", "default_idle\x1f[kernel]\x1e")}


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ("tasks", {"flames", "stacks"}),
        ("flames", {"tasks"}),
        ("cores", set()),
        ("samples", {"tasks", "flames", "stacks"}),
    ],
)
def test_where_a_segment_has_none_there_are_no_sums(parts: list[Segment], gone: str, left: set[str]) -> None:
    parts[0].file(gone).unlink()
    assert sample_sums(parts).keys() == left


def _keys(sums: Tables, name: str, *columns: str) -> list[tuple[object, ...]]:
    return [tuple(row[column] for column in columns) for row in sums[name].to_pylist()]
