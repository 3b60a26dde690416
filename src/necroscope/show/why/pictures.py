"""Small pictures: a core around the symptom, and what accumulated against the restarts of who is behind it.

Both are read without colours: heights say how much, a dot says that it is not known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from rich.text import Text

from necroscope.clock import NS
from necroscope.quantity import count
from necroscope.show.cells import cut
from necroscope.show.plain import plain
from necroscope.show.ticks import time_ticks
from necroscope.vocabulary.verdict import Growth, Strip

BARS = " ▁▂▃▄▅▆▇█"
UNKNOWN = "·"
_GUTTER = 10
_FIGURE = 6
_LABEL_SPACE = 12
_ROWS = 4
_HOT = 0.97


def core_strip(strip: Strip, symptom_ns: int | None, width: int) -> list[Text]:
    """The core and all cores together, one character a second (or the highest of several), and the symptom below."""
    seconds = len(strip.busy)
    room = max(8, width - _GUTTER - _FIGURE)
    step = max(1, -(-seconds // room))
    lines = []
    rows = ((f"core {strip.cpu}", strip.busy), ("in kernel", strip.system), ("all cores", strip.average))
    for name, values in rows:
        if any(value is not None for value in values):
            lines.append(_strip_row(name, _folded(values, step)))
    if not lines:
        return []
    cells = -(-seconds // step)
    to_ns = strip.from_ns + seconds * NS
    if symptom_ns is not None and strip.from_ns <= symptom_ns <= to_ns:
        lines.append(_pointer((symptom_ns - strip.from_ns) // (step * NS), cells, width))
    lines.append(_axis(strip.from_ns, to_ns, cells, width))
    return lines


def growth_chart(growth: Growth, width: int) -> list[Text]:
    """How many there were over time, above the restarts; nothing where fewer than two counts are known."""
    if len(growth.at_ns) < 2 or growth.at_ns[-1] <= growth.at_ns[0]:
        return []
    room = max(8, width - _GUTTER - 2)
    moments = [*growth.at_ns, *(at_ns for at_ns, _ in growth.restarts)]
    from_ns, to_ns = min(moments), max(moments)
    values = [_count_at(growth, from_ns + (to_ns - from_ns) * place // (room - 1)) for place in range(room)]
    lines = [*_bars(values, min(growth.count), max(growth.count))]
    if growth.restarts:
        lines.append(_restarts(growth, from_ns, to_ns, room))
    lines.append(_axis(from_ns, to_ns, room, width))
    return lines


def _folded(values: Sequence[float | None], step: int) -> list[float | None]:
    """The highest of each `step` values; None where none is known."""
    parts = (values[at : at + step] for at in range(0, len(values), step))
    return [max((value for value in part if value is not None), default=None) for part in parts]


def _strip_row(name: str, values: Sequence[float | None]) -> Text:
    line = Text(f"{cut(name, _GUTTER - 1):<{_GUTTER}}", no_wrap=True)
    for value in values:
        if value is None:
            line.append(UNKNOWN, style="dim")
        else:
            line.append(BARS[max(1, round(8 * min(1.0, value)))], style="bold red" if value >= _HOT else "")
    known = [value for value in values if value is not None]
    line.append(f" {f'{100 * max(known):.0f} %':>{_FIGURE - 1}}", style="dim")
    return line


def _pointer(cell: int, cells: int, width: int) -> Text:
    """A mark below the symptom's second, its word on the side that has room."""
    at = _GUTTER + max(0, min(cells - 1, cell))
    word = " the symptom"
    if at + 1 + len(word) <= width:
        return Text(f"{'':<{at}}▲{word}", style="bold")
    return Text(f"{word.strip() + ' ▲':>{at + 1}}", style="bold")


def _axis(from_ns: int, to_ns: int, cells: int, width: int) -> Text:
    line = " " * _GUTTER
    for at_ns, label in time_ticks(from_ns, to_ns, max(1, cells // _LABEL_SPACE)):
        at = _GUTTER + (at_ns - from_ns) * cells // max(1, to_ns - from_ns)
        if at >= len(line) and at + len(label) + 1 <= width:
            line = f"{line:<{at}}╵{label}"
    return Text(f"{line} UTC" if len(line) + 4 <= width else line, style="dim", no_wrap=True)


def _count_at(growth: Growth, at_ns: int) -> int:
    """The last count up to then."""
    return growth.count[max(0, bisect_right(growth.at_ns, at_ns) - 1)]


def _bars(values: Sequence[int], low: int, high: int) -> Iterator[Text]:
    """Columns of `_ROWS` lines, from the lowest count (an eighth high) to the highest."""
    eighths = [1 + (value - low) * (8 * _ROWS - 1) // max(1, high - low) for value in values]
    for row in range(_ROWS - 1, -1, -1):
        label = count(high) if row == _ROWS - 1 else count(low) if row == 0 and low != high else ""
        cells = "".join(BARS[max(0, min(8, height - 8 * row))] for height in eighths)
        line = Text(f"{label:>{_GUTTER - 2}} ┤" if label else f"{'':>{_GUTTER - 2}} │", style="dim", no_wrap=True)
        yield line.append(cells, style="not dim")


def _restarts(growth: Growth, from_ns: int, to_ns: int, room: int) -> Text:
    """Restarts by column, as many as the look there noticed; where numbers have no room, a tick for one, a double one
    for more."""
    cells = [0] * room
    for at_ns, number in growth.restarts:
        cells[(at_ns - from_ns) * (room - 1) // max(1, to_ns - from_ns)] += number
    line = Text(f"{'restarts':>{_GUTTER - 2}}  ", style="dim", no_wrap=True)
    ticks = "".join(" " if number == 0 else "╷" if number == 1 else "‖" for number in cells)
    return line.append(_numbered(cells) or ticks, style="not dim bold")


def _numbered(cells: Sequence[int]) -> str:
    """`+7` up to or over each column that has several, a tick at those that have one; nothing where two would touch."""
    line = ""
    for at, number in enumerate(cells):
        if number:
            text = "╷" if number == 1 else f"+{number}"
            begins = max(len(line), at + 1 - len(text))
            if begins > at:
                return ""
            line = f"{line:<{begins}}{text} "
    return line.rstrip()


def growth_caption(growth: Growth) -> str:
    """What the picture shows, in words."""
    name = f", and restarts of {plain(growth.restarts_of)} since the look before" if growth.restarts else ""
    return f"{plain(growth.what)} over time{name}"
