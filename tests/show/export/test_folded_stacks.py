"""Folded stacks: totals are those of the samples, and names cannot break a line."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

from necroscope.query.select import Select
from necroscope.show.export import folded
from stage.exported import END_NS, opened_in_speedscope, rows, source, working
from stage.recorded import LOOP, START_NS, SYSCALL


def lines(store: Path, select: Select | None = None, idle: bool = False) -> list[str]:
    file = io.BytesIO()
    folded.write(source(store, select, idle), file)
    return file.getvalue().decode().splitlines()


def test_counts_are_those_of_the_samples(store: Path) -> None:
    counted = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines(store)}
    expected = Counter((row.comm, row.frames) for row in working())
    assert sum(counted.values()) == len(working())
    assert counted["worker;main;spin"] == expected["worker", LOOP]
    assert counted["worker;main;read;do_syscall_64_[k];vfs_read_[k]"] == expected["worker", SYSCALL]
    assert len(counted) == len(expected)


def test_names_cannot_break_a_line(store: Path) -> None:
    (odd,) = {line.rpartition(" ")[0] for line in lines(store) if line.startswith("my_thread:1;operator")}
    assert odd == "my_thread:1;operator:();Ljava/lang:\u00e9 x;\\x1b[31mred\\x0a_[k]"


def test_a_stack_without_frames_is_its_thread(store: Path) -> None:
    (bare,) = [line for line in lines(store) if line.startswith("worker ")]
    assert bare == f"worker {sum(row.comm == 'worker' and row.frames == () for row in working())}"


def test_a_selection_and_idle_samples(store: Path) -> None:
    select = Select((START_NS, END_NS), cpus=frozenset({1}), pids=frozenset({100}))
    got = sum(int(line.rpartition(" ")[2]) for line in lines(store, select, idle=True))
    assert got == sum(row.cpu == 1 and row.pid == 100 for row in rows()) > 0


def test_nothing_is_an_empty_file(store: Path) -> None:
    assert lines(store, Select((0, 1))) == []


def test_speedscope_opens_it(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "stacks.folded"
    with file.open("wb") as out:
        folded.write(source(store), out)
    (profile,) = opened_in_speedscope(file)["profiles"]
    assert profile["endValue"] - profile["startValue"] == len(working())
