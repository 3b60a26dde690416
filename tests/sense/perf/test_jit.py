"""Code that a process made and named itself."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from necroscope.sense.host import Host
from necroscope.sense.perf.jit import JitMaps, parse_jit_map

MAP = b"""7f0000001000 20 py::main:/app/main.py
0x7f0000002000 0x10 Interpreter
broken line
7f0000002000 30 name with blanks
"""


def test_lines_are_read_and_the_newest_counts() -> None:
    table = parse_jit_map(MAP)
    places = table.find(np.array([0x7F000000101F, 0x7F0000001020, 0x7F000000202F], np.uint64)).tolist()
    assert [table.name(place) if place >= 0 else "-" for place in places] == [
        "py::main:/app/main.py", "-", "name with blanks"
    ]  # fmt: skip


def test_an_empty_map_has_no_names() -> None:
    assert parse_jit_map(b"").find(np.array([1], np.uint64)).tolist() == [-1]


def test_the_map_lies_in_the_process_s_own_tmp_under_its_own_pid(tmp_path: Path) -> None:
    process = tmp_path / "proc/77"
    (process / "root/tmp").mkdir(parents=True)
    (process / "status").write_text("Name:\tx\nNSpid:\t77\t9\n")
    (process / "root/tmp/perf-9.map").write_bytes(MAP)
    table = JitMaps(Host(tmp_path)).table(77)
    assert table is not None
    assert len(table) == 2
    assert JitMaps(Host(tmp_path)).table(78) is None


def test_a_running_process_without_a_map_says_nothing() -> None:
    assert JitMaps(Host()).table(os.getpid()) is None
