"""A picture as a list of shapes, which `svg` and `png` draw alike; and its SVG.

The SVG stands alone: no other file, no network. Text of a node is escaped, and unprintable characters are written out.
Ink and paper follow the reader's light or dark setting; coloured areas and the text on them do not change.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from necroscope.show.plain import plain
from necroscope.show.shade import Rgb, hexed

Tone = Literal["ink", "dim", "on"]
"""Ink on paper, fainter, or dark on a coloured area."""
CHARACTER = 0.61
"""Width of a character of the fixed-width font, as a part of its size."""
_MOST_TEXT = 300
_STYLE = """
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
.paper{fill:#fff}.ink{fill:#1f2328}.dim{fill:#656d76}.on{fill:#141418}.line{stroke:#656d76;stroke-width:1}
.b rect{stroke:#fff;stroke-width:.6}.b text{pointer-events:none}
.clear{fill:transparent}.raster{image-rendering:optimizeSpeed;image-rendering:pixelated}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}.ink{fill:#e6edf3}.dim{fill:#8d96a0}.line{stroke:#8d96a0}
.b rect{stroke:#0d1117}}
"""


@dataclass(frozen=True, slots=True)
class Area:
    """A coloured rectangle; without a colour it is only there to be pointed at, which shows its title.

    With a title it may have a label, which whoever made it has cut to fit.
    """

    x: float
    y: float
    width: float
    height: float
    colour: Rgb | None
    title: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """Text whose base line is at `y`."""

    x: float
    y: float
    text: str
    size: float = 12.0
    anchor: Literal["start", "middle", "end"] = "start"
    tone: Tone = "ink"
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A thin line."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Raster:
    """Pixels of (rows, columns, 4), stretched over a rectangle without being smoothed."""

    x: float
    y: float
    width: float
    height: float
    pixels: NDArray[np.uint8]


Shape = Area | Label | Line | Raster


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes, the later ones on top. `data` are words for the script, as attributes of the root."""

    width: int
    height: int
    title: str
    shapes: tuple[Shape, ...]
    data: dict[str, str] = field(default_factory=dict)


def fitting(text: str, width: float, size: float = 12.0) -> str:
    """As much of the text as fits in the width, or nothing when that is less than three characters."""
    room = int(width / (size * CHARACTER))
    if len(text) <= room:
        return text
    return f"{text[: room - 1]}…" if room >= 3 else ""


def svg(picture: Picture, script: str = "") -> str:
    """The picture as an SVG document, with a script when there is one."""
    size = f'viewBox="0 0 {picture.width} {picture.height}" width="{picture.width}" height="{picture.height}"'
    data = "".join(f' data-{name}="{_text(value, len(value))}"' for name, value in picture.data.items())
    name = _text(picture.title)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" {size} font-size="12" role="img"',
        f' aria-label="{name}"{data}>',
        f"<title>{name}</title><style>{_STYLE}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
        *(part for shape in picture.shapes for part in _drawn(shape)),
    ]
    if script:
        lines.append(f"<script><![CDATA[\n{script}\n]]></script>")
    return "\n".join([*lines, "</svg>", ""])


def _drawn(shape: Shape) -> Iterator[str]:
    if isinstance(shape, Area):
        yield _area(shape)
    elif isinstance(shape, Label):
        anchor = f' text-anchor="{shape.anchor}"' if shape.anchor != "start" else ""
        weight = ' font-weight="bold"' if shape.bold else ""
        size = f' font-size="{shape.size:g}"' if shape.size != 12 else ""
        place = f'x="{_short(shape.x)}" y="{_short(shape.y)}"'
        yield f'<text class="{shape.tone}" {place}{anchor}{weight}{size}>{_text(shape.text)}</text>'
    elif isinstance(shape, Line):
        ends = " ".join(f'{key}="{_short(getattr(shape, name))}"' for key, name in _ENDS)
        yield f'<line class="line" {ends}/>'
    elif shape.pixels.size:
        place = f'x="{_short(shape.x)}" y="{_short(shape.y)}" width="{_short(shape.width)}"'
        image = base64.b64encode(tiny_png(shape.pixels)).decode()
        size = f'height="{_short(shape.height)}" preserveAspectRatio="none"'
        yield f'<image class="raster" {place} {size} href="data:image/png;base64,{image}"/>'


_ENDS = (("x1", "x0"), ("y1", "y0"), ("x2", "x1"), ("y2", "y1"))


def _area(area: Area) -> str:
    place = f'x="{_short(area.x)}" y="{_short(area.y)}" width="{_short(area.width)}" height="{_short(area.height)}"'
    if area.colour is None:
        return f'<rect class="clear" {place}><title>{_text(area.title)}</title></rect>'
    fill = f'fill="{hexed(area.colour)}"'
    if not area.title:
        return f"<rect {place} {fill}/>"
    base = area.y + area.height / 2 + 4
    label = f'<text class="on" x="{_short(area.x + 3)}" y="{_short(base)}">{_text(area.label)}</text>'
    return f'<g class="b"><title>{_text(area.title)}</title><rect {place} {fill}/>{label if area.label else ""}</g>'


def _text(text: str, most: int = _MOST_TEXT) -> str:
    return escape(plain(text if len(text) <= most else f"{text[:most]}…"))


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def tiny_png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels of (rows, columns, 4) as PNG, one for one."""
    rows, columns = pixels.shape[:2]
    raw = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
