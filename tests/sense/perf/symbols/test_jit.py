"""Code that a process made and named itself."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.sense.perf.symbols.jit import MOST_LINES, MapLines, parse_jit_map

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


def table_of(data: bytes, pieces: int) -> tuple[MapLines, list[str]]:
    lines = MapLines()
    while lines.read < len(data):
        before = lines.read
        lines.take(data[lines.read : lines.read + pieces])
        if lines.read == before:
            break
    table = lines.table(lambda at: data[at:].partition(b"\n")[0])
    return lines, [table.name(place) for place in range(len(table))]


def test_a_map_read_in_pieces_is_the_same() -> None:
    assert table_of(MAP, 64)[1] == table_of(MAP, 1 << 20)[1] == ["py::main:/app/main.py", "name with blanks"]


def test_a_line_that_is_not_finished_waits() -> None:
    lines = MapLines()
    lines.take(b"10 10 whole\n20 10 ha")
    assert (lines.start.tolist(), lines.read) == ([0x10], 12)
    lines.take(b"20 10 half\n")
    assert lines.start.tolist() == [0x10, 0x20]


@pytest.mark.parametrize(
    "line", [b"", b"10", b"10 10", b"10 10 ", b"g 10 a", b"10 0x a", b"1" * 17 + b" 1 a", b"\0" * 40, b"10" + b" " * 9]
)
def test_what_is_no_line_is_passed_over(line: bytes) -> None:
    assert table_of(line + b"\n10 10 good\n", 1 << 20)[1] == ["good"]


def test_a_map_of_many_short_lines_is_bounded() -> None:
    lines = MapLines()
    data = b"1 1 a\n" * (MOST_LINES + 1000)
    lines.take(data)
    assert (lines.start.size, lines.full) == (MOST_LINES, True)
    assert lines.nbytes == 24 * MOST_LINES


def test_a_line_without_an_end_is_passed_over() -> None:
    lines = MapLines()
    lines.take(b"10 10 " + b"x" * 100_000)
    assert lines.read == 100_006
