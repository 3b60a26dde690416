"""A heat map as a picture and as an SVG that a browser opens: point at a cell to read its row, time and value."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.quantity import count, plural, span
from necroscope.query.cores.grid import Grid, Mark
from necroscope.query.cores.hottest import hottest
from necroscope.show.caption import Caption, utc
from necroscope.show.heatmap.coarse import coarse
from necroscope.show.heatmap.scale import percent, scale_of
from necroscope.show.picture import CHARACTER, Area, Label, Line, Picture, Raster, Shape, fitting, svg
from necroscope.show.plain import plain
from necroscope.show.shade import LEVELS, heat
from necroscope.show.ticks import time_label, time_ticks

_MARGIN, _TOP, _MOST_ROWS, _MOST_COLUMNS = 12.0, 70.0, 600, 1200
_NAME, _MOST_MARKS, _HOTTEST, _LONGEST = 60, 12, 5, 400
_UNKNOWN = (128, 128, 128, 90)


def heat_svg(grid: Grid, caption: Caption | None = None, width: int = 1200, top: float | None = 1.0) -> str:
    """The SVG document."""
    script = resources.files("necroscope.show.heatmap").joinpath("heat.js").read_text("utf-8")
    return svg(heat_picture(grid, caption, width, top), script)


def heat_picture(grid: Grid, caption: Caption | None = None, width: int = 1200, top: float | None = 1.0) -> Picture:
    """The map; where there are more rows or columns than can be drawn, a cell shows the highest of some.

    `top` is the value of the hottest colour, by default all of it; None takes the highest value.
    """
    caption, width, scale = caption or Caption(), max(300, width), scale_of(grid, top)
    shown = coarse(grid, _MOST_ROWS, _MOST_COLUMNS)
    names = [plain(row[:_NAME]) for row in shown.rows]
    left = _MARGIN + min(220.0, 8 + 11 * CHARACTER * max((len(name) for name in names), default=0))
    inner, tall = width - left - _MARGIN, max(2, min(20, 600 // max(1, len(names))))
    below = _TOP + tall * len(names)
    title = caption.title or plain(grid.unit)
    shapes: list[Shape] = [Label(_MARGIN, _MARGIN + 14, fitting(plain(title), width * 0.4, 16), 16, bold=True)]
    shapes.append(Label(_MARGIN, _MARGIN + 32, fitting(_facts(grid, shown, caption), width - 24), tone="dim"))
    shapes += _scale(scale, width)
    shapes.append(Raster(left, _TOP, inner, tall * len(names), pixels(shown, scale)))
    shapes += _rows(shown, names, left, inner, tall)
    shapes += _axis(shown, left, inner, below)
    groups = _marked(shown, inner)
    shapes += _mark_lines(groups, shown, left, inner, below)
    notes = list(_notes(groups, shown, grid, below + 44, width))
    height = below + 44 + 16 * len(notes) if notes else below + 32
    data = _data(shown, names, scale, left, inner, tall)
    return Picture(width, round(height + _MARGIN), title, (*shapes, *notes), data)


def pixels(grid: Grid, scale: float) -> NDArray[np.uint8]:
    """Each value as red, green, blue and opacity; a half transparent grey, which is in no scale, is unknown."""
    table = np.array([(*heat(level), 255) for level in range(LEVELS)] + [_UNKNOWN], np.uint8)
    levels = np.clip(np.nan_to_num(grid.values / scale) * LEVELS, 0, LEVELS - 1).astype(np.int64)
    found: NDArray[np.uint8] = table[np.where(np.isnan(grid.values), LEVELS, levels)]
    return found


def _facts(grid: Grid, shown: Grid, caption: Caption) -> str:
    window = caption.window or (grid.from_ns, grid.from_ns + grid.columns * grid.column_ns)
    facts = [plain(grid.unit)] if caption.title else []
    facts += [plural(len(grid.rows), "row"), utc(window), f"{span(shown.column_ns / NS)} a column"]
    tall, wide = -(-len(grid.rows) // max(1, len(shown.rows))), shown.column_ns // max(1, grid.column_ns)
    if tall > 1 or wide > 1:
        facts.append(f"the highest of {plural(tall, 'row')} × {plural(wide, 'column')}")
    return " · ".join(facts)


def _scale(scale: float, width: int) -> Iterator[Shape]:
    """The colours and what they stand for, at the right end of the title's line."""
    at, wide = width - _MARGIN - 300, 2.5
    yield Label(at - 6, _MARGIN + 14, "0", anchor="end", tone="dim")
    for level in range(LEVELS):
        yield Area(at + level * wide, _MARGIN + 3, wide + 0.3, 14, heat(level))
    at += LEVELS * wide + 6
    yield Label(at, _MARGIN + 14, percent(scale), tone="dim")
    yield Raster(at + 48, _MARGIN + 3, 14, 14, np.array([[_UNKNOWN]], np.uint8))
    yield Label(at + 66, _MARGIN + 14, "not known", tone="dim")


