"""Trees of calls: totals are those of the counts, sums over subtrees are right."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.query.profile.tree import tree
from necroscope.query.samples.counting import count_samples
from necroscope.query.samples.sample_counts import SampleCounts, Task
from stage.looked import counts_of, text

NAMES = st.sampled_from(["a", "ab", "b", "a;b", "\x1b[0m", "é"])
STACKS = st.lists(st.lists(st.tuples(NAMES, st.sampled_from(["", "[kernel]"])), max_size=5), min_size=1, max_size=12)
TASKS = (Task(1, 1, "one", ""), Task(2, 2, "two", ""), Task(3, 3, "one", "/x"))


def _counts(stacks: list[list[tuple[str, str]]], seed: int) -> SampleCounts:
    unique = list(dict.fromkeys(map(text, stacks)))
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 4, (len(unique), 3))
    return counts_of(numbers, unique, TASKS, rng.integers(0, 3, len(unique)))


def _sums(counts: SampleCounts, by_task: bool) -> Counter[tuple[tuple[str, ...], int]]:
    """Samples of every path and window, added up one by one."""
    found: Counter[tuple[tuple[str, ...], int]] = Counter()
    for task, stack, window, samples in zip(counts.task, counts.stack, counts.window, counts.samples, strict=True):
        frames = [counts.tasks[task].comm] if by_task else []
        frames += counts.stacks[stack].split("\x1e")[:-1]
        for depth in range(len(frames) + 1):
            found[tuple(frames[:depth]), int(window)] += int(samples)
    return found


@given(STACKS, st.integers(0, 9), st.booleans())
def test_sums_over_subtrees_are_right(stacks: list[list[tuple[str, str]]], seed: int, by_task: bool) -> None:
    counts = _counts(stacks, seed)
    made = tree(counts, by_task=by_task)
    assert made.samples[0].tolist() == counts.total()[0].tolist()
    assert made.weight[0] == pytest.approx(counts.total()[1])
    assert made.own.sum(axis=0).tolist() == counts.total()[0].tolist()
    expected = _sums(counts, by_task)
    seen = set()
    for node in range(len(made)):
        place, frames = node, []
        while place > 0:
            module = made.modules[place]
            top = by_task and made.depth[place] == 1
            frames.append(made.names[place] if top else f"{made.names[place]}\x1f{module}")
            place = int(made.parent[place])
        path = tuple(frames[::-1])
        assert path not in seen
        seen.add(path)
        assert made.depth[node] == len(path)
        assert [expected[path, window] for window in range(3)] == made.samples[node].tolist()
    assert {path for (path, _), count in expected.items() if count} <= seen


@given(STACKS, st.integers(0, 9))
def test_what_lies_below_a_node_follows_it(stacks: list[list[tuple[str, str]]], seed: int) -> None:
    made = tree(_counts(stacks, seed))
    for node in range(len(made)):
        below = [other for other in range(len(made)) if _under(made.parent, other, node)]
        assert below == list(range(node, int(made.end[node])))


def _under(parent: np.ndarray, node: int, above: int) -> bool:
    while node > above:
        node = int(parent[node])
    return node == above


def test_paths_names_and_modules() -> None:
    numbers = np.array([[2, 0], [1, 4]])
    stacks = [text([("main", "x"), ("go", "x")]), text([("main", "x"), ("go", "x"), ("deep", "[kernel]")])]
    made = tree(counts_of(numbers, stacks, TASKS[:1], np.zeros(2, np.int64)), root="node 7")
    assert made.names == ("node 7", "one", "main", "go", "deep")
    assert made.modules == ("", "", "x", "x", "[kernel]")
    assert made.path(4) == ("one", "main", "go", "deep")
    assert made.samples.tolist() == [[3, 4], [3, 4], [3, 4], [3, 4], [1, 4]]
    assert made.own.tolist() == [[0, 0], [0, 0], [0, 0], [2, 0], [1, 4]]


def test_nothing_at_all() -> None:
    made = tree(count_samples([(0, 1)], []))
    assert (len(made), made.names, made.samples.tolist()) == (1, ("all",), [[0]])


def test_a_run_of_nameless_frames_is_one_node() -> None:
    nobody, other = "[unknown]\x1f[unknown]\x1e", "[unknown]\x1flibx.so\x1e"
    texts = (nobody * 3 + "f\x1fm\x1e", nobody + "f\x1fm\x1e", nobody * 2 + other * 2, "f\x1fm\x1e" * 2)
    one = np.ones(4, np.int64)
    numbers = np.arange(4)
    counts = SampleCounts(
        ((0, 9),), (Task(1, 1, "c", ""),), texts, one * 0, numbers, one * 0, one, one.astype(np.float64)
    )
    made = tree(counts)
    paths = {made.path(node): int(made.samples[node, 0]) for node in range(len(made))}
    assert paths == {
        (): 4,
        ("c",): 4,
        ("c", "[unknown]"): 3,
        ("c", "[unknown]", "f"): 2,
        ("c", "[unknown]", "[unknown]"): 1,
        ("c", "f"): 1,
        ("c", "f", "f"): 1,
    }
    assert made.samples[0, 0] == 4
