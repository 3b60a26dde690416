"""A heat map in a terminal. One hot row among hundreds is seen: rows that share a line show the highest of them.

With colours, a line holds two rows (the upper and the lower half of its characters). Without, shades or digits do; the
same shades are under the colours, for whoever copies them out of the terminal.
What is unknown is a dim dot on the terminal's own background, which no value looks like.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.text import Text

from necroscope.clock import NS
from necroscope.quantity import count, plural, span
from necroscope.query.cores.grid import Grid, Mark
from necroscope.query.cores.hottest import HotRow, hottest
from necroscope.show.caption import Caption, utc
from necroscope.show.cells import cut, listed, padded, stacked
from necroscope.show.heatmap.coarse import Stretch, coarse, group_label
from necroscope.show.heatmap.scale import percent, scale_of
from necroscope.show.plain import plain
from necroscope.show.shade import LEVELS, Depth, heat_terminal, level_of
from necroscope.show.ticks import time_label, time_ticks

SHADES = " ░▒▓█"
DIGITS = "0123456789"
UNKNOWN = "·"
_FIGURE = 6
_LABEL_SPACE = 12


def heat_text(
    grid: Grid,
    width: int,
    depth: Depth = "none",
    caption: Caption | None = None,
    max_lines: int = 32,
    top: float | None = 1.0,
    digits: bool = False,
    most_rows: int = 5,
    most_marks: int = 12,
) -> Text:
    """The picture, at most `width` wide, its map at most `max_lines` high. `top` is the value of the hottest shade.

    Without `top`, that is the highest value. `digits` writes tenths of it where there are no colours.
    """
    caption, width = caption or Caption(), max(24, width)
    single = depth == "none" or len(grid.rows) <= max_lines // 2
    shown = coarse(grid, max_lines * (1 if single else 2), grid.columns)
    gutter = min(1 + max((len(name) for name in _names(shown, single)), default=0), max(6, width // 4))
    stretch = Stretch(shown.columns, max(1, width - gutter - _FIGURE - 1))
    scale = scale_of(grid, top)
    lines = list(_heading(grid, shown, stretch, caption, width))
    lines.append(_scale_line(scale, depth, digits, width))
    lines += _map(shown, gutter, stretch, scale, depth, digits, single)
    groups = marked(shown, stretch)
    lines += _carets(groups, gutter, width)
    lines.append(_axis(shown, gutter, stretch, width))
    lines += _mark_lines(groups, shown, width, most_marks)
    lines += _hottest(hottest(grid, most_rows), grid, width)
    return stacked(lines)


def _heading(grid: Grid, shown: Grid, stretch: Stretch, caption: Caption, width: int) -> Iterator[Text]:
    if caption.title:
        yield Text(cut(plain(caption.title), width), style="bold")
    window = caption.window or (grid.from_ns, grid.from_ns + grid.columns * grid.column_ns)
    column_ns = grid.column_ns * max(1.0, grid.columns / stretch.cells)
    facts = [plain(grid.unit), plural(len(grid.rows), "row"), utc(window), f"{span(column_ns / NS)} a column"]
    if len(shown.rows) < len(grid.rows) or stretch.cells < grid.columns:
        tall, wide = -(-len(grid.rows) // max(1, len(shown.rows))), -(-grid.columns // stretch.cells)
        facts.append(f"a cell shows the highest of {plural(tall, 'row')} × {plural(wide, 'column')}")
    for line in listed(facts, width):
        yield Text(line, style="dim" if caption.title else "")


def _scale_line(scale: float, depth: Depth, digits: bool, width: int) -> Text:
    line = Text("0 ", no_wrap=True)
    if depth == "none":
        line.append(DIGITS if digits else "".join(shade * 4 for shade in SHADES))
    else:
        for level in range(0, LEVELS, 2):
            colour = heat_terminal(level, depth)
            line.append(shade_of(level / (LEVELS - 1)), style=f"{colour} on {colour}")
    line.append(f" {percent(scale)}   {UNKNOWN}{'' if depth == 'none' else ' or no colour'}: not known")
    line.truncate(width)
    return line


def _names(shown: Grid, single: bool) -> list[str]:
    """The label of each line."""
    step = 1 if single else 2
    rows = shown.rows
    return [plain(group_label(rows[at], rows[min(at + step, len(rows)) - 1])) for at in range(0, len(rows), step)]


# -- cells -------------------------------------------------------------------------------------------------------


def _map(
    shown: Grid, gutter: int, stretch: Stretch, scale: float, depth: Depth, digits: bool, single: bool
) -> Iterator[Text]:
    values: list[list[float]] = stretch.spread(shown.values / scale).tolist()
    step = 1 if single else 2
    for name, first in zip(_names(shown, single), range(0, len(values), step), strict=True):
        rows = values[first : first + step]
        line = Text(f"{padded(name, gutter - 1)} ", no_wrap=True)
        upper, lower = rows[0], rows[-1] if len(rows) > 1 else None
        if depth == "none":
            line.append("".join(shade_of(value, digits) for value in upper))
        else:
            _append_colours(line, upper, lower, depth, single)
        known = [value for row in rows for value in row if not math.isnan(value)]
        most = max(known) if known else math.nan
        figure = "?" if math.isnan(most) else percent(most * scale)
        line.append(f" {figure:>{_FIGURE}}", style="bold" if most >= 0.9 else "dim")
        yield line


def shade_of(value: float, digits: bool = False) -> str:
    """The character of a value from 0 to 1. Only what is above 0 has a shade, only nearly 1 has the darkest."""
    if math.isnan(value):
        return UNKNOWN
    if digits:
        return DIGITS[max(0, min(9, int(value * 10)))]
    return SHADES[0 if value < 0.05 else max(1, min(4, 1 + int(value * 10 / 3)))]


def _append_colours(
    line: Text, upper: Sequence[float], lower: Sequence[float] | None, depth: Depth, single: bool
) -> None:
    """Neighbours that look alike become one span: a terminal gets a tenth of the escape sequences."""
    below = upper if single else lower if lower is not None else [math.nan] * len(upper)
    cells = [_cell(top, bottom, depth, lower is None and not single) for top, bottom in zip(upper, below, strict=True)]
    for (char, style), same in groupby(cells):
        line.append(char * sum(1 for _ in same), style=style)


def _cell(top: float, bottom: float, depth: Depth, last: bool) -> tuple[str, str]:
    """Character and style of two values above each other. Copied without its colours, it still says how high they are:
    a shade for both, or a block in the half of the higher one."""
    if math.isnan(top) and math.isnan(bottom):
        return UNKNOWN, "dim"
    upper, lower = (None if math.isnan(one) else heat_terminal(level_of(one), depth) for one in (top, bottom))
    if upper == lower:
        return shade_of(max(top, bottom)), f"{upper} on {upper}"
    if upper is None:
        return "▄", f"{lower}"
    if lower is None or last:
        return "▀", upper
    return ("▀", f"{upper} on {lower}") if top > bottom else ("▄", f"{lower} on {upper}")


# -- time, marks, figures --------------------------------------------------------------------------------------


def _axis(shown: Grid, gutter: int, stretch: Stretch, width: int) -> Text:
    line = " " * gutter
    long_ns = max(1, shown.columns * shown.column_ns)
    for at_ns, label in time_ticks(shown.from_ns, shown.from_ns + long_ns, max(1, stretch.cells // _LABEL_SPACE)):
        at = gutter + stretch.cell((at_ns - shown.from_ns) / shown.column_ns)
        if at >= len(line) and at + len(label) + 1 <= width:
            line = f"{line:<{at}}╵{label}"
    return Text(line, style="dim")


def marked(shown: Grid, stretch: Stretch) -> list[tuple[int, list[Mark]]]:
    """Cells that have marks, and these, by time; what lies outside of the map is left out."""
    inside = sorted((mark for mark in shown.marks if 0 <= mark.column < shown.columns), key=lambda mark: mark.column)
    return [(cell, list(same)) for cell, same in groupby(inside, key=lambda mark: stretch.cell(mark.column))]


def _carets(groups: Sequence[tuple[int, Sequence[Mark]]], gutter: int, width: int) -> Iterator[Text]:
    """A caret below each cell with marks, and its number where there is room."""
    carets, numbers = "", ""
    for number, (cell, _) in enumerate(groups, 1):
        carets = f"{carets:<{gutter + cell}}▲"
        if gutter + cell >= len(numbers) + (1 if numbers else 0) and gutter + cell + len(str(number)) <= width:
            numbers = f"{numbers:<{gutter + cell}}{number}"
    if groups:
        yield Text(carets, style="bold")
        yield Text(numbers, style="bold")


def _mark_lines(groups: Sequence[tuple[int, Sequence[Mark]]], shown: Grid, width: int, most: int) -> Iterator[Text]:
    numbered = [(number, mark) for number, (_, group) in enumerate(groups, 1) for mark in group]
    for number, mark in numbered[:most]:
        yield _mark_line(number, mark, shown, width)
    if len(numbered) > most:
        yield Text(cut(f"… and {count(len(numbered) - most)} more", width), style="dim")


def _mark_line(number: int, mark: Mark, shown: Grid, width: int) -> Text:
    at = time_label(shown.from_ns + int(mark.column * shown.column_ns), 1)
    line = Text(f"{number:>3} ▲ ", style="bold", no_wrap=True)
    line.append(cut(f"{at}  {plain(mark.kind)}  {plain(mark.text[: 4 * width])}", width - 6), style="not bold")
    line.truncate(width)
    return line


def _hottest(rows: Sequence[HotRow], grid: Grid, width: int) -> Iterator[Text]:
    if not rows or len(grid.rows) < 2:
        return
    name = min(max(len(plain(hot.row)) for hot in rows), max(8, width - 48))
    yield Text()
    yield Text(cut("Hottest rows", width), style="bold")
    for hot in rows:
        figures = f"mean {percent(hot.mean):>6}  most {percent(hot.most):>6}  from {time_label(hot.at_ns, NS)}"
        yield Text(cut(f"  {padded(plain(hot.row), name)}  {figures}", width))
