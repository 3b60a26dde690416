"""Flame graphs: widths are core time, differences are found, and chance is not taken for a change."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from necroscope.query.profile.changes import changes
from necroscope.query.profile.flame import Flame, flame
from necroscope.query.profile.tree import tree
from necroscope.query.samples.sample_counts import SampleCounts, Task
from stage.looked import HZ, counts_of, noisy, text

TASK = (Task(1, 1, "one", ""),)
MAIN, GO, NEW = ("main", "x"), ("go", "x"), ("new", "[kernel]")


def drawn(counts: SampleCounts, cores: int, narrowest: float = 0.0005) -> Flame:
    seconds = np.full(len(counts.windows), 5.0)
    return flame(tree(counts), seconds, seconds * cores, 1e-9, narrowest)


def test_widths_are_shares_of_the_core_time() -> None:
    numbers = np.array([[HZ * 5], [HZ * 10], [0]])
    stacks = [text([MAIN]), text([MAIN, GO]), text([NEW])]
    made = drawn(counts_of(numbers, stacks, TASK, np.zeros(3, np.int64)), 4)
    assert (made.cores, made.samples, made.seconds) == (pytest.approx(3.0), HZ * 15, 5.0)
    assert not made.differential
    assert [(box.name, box.depth, box.samples) for box in made.boxes] == [
        ("all", 0, HZ * 15),
        ("one", 1, HZ * 15),
        ("main", 2, HZ * 15),
        ("go", 3, HZ * 10),
    ]
    go = made.boxes[-1]
    assert (go.cores, go.x0, go.x1) == (pytest.approx(2.0), 0.0, pytest.approx(2 / 3))
    assert (go.before, go.change, go.significant) == (None, 0.0, False)
    assert made.rows == 4


def test_boxes_lie_within_their_callers_and_beside_each_other() -> None:
    made = drawn(noisy(2, 5), 2)
    by_node = {box.node: box for box in made.boxes}
    parent = tree(noisy(2, 5)).parent
    for box in made.boxes[1:]:
        above = by_node[int(parent[box.node])]
        assert above.x0 - 1e-9 <= box.x0 <= box.x1 <= above.x1 + 1e-9
    for depth in range(made.rows):
        row = sorted((box for box in made.boxes if box.depth == depth), key=lambda box: box.x0)
        assert all(one.x1 <= other.x0 + 1e-9 for one, other in pairwise(row))


def test_narrow_boxes_are_counted_and_what_changed_is_shown_however_narrow() -> None:
    counts = noisy(96, 1, planted=0.02)
    made = drawn(counts, 96, narrowest=0.01)
    assert made.hidden == len(tree(counts)) - len(made.boxes) > 1000
    (planted,) = [box for box in made.boxes if box.name == "planted"]
    assert planted.significant
    assert planted.x1 - planted.x0 < 0.01
    assert (planted.before, planted.change) == (0.0, planted.cores)


def test_what_is_gone_is_there_too() -> None:
    numbers = np.array([[0] + [200] * 24, [200] * 25])
    stacks = [text([MAIN, GO]), text([MAIN])]
    made = drawn(counts_of(numbers, stacks, TASK, np.zeros(2, np.int64)), 2)
    (gone,) = [box for box in made.boxes if box.name == "go"]
    assert (gone.samples, gone.cores, gone.before) == (0, 0.0, pytest.approx(200 / HZ / 5))
    assert gone.x1 > gone.x0
    assert made.differential


@pytest.mark.parametrize("cores", [2, 96])
def test_a_window_does_not_differ_from_itself(cores: int) -> None:
    """Once, against one copy, and against as many as a baseline has."""
    counts = noisy(cores, 3, blocks=1)
    first = counts.window == 0
    numbers = np.zeros((len(counts.stacks), 1), np.int64)
    np.add.at(numbers, (counts.stack[first], 0), counts.samples[first])
    of_task = np.zeros(len(counts.stacks), np.int64)
    of_task[counts.stack] = counts.task
    for copies in (1, 24):
        same = counts_of(numbers.repeat(copies + 1, axis=1), counts.stacks, counts.tasks, of_task)
        made = drawn(same, cores)
        assert not [box for box in made.boxes if box.significant]
        assert changes(made) == ()
        assert max(abs(box.change) for box in made.boxes) < 1e-9


@pytest.mark.parametrize("cores", [2, 96])
def test_two_percent_of_a_core_in_five_seconds_are_found_and_come_first(cores: int) -> None:
    first = 0
    for seed in range(10):
        found = changes(drawn(noisy(cores, seed, planted=0.02), cores))
        first += bool(found) and found[0].path[-1].name == "planted"
    assert first >= 9


@pytest.mark.parametrize("cores", [2, 96])
def test_noise_is_not_taken_for_a_change(cores: int) -> None:
    assert sum(bool(changes(drawn(noisy(cores, seed), cores))) for seed in range(100, 120)) <= 1
