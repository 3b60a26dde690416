"""Counting: nothing is lost or counted twice, whatever comes in which order."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from necroscope.query.samples.chunk import Chunk, StackTexts, Words
from necroscope.query.samples.counting import CUT, SampleCounter, count_samples
from necroscope.query.samples.sample_counts import SampleCounts, Task
from stage.looked import IDLE, LOOP, SYSCALL, text

WINDOWS = ((100, 199), (300, 399), (0, 50))
Row = tuple[int, int, int, str, str, str, int]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 450),
        st.integers(-1, 3),
        st.sampled_from([-1, 7, 8]),
        st.sampled_from(["a", "b c", ""]),
        st.sampled_from(["", "/x"]),
        st.sampled_from([text(LOOP), text(SYSCALL), text(IDLE), ""]),
        st.integers(0, 10**12),
    ),
    max_size=40,
)


def _words(values: list[str]) -> Words:
    names = tuple(dict.fromkeys(values))
    return Words(np.array([names.index(value) for value in values], np.int32), names)


def chunk(rows: list[Row], event: str = "cpu-clock") -> Chunk:
    at, cpu, tid, comm, cgroup, frames, weight = (list(column) for column in zip(*rows, strict=True))
    texts = sorted(set(frames))
    ids = np.array([hash(one) & 0xFFFF_FFFF for one in texts], np.uint64)
    return Chunk(
        np.array(at, np.int64),
        np.array(cpu, np.int32),
        np.array(tid, np.int32),
        np.array(tid, np.int32),
        _words(comm),
        _words(cgroup),
        _words([event] * len(rows)),
        np.array(weight, np.int64),
        np.array([texts.index(one) for one in frames], np.int64),
        StackTexts(ids, pa.array(texts, pa.string())),
    )


def counted(counts: SampleCounts) -> Counter[tuple[Task, str, int]]:
    found: Counter[tuple[Task, str, int]] = Counter()
    for task, stack, window, samples in zip(counts.task, counts.stack, counts.window, counts.samples, strict=True):
        found[counts.tasks[task], counts.stacks[stack], int(window)] += int(samples)
    return found


@given(st.lists(ROWS, max_size=4))
def test_every_sample_of_a_window_is_counted_once(parts: list[list[Row]]) -> None:
    counts = count_samples(WINDOWS, (chunk(rows) for rows in parts if rows))
    expected: Counter[tuple[Task, str, int]] = Counter()
    weight = [0] * len(WINDOWS)
    for at, _, tid, comm, cgroup, frames, heavy in (row for rows in parts for row in rows):
        for place, (low, high) in enumerate(WINDOWS):
            if low <= at <= high:
                expected[Task(tid, tid, comm, cgroup), frames, place] += 1
                weight[place] += heavy
    assert counted(counts) == expected
    assert counts.total()[0].tolist() == [sum(n for (_, _, w), n in expected.items() if w == one) for one in range(3)]
    assert np.allclose(counts.total()[1], weight)
    inside = [row for rows in parts for row in rows if any(low <= row[0] <= high for low, high in WINDOWS)]
    assert counts.cpus == {row[1] for row in inside if row[1] >= 0}


def test_an_empty_ledger() -> None:
    counts = count_samples(WINDOWS, [])
    assert counts.total()[0].tolist() == [0, 0, 0]
    assert (counts.event, counts.cut, counts.stacks, counts.tasks) == ("", 0, (), ())


def test_the_event_of_most_samples() -> None:
    counter = SampleCounter([(0, 100)])
    counter.add(chunk([(1, 0, 7, "a", "", text(LOOP), 1)] * 3, "cycles"))
    counter.add(chunk([(1, 0, 7, "a", "", text(LOOP), 1)] * 2, "cpu-clock"))
    counter.add(chunk([(500, 0, 7, "a", "", text(LOOP), 1)] * 9, "page-faults"))
    assert counter.close().event == "cycles"
    assert counter.events == {"cycles": 3, "cpu-clock": 2}


def test_rows_of_marked_stacks_are_left_out() -> None:
    counts = count_samples([(0, 9)], [chunk([(1, 0, 7, "a", "", text(LOOP), 5), (2, 0, 7, "a", "", text(IDLE), 7)])])
    marked = np.array([one == text(IDLE) for one in counts.stacks])
    assert counts.without(marked).total()[1].tolist() == [5.0]


def _deep(number: int) -> str:
    return text([("main", "x"), ("go", "x"), (f"leaf{number}", "x"), ("end", "x")])


def test_too_many_stacks_lose_inner_frames_and_no_samples() -> None:
    counter = SampleCounter([(0, 10**6)], most_stacks=20)
    rows = [(at, 0, 7, "a", "", _deep(at % 100), 3) for at in range(1000)]
    often = [(at, 0, 7, "a", "", _deep(1000), 3) for at in range(500)]
    rare_idle = [(1, 0, 7, "a", "", text(IDLE), 3)]
    for start in range(0, 1000, 50):
        counter.add(chunk(rows[start : start + 50] + often[start // 2 : start // 2 + 25] + rare_idle))
    counts = counter.close()
    assert counts.total()[0].tolist() == [1520]
    assert counts.total()[1].tolist() == [1520 * 3.0]
    by_stack = {stack: count for (_, stack, _), count in counted(counts).items()}
    assert by_stack[_deep(1000)] == 500
    assert by_stack[text(IDLE)] == 20
    assert by_stack[text([("main", "x"), ("go", "x")]) + CUT] > 500
    assert 500 < counts.cut <= 1000


def test_weights_larger_than_32_bits_add_up() -> None:
    counts = count_samples([(0, 9)], [chunk([(1, 0, 7, "a", "", text(LOOP), 1 << 52)] * 3)])
    assert counts.total()[1].tolist() == [3.0 * (1 << 52)]
