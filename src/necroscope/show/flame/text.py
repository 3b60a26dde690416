"""A flame graph in a terminal: the outermost functions on top, each box as wide as the cores it took.

With colours, boxes have a background of their own and dark text, which reads on light and on dark terminals. Without,
bars separate them. What is too narrow for a name is merged into a shaded cell. In a differential graph, + and - stand
before the names of what has changed beyond chance, and the changes are listed below the picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.text import Text

from necroscope.quantity import count, plural
from necroscope.query.profile.changes import Change, changes
from necroscope.query.profile.flame import Box, Flame
from necroscope.show.caption import Caption, cores, flame_facts
from necroscope.show.cells import cut, listed, padded, stacked
from necroscope.show.flame import hues
from necroscope.show.flame.change_words import chance_said, tail_of
from necroscope.show.frame_label import frame_label
from necroscope.show.plain import plain
from necroscope.show.shade import Depth, Rgb, terminal

_NAMED = 4
"""Boxes of fewer columns have no room for a name."""
_EDGE = "▏"


@dataclass(frozen=True, slots=True)
class Span:
    """Columns from `start` up to `end`, and what they show: one box, or several that are too narrow."""

    start: int
    end: int
    boxes: tuple[Box, ...]

    @property
    def width(self) -> int:
        """How many columns."""
        return self.end - self.start

    @property
    def narrow(self) -> bool:
        """Whether there is no name in it: no room, or several boxes."""
        return self.width < _NAMED or len(self.boxes) > 1

    @property
    def open(self) -> bool:
        """Whether a narrow neighbour may join: a change beyond chance that has a column keeps it to itself."""
        return self.narrow and not (len(self.boxes) == 1 and self.width and hues.sign_of(self.boxes[0]))

    @property
    def shown(self) -> Box:
        """The box that speaks for all: the largest significant change, else the widest."""
        return max(self.boxes, key=lambda box: (abs(box.change) if box.significant else 0.0, box.x1 - box.x0))


def flame_text(
    flame: Flame,
    width: int,
    depth: Depth = "none",
    caption: Caption | None = None,
    max_rows: int = 40,
    most_changes: int = 10,
) -> Text:
    """The picture, at most `width` columns wide and, without heading and list, `max_rows` high."""
    caption, width = caption or Caption(), max(1, width)
    lines = [Text(cut(plain(caption.title), width), style="bold")] if caption.title else []
    lines += [Text(line, style="dim" if lines else "") for line in listed(flame_facts(flame, caption), width)]
    lines += _legend(flame, width, depth)
    lines += _rows([spans(row, width) for row in by_row(flame)], width, depth, hues.colours(flame), max_rows)
    if flame.differential:
        lines += _changes(changes(flame), width, depth, most_changes)
    return stacked(lines)


def by_row(flame: Flame) -> list[list[Box]]:
    """The boxes of each row, from the left."""
    rows: list[list[Box]] = [[] for _ in range(flame.rows)] if flame.boxes else []
    for box in sorted(flame.boxes, key=lambda box: (box.x0, box.x1)):
        rows[box.depth].append(box)
    return rows


def spans(row: Sequence[Box], width: int) -> list[Span]:
    """Which columns show which boxes: neighbours that are too narrow for a name share a span."""
    found: list[Span] = []
    for box in row:
        start, end = (min(width, max(0, round(edge * width))) for edge in (box.x0, box.x1))
        alone = end - start >= _NAMED or (end > start and bool(hues.sign_of(box)))
        if not alone and found and found[-1].end == start and found[-1].open:
            found[-1] = Span(found[-1].start, end, (*found[-1].boxes, box))
        else:
            found.append(Span(start, end, (box,)))
    return [span for span in found if span.width > 0]


# -- rows --------------------------------------------------------------------------------------------------------


def _rows(
    rows: Sequence[Sequence[Span]], width: int, depth: Depth, colour: Callable[[Box], Rgb], most: int
) -> Iterator[Text]:
    """Down to the last row that has a name; below it there would be shades only. A note counts what is not shown."""
    named = 1 + max((place for place, row in enumerate(rows) if not all(span.narrow for span in row)), default=0)
    fitting = len(rows) if len(rows) <= most else max(1, most - 1)
    shown = len(rows) if fitting == len(rows) == named + 1 else min(named, fitting)
    for row in rows[:shown]:
        yield _row(row, width, depth, colour)
    if shown < len(rows):
        why = ", too narrow for names" if named <= fitting else ""
        yield Text(cut(f"… and {plural(len(rows) - shown, 'deeper row')}{why}", width), style="dim")


def _row(row: Sequence[Span], width: int, depth: Depth, colour: Callable[[Box], Rgb]) -> Text:
    line = Text(no_wrap=True)
    at = 0
    for span, after in pairwise([*row, None]):
        assert span is not None
        line.append(" " * (span.start - at))
        if depth == "none":
            at = _append_plain(line, span, width if after is None else after.start)
        else:
            _append_coloured(line, span, depth, colour)
            at = span.end
    return line


def _append_coloured(line: Text, span: Span, depth: Depth, colour: Callable[[Box], Rgb]) -> None:
    box, ink = span.shown, terminal(hues.INK, depth)
    sign = hues.sign_of(box)
    own = f"{ink} on {terminal(colour(box), depth)}"
    if not span.narrow:
        line.append(_EDGE + padded(_label(box, span.width - 1), span.width - 1), style=own)
    elif len(span.boxes) == 1:
        line.append(f"{sign:<{span.width}}", style=own)
    else:
        line.append(sign, style=own)
        rest = span.width - len(sign)
        line.append(f"{'…' if rest > 2 else '':^{rest}}", style=f"{ink} on {terminal(hues.MERGED, depth)}")


def _append_plain(line: Text, span: Span, following: int) -> int:
    """Adds a span between bars, and returns the column behind it; a bar may stand in the gap that follows."""
    if span.narrow:
        line.append(f"{hues.sign_of(span.shown):░<{span.width}}")
        return span.end
    line.append("│" + padded(_label(span.shown, span.width - 1), span.width - 1))
    if span.end < following:
        line.append("│")
        return span.end + 1
    return span.end


def _label(box: Box, width: int) -> str:
    """The name with its sign, and how much where there is room for it."""
    name = hues.sign_of(box) + plain(frame_label(box.name, box.module)[: 4 * width])
    figure = f"{box.change:+.2f}" if hues.sign_of(box) else cores(box.cores)
    return f"{name} {figure}" if len(name) + len(figure) + 2 <= width else cut(name, width)


# -- what the colours mean, and what has changed ---------------------------------------------------------------


def _legend(flame: Flame, width: int, depth: Depth) -> list[Text]:
    if flame.differential:
        largest = hues.largest_change(flame)
        entries = [(name, _example(change, largest)) for name, change in (("+more", 1.0), ("-less", -1.0))]
        entries.append(("may be chance", hues.change_colour(_box_of(0.0), 0.0)))
    else:
        entries = [(kind, hues.kind_colour(kind)) for kind in hues.KINDS]
    line = Text("width: mean of both" if flame.differential else "width: cores", style="dim")
    if depth != "none":
        for name, colour in entries:
            line.append("  ")
            line.append(f" {name} ", style=f"not dim {terminal(hues.INK, depth)} on {terminal(colour, depth)}")
    elif flame.differential:
        line.append("  + more, - less, no sign: may be chance")
    hidden = f"  {count(flame.hidden)} narrower ones not shown" if flame.hidden else ""
    if line.cell_len + len(hidden) <= width:
        line.append(hidden)
    line.truncate(width, overflow="ellipsis")
    return [line]


def _example(sign: float, largest: float) -> Rgb:
    return hues.change_colour(_box_of(sign * (largest or 1.0)), largest or 1.0)


def _box_of(change: float) -> Box:
    return Box(0, "", "", 0, 0.0, 1.0, 0, change, 0.0, 0.0 if change else 1.0)


def _changes(found: Sequence[Change], width: int, depth: Depth, most: int) -> Iterator[Text]:
    yield Text()
    if not found:
        yield Text(cut("No change beyond chance.", width))
        return
    yield Text(cut(f"{plural(len(found), 'change')} beyond chance, in cores; the largest first", width), style="bold")
    yield Text(cut(" change  before →  after  by chance  where", width), style="dim")
    for change in found[:most]:
        yield _change_line(change, abs(found[0].box.change), width, depth)
    if len(found) > most:
        yield Text(cut(f"… and {count(len(found) - most)} more", width), style="dim")


def _change_line(change: Change, largest: float, width: int, depth: Depth) -> Text:
    box = change.box
    sign, figures = f"{box.change:+7.3f}", f" {box.before or 0:7.3f} → {box.cores:6.3f}  {chance_said(box.chance):>9}  "
    ground = hues.change_colour(box, largest)
    line = Text(no_wrap=True)
    line.append(sign, style="" if depth == "none" else f"{terminal(hues.INK, depth)} on {terminal(ground, depth)}")
    line.append(figures)
    line.append(tail_of(change.path, max(8, width - len(sign) - len(figures))))
    line.truncate(width, overflow="ellipsis")
    return line
