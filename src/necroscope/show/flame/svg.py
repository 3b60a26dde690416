"""A flame graph as a picture and as an SVG that a browser opens: point at a box to read it, click to zoom, search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from necroscope.quantity import count, share
from necroscope.query.profile.changes import changes
from necroscope.query.profile.flame import Box, Flame
from necroscope.show.caption import Caption, cores, flame_facts
from necroscope.show.flame import hues
from necroscope.show.flame.change_words import chance_said, tail_of
from necroscope.show.frame_label import frame_label
from necroscope.show.picture import CHARACTER, Area, Label, Line, Picture, Shape, fitting, svg
from necroscope.show.plain import plain
from necroscope.show.shade import Rgb
from necroscope.show.ticks import number_ticks

_ROW, _MARGIN, _LEAST = 18, 12, 1.0
_NAME, _MOST_CHANGES, _MOST_DEPTH = 200, 10, 300

MOST_BOXES = 10_000
"""More cannot be distinguished, and browsers become slow."""


def flame_svg(flame: Flame, caption: Caption | None = None, width: int = 1200) -> str:
    """The SVG document."""
    script = Path(__file__).with_name("flame.js").read_text("utf-8")
    return svg(flame_picture(flame, caption, width), script)


def flame_picture(flame: Flame, caption: Caption | None = None, width: int = 1200) -> Picture:
    """The graph, outermost functions on top. Boxes below a pixel are left out, unless they changed beyond chance."""
    caption, width = caption or Caption(), max(200, width)
    title = caption.title or ("What changed" if flame.differential else "Where the cores were")
    inner = float(width - 2 * _MARGIN)
    shown = drawn(flame, inner)
    heading = list(_heading(flame, caption, len(flame.boxes) - len(shown), inner))
    top = _MARGIN + 20 + 16 * len(heading) + 26
    shapes: list[Shape] = [Label(_MARGIN, _MARGIN + 14, fitting(plain(title), inner * 0.45, 16), 16, bold=True)]
    shapes += [Label(_MARGIN, _MARGIN + 32 + 16 * n, line, tone="dim") for n, line in enumerate(heading)]
    legend = list(_legend(flame, width, _MARGIN + 14))
    shapes += legend
    shapes += _axis(flame, inner, top)
    colour = hues.colours(flame)
    shapes += [_box(box, flame, inner, top, colour(box)) for box in shown]
    bottom = top + _ROW * (1 + max((box.depth for box in shown), default=0)) + 8
    if flame.differential:
        below = list(_changes(flame, inner, bottom + 16))
        shapes, bottom = shapes + below, bottom + 16 * len(below) + 8
    note = f"{min(one.x for one in legend if isinstance(one, Area)) - 16:.0f},{_MARGIN + 14}"
    data = {"cores": f"{_whole(flame):.6g}", "left": str(_MARGIN), "inner": f"{inner:g}", "note": note}
    return Picture(width, round(bottom + _MARGIN), title, tuple(shapes), data)


def drawn(flame: Flame, inner: float) -> list[Box]:
    """The boxes of at least a pixel, and those that changed beyond chance; of too many, the widest."""

    def matters(box: Box) -> tuple[bool, float]:
        return bool(hues.sign_of(box)), box.x1 - box.x0

    found = [
        box
        for box in flame.boxes
        if box.depth < _MOST_DEPTH and ((box.x1 - box.x0) * inner >= _LEAST or hues.sign_of(box))
    ]
    return found if len(found) <= MOST_BOXES else sorted(found, key=matters, reverse=True)[:MOST_BOXES]


def _heading(flame: Flame, caption: Caption, narrow: int, inner: float) -> Iterator[str]:
    facts = flame_facts(flame, caption)
    if flame.hidden + narrow:
        facts.append(f"{count(flame.hidden + narrow)} narrower ones not drawn")
    line = ""
    for fact in facts:
        longer = f"{line} · {fact}" if line else fact
        if line and len(longer) * 12 * CHARACTER > inner:
            yield line
            longer = fact
        line = longer
    yield fitting(line, inner)


def _legend(flame: Flame, width: int, base: float) -> Iterator[Shape]:
    """Colours and their names, from the right end of the title's line."""
    entries = [(str(kind), hues.kind_colour(kind)) for kind in hues.KINDS]
    if flame.differential:
        largest = hues.largest_change(flame) or 1.0
        samples = (("more", largest, 0.0), ("less", -largest, 0.0), ("may be chance", largest, 1.0))
        boxes = [(name, Box(0, "", "", 0, 0, 1, 0, change, 0.0, chance)) for name, change, chance in samples]
        entries = [(name, hues.change_colour(box, largest)) for name, box in boxes]
    at = float(width - _MARGIN)
    for name, colour in reversed(entries):
        at -= len(name) * 12 * CHARACTER + 12
        yield Area(at, base - 11, len(name) * 12 * CHARACTER + 8, 16, colour)
        yield Label(at + 4, base + 1, name, tone="on")