def _rows(shown: Grid, names: Sequence[str], left: float, inner: float, tall: int) -> Iterator[Shape]:
    """Labels where there is room, and for each row what can be read when pointing at it."""
    every = -(-12 // tall)
    for place, name in enumerate(names):
        known = shown.values[place][~np.isnan(shown.values[place])]
        figures = f"mean {percent(known.mean())}, most {percent(known.max())}" if known.size else "not known"
        top = _TOP + place * tall
        if place % every == 0:
            label = fitting(name, left - _MARGIN - 6, 11)
            yield Label(left - 6, top + tall / 2 + 4, label, 11, "end", "dim")
        yield Area(left, top, inner, tall, None, f"{name}: {figures}")


def _axis(shown: Grid, left: float, inner: float, below: float) -> Iterator[Shape]:
    long_ns = max(1, shown.columns * shown.column_ns)
    yield Line(left, below + 3, left + inner, below + 3)
    for at_ns, label in time_ticks(shown.from_ns, shown.from_ns + long_ns, int(inner // 110)):
        at = left + inner * (at_ns - shown.from_ns) / long_ns
        yield Line(at, below + 3, at, below + 8)
        if at + len(label) * 11 * CHARACTER / 2 <= left + inner + _MARGIN:
            yield Label(at, below + 19, label, 11, "middle", "dim")


# -- marks and figures --------------------------------------------------------------------------------------------


def _marked(shown: Grid, inner: float) -> list[list[Mark]]:
    """Marks by time; those too close to be distinguished share a number."""
    groups: list[list[Mark]] = []
    for mark in sorted(shown.marks, key=lambda mark: mark.column):
        if not 0 <= mark.column < shown.columns:
            continue
        if groups and (mark.column - groups[-1][0].column) * inner / shown.columns < 16:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


def _mark_lines(
    groups: Sequence[Sequence[Mark]], shown: Grid, left: float, inner: float, below: float
) -> Iterator[Shape]:
    for number, group in enumerate(groups, 1):
        for mark in group:
            at = left + inner * mark.column / shown.columns
            yield Line(at, _TOP - 4, at, below + 3)
        at = left + inner * group[0].column / shown.columns
        yield Label(at, _TOP - 7, f"▼{number}", 11, "middle", "ink", bold=True)


def _notes(groups: Sequence[Sequence[Mark]], shown: Grid, grid: Grid, top: float, width: int) -> Iterator[Shape]:
    """What the numbers mean, then the hottest rows."""
    numbered = [(number, mark) for number, group in enumerate(groups, 1) for mark in group]
    lines = [
        f"{number:>3}  {time_label(shown.from_ns + int(mark.column * shown.column_ns), 1)}  {mark.kind}  {mark.text}"
        for number, mark in numbered[:_MOST_MARKS]
    ]
    if len(numbered) > _MOST_MARKS:
        lines.append(f"  … and {count(len(numbered) - _MOST_MARKS)} more")
    hot = hottest(grid, _HOTTEST) if len(grid.rows) > 1 else ()
    if hot:
        name = max(len(plain(row.row[:_NAME])) for row in hot)
        lines += ["", "Hottest rows"] if lines else ["Hottest rows"]
        lines += [
            f"  {plain(row.row[:_NAME]):<{name}}  mean {percent(row.mean):>6}  most {percent(row.most):>6}"
            f"  from {time_label(row.at_ns, NS)}"
            for row in hot
        ]
    for place, line in enumerate(lines):
        bold = line == "Hottest rows"
        yield Label(_MARGIN, top + 16 * place, fitting(plain(line[:_LONGEST]), width - 2 * _MARGIN), bold=bold)


def _data(shown: Grid, names: Sequence[str], scale: float, left: float, inner: float, tall: int) -> dict[str, str]:
    """What the script needs to show the value below the pointer: each value as a byte, 255 for unknown."""
    parts = np.clip(np.nan_to_num(shown.values / scale) * 250, 0, 254).astype(np.uint8)
    parts[np.isnan(shown.values)] = 255
    return {
        "rows": "|".join(name.replace("|", "¦") for name in names),
        "columns": str(shown.columns),
        "values": base64.b64encode(parts.tobytes()).decode(),
        "scale": f"{scale / 250:.6g}",
        "from": str(shown.from_ns // 1_000_000),
        "column": f"{shown.column_ns / 1e6:g}",
        "place": f"{left:.2f},{_TOP:g},{inner:.2f},{tall * len(names)}",
    }
