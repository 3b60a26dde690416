"""A heat map in a terminal: no hot row is lost, marks stand where they belong, unknown is not zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from necroscope.clock import NS
from necroscope.query.cores.grid import Grid, Mark
from necroscope.show.caption import Caption
from necroscope.show.heatmap.coarse import Stretch, coarse, group_label
from necroscope.show.heatmap.text import heat_text, shade_of
from necroscope.show.shade import LEVELS, Depth, heat, heat_terminal, hexed
from show.layouts import START_NS, cores


def _lines(text: Text) -> list[str]:
    return text.plain.split("\n")


def _line(text: Text, label: str) -> str:
    return next(line for line in _lines(text) if line.startswith(label))


def test_one_saturated_core_of_96_has_the_hottest_shade_at_80_columns() -> None:
    line = _line(heat_text(cores(), 80), "cpu 39-41")
    cells = line[10:73]
    assert cells == "░" * 21 + "█" * 32 + "·" + "█" * 9
    assert line.endswith("100 %")
    others = [line for line in _lines(heat_text(cores(), 80)) if line.startswith("cpu ") and "39-41" not in line]
    assert len(others) == 31
    assert not any("█" in line for line in others)


@pytest.mark.parametrize("depth", ["256", "true"])
def test_one_saturated_core_has_the_hottest_colour(depth: Depth) -> None:
    text = heat_text(cores(), 80, depth)
    line = next(row for row in text.split("\n") if row.plain.startswith("cpu 40-43"))
    hottest_style, cool = heat_terminal(LEVELS - 1, depth), heat_terminal(int(0.1 * LEVELS), depth)
    assert [str(span.style) for span in line.spans if span.start <= 40 < span.end] == [f"{hottest_style} on {cool}"]
    assert line.plain[40] == "▀"
    elsewhere = [
        row for row in text.split("\n") if row.plain.startswith("cpu ") and not row.plain.startswith("cpu 40-43")
    ]
    drawn = [str(span.style) for row in elsewhere for span in row.spans]
    assert len(elsewhere) == 23
    assert drawn
    assert not any(hottest_style in style for style in drawn)


@pytest.mark.parametrize("depth", ["256", "true"])
def test_copied_without_its_colours_a_map_still_shows_the_hot_core(depth: Depth) -> None:
    """Where a line is a row: its shades. Where it is two: a block in the half of the higher one."""
    few = _line(heat_text(cores(rows=4, hot=2), 80, depth), "cpu 2 ")
    assert few.count("█") > 40
    assert "█" not in _line(heat_text(cores(rows=4, hot=2), 80, depth), "cpu 1 ")
    values = np.array([[1.0, 0.0, 1.0, 0.0, 0.5], [0.0, 1.0, 1.0, 0.0, 0.5]])
    both = Grid(("cpu 0", "cpu 1"), values, START_NS, NS, "share")
    line = _line(heat_text(both, 40, depth, max_lines=2), "cpu 0-1")
    assert "".join(dict.fromkeys(line[len("cpu 0-1 ") : 33])) == "▀▄█ ▒"
    legend = heat_text(cores(), 80, depth).split("\n")[2].plain
    assert all(shade in legend for shade in "░▒▓█")


def test_few_rows_get_a_line_each() -> None:
    text = heat_text(cores(rows=4, hot=2), 80, "true")
    line = next(row for row in text.split("\n") if row.plain.startswith("cpu 2 "))
    hot = hexed(heat(LEVELS - 1))
    assert f"{hot} on {hot}" in [str(span.style) for span in line.spans]


def test_the_hottest_single_rows_are_listed() -> None:
    lines = _lines(heat_text(cores(), 80))
    assert lines[lines.index("Hottest rows") + 1] == "  cpu 41  mean   69 %  most  100 %  from 03:03:20"
    assert len(lines) - lines.index("Hottest rows") == 1 + 5


def test_marks_stand_below_their_column() -> None:
    text = heat_text(cores(), 80)
    lines = _lines(text)
    carets = next(line for line in lines if "▲" in line)
    numbers = lines[lines.index(carets) + 1]
    hot = _line(text, "cpu 39-41").index("█")
    assert [at for at, char in enumerate(carets) if char == "▲"] == [hot, 10 + 39]
    assert numbers.strip().split() == ["1", "2"]
    assert numbers.index("2") == 49
    legend = [line for line in lines if line[4:5] == "▲"]
    assert legend == [
        "  1 ▲ 03:03:20.500  symptom  TX queue 12 is stuck",
        "  2 ▲ 03:03:37.000  symptom  soft lockup",
        "  2 ▲ 03:03:37.010  mark  deploy",
    ]


def test_the_time_axis_is_in_utc() -> None:
    axis = next(line for line in _lines(heat_text(cores(), 80)) if "╵" in line)
    assert axis.replace("╵", " ").split() == ["03:03:00", "03:03:15", "03:03:30", "03:03:45"]
    assert axis.index("╵03:03:00") == 10
    assert axis.index("╵03:03:30") == 10 + 32


def test_the_scale_follows_the_highest_value_when_asked() -> None:
    grid = Grid(("0 ms", "20 ms"), np.array([[0.01, 0.02], [0.04, 0.0]]), START_NS, NS, "share of the cores")
    lines = _lines(heat_text(grid, 40, top=None))
    assert any(line.startswith("0 ") and "4.0 %" in line for line in lines)
    assert "█" in _line(heat_text(grid, 40, top=None), "20 ms")
    assert "█" not in _line(heat_text(grid, 40), "20 ms")


def test_shades_and_digits() -> None:
    assert [shade_of(value) for value in (0.0, 0.049, 0.05, 0.3, 0.6, 0.9, 1.0, 3.0, float("nan"))] == list("  ░▒▓███·")
    assert [shade_of(value, True) for value in (0.0, 0.55, 1.0, -1.0, float("nan"))] == list("0590·")


def test_unknown_is_not_zero_in_colours() -> None:
    grid = Grid(("a",), np.array([[0.0, np.nan]]), START_NS, NS, "x")
    line = next(row for row in heat_text(grid, 40, "true").split("\n") if row.plain.startswith("a"))
    zero, unknown = line.spans[0], line.spans[1]
    assert (str(zero.style), line.plain[zero.start]) == (f"{hexed(heat(0))} on {hexed(heat(0))}", " ")
    assert (str(unknown.style), line.plain[unknown.start]) == ("dim", "·")


# -- grouping ------------------------------------------------------------------------------------------------------


def test_groups_are_named() -> None:
    assert group_label("cpu 40", "cpu 43") == "cpu 40-43"
    assert group_label("cpu 40-41", "cpu 42-43") == "cpu 40-43"
    assert group_label("0 ms", "60 ms") == "0-60 ms"
    assert group_label("bash", "sshd") == "bash … sshd"
    assert group_label("cpu 7", "cpu 7") == "cpu 7"


def test_coarse_takes_the_highest_and_keeps_unknown() -> None:
    values = np.array([[0.1, np.nan, np.nan, 0.2, 0.3], [0.9, np.nan, np.nan, 0.1, np.nan], [0.0, 0.5, 0.1, 0.1, 0.1]])
    grid = Grid(("cpu 0", "cpu 1", "cpu 2"), values, START_NS, NS, "x", (Mark(3.0, "mark", "", 1),))
    found = coarse(grid, 2, 3)
    assert found.rows == ("cpu 0-1", "cpu 2")
    np.testing.assert_array_equal(found.values, [[0.9, 0.2, 0.3], [0.5, 0.1, 0.1]])
    assert (found.column_ns, found.marks[0].column) == (2 * NS, 1.5)
    assert coarse(grid, 3, 5) is grid


@given(st.integers(1, 300), st.integers(1, 300), st.data())
def test_each_column_is_shown_and_marks_fall_into_its_cells(columns: int, cells: int, data: st.DataObject) -> None:
    stretch, column = Stretch(columns, cells), data.draw(st.integers(0, columns - 1))
    values = np.zeros((1, columns))
    values[0, column] = 1.0
    spread = stretch.spread(values)
    assert spread.shape == (1, cells)
    cell = stretch.cell(column + data.draw(st.floats(0, 0.999)))
    assert spread[0, cell] == 1.0


@pytest.mark.parametrize("depth", ["none", "256", "true"])
@settings(max_examples=40, deadline=None)
@given(name=st.text(max_size=50), width=st.integers(24, 220), rows=st.integers(0, 130), columns=st.integers(1, 250))
def test_never_wider_or_higher_than_asked(depth: Depth, name: str, width: int, rows: int, columns: int) -> None:
    values = np.linspace(-0.5, 1.5, rows * columns).reshape(rows, columns)
    values[::3, ::2] = np.nan
    marks = tuple(Mark(float(at), name, name, at) for at in range(0, columns, 3))
    grid = Grid(tuple(f"{name}{row}" for row in range(rows)), values, START_NS, NS, name, marks)
    for shown in (grid, replace(grid, marks=())):
        lines = _lines(heat_text(shown, width, depth, Caption(name), max_lines=20))
        assert max(cell_len(line) for line in lines) <= width
        assert all(line.isprintable() for line in lines)
        assert len(lines) <= 20 + 30