def _whole(flame: Flame) -> float:
    """How many cores the whole width is: in a differential graph, the mean of both windows."""
    before = next((box.before for box in flame.boxes if not box.depth and box.before is not None), None)
    return flame.cores if before is None else (flame.cores + before) / 2


def _axis(flame: Flame, inner: float, top: float) -> Iterator[Shape]:
    whole = _whole(flame)
    ticks = number_ticks(whole, 8)
    yield Line(_MARGIN, top - 4, _MARGIN + inner, top - 4)
    for tick in ticks:
        at = _MARGIN + inner * tick / whole if whole > 0 else _MARGIN
        last = at > _MARGIN + inner - 30
        yield Line(at, top - 8, at, top - 4)
        name = f"{tick:g}" if tick else "0 cores, mean of both" if flame.differential else "0 cores"
        yield Label(at, top - 11, name, 11, "end" if last else "start" if not tick else "middle", "dim")


def _box(box: Box, flame: Flame, inner: float, top: float, colour: Rgb) -> Area:
    width = max(_LEAST, (box.x1 - box.x0) * inner)
    left = min(_MARGIN + box.x0 * inner, _MARGIN + inner - width)
    name = plain(frame_label(box.name, box.module)[:_NAME])
    label = fitting(f"{hues.sign_of(box)}{name}", width - 6)
    return Area(left, top + box.depth * _ROW, width, _ROW - 1, colour, _title(box, name, flame), label)


def _title(box: Box, name: str, flame: Flame) -> str:
    module = f" ({plain(box.module[:_NAME])})" if box.module else ""
    text = f"{name}{module}: {cores(box.cores)} cores"
    if flame.cores > 0 and not flame.differential:
        text += f", {share(box.cores / flame.cores)}"
    if box.before is not None:
        beyond = f"by chance {chance_said(box.chance)}" if box.significant else "may be chance"
        text += f", before {cores(box.before)} ({box.change:+.3f}, {beyond})"
    return f"{text}, {count(box.samples)} samples"


def _changes(flame: Flame, inner: float, top: float) -> Iterator[Shape]:
    found = changes(flame)
    if not found:
        yield Label(_MARGIN, top, "No change beyond chance.", bold=True)
        return
    more = f"; the largest {_MOST_CHANGES} of {count(len(found))}" if len(found) > _MOST_CHANGES else ""
    yield Label(_MARGIN, top, f"Changes beyond chance, in cores{more}", bold=True)
    room = int(inner / (12 * CHARACTER)) - 40
    for place, change in enumerate(found[:_MOST_CHANGES], 1):
        box = change.box
        figures = f"{box.change:+8.3f}  {box.before or 0:7.3f} → {box.cores:6.3f}  {chance_said(box.chance):>7}  "
        yield Label(_MARGIN, top + 16 * place, figures + tail_of(change.path, room))
