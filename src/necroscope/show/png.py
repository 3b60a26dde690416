"""Pictures as PNG, for chats and tickets that show nothing else. Needs Pillow, which is optional."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from necroscope.errors import Unavailable
from necroscope.query.cores.grid import Grid
from necroscope.query.profile.flame import Flame
from necroscope.show.caption import Caption
from necroscope.show.flame.hues import INK
from necroscope.show.flame.svg import flame_picture
from necroscope.show.heatmap.svg import heat_picture
from necroscope.show.picture import Area, Label, Line, Picture, Raster, Shape
from necroscope.show.plain import plain
from necroscope.show.shade import Rgb

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

_TONES: dict[str, Rgb] = {"ink": (31, 35, 40), "dim": (101, 109, 118), "on": INK}
_PAPER: Rgb = (255, 255, 255)
_SCALE = 2
"""Pixels for each unit of a picture: sharp on today's screens."""
_FONTS = ("DejaVuSansMono.ttf", "LiberationMono-Regular.ttf", "NotoSansMono-Regular.ttf")
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def flame_png(flame: Flame, caption: Caption | None = None, width: int = 1200) -> bytes:
    """A flame graph as PNG."""
    return png(flame_picture(flame, caption, width))


def heat_png(grid: Grid, caption: Caption | None = None, width: int = 1200, top: float | None = 1.0) -> bytes:
    """A heat map as PNG."""
    return png(heat_picture(grid, caption, width, top))


def png(picture: Picture) -> bytes:
    """The picture on white paper. Raises `Unavailable` where Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise Unavailable("PNG needs Pillow, which is not installed", "pip install necroscope[png]") from None
    image = Image.new("RGB", (picture.width * _SCALE, picture.height * _SCALE), _PAPER)
    draw = ImageDraw.Draw(image)
    fonts: dict[float, Any] = {}
    for shape in picture.shapes:
        if isinstance(shape, Raster):
            _paste(image, shape)
        else:
            _draw(draw, shape, fonts)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _paste(image: Any, raster: Raster) -> None:
    from PIL import Image

    if not raster.pixels.size:
        return
    place = (round(raster.x * _SCALE), round(raster.y * _SCALE))
    size = (max(1, round(raster.width * _SCALE)), max(1, round(raster.height * _SCALE)))
    cells = Image.fromarray(raster.pixels).resize(size, Image.Resampling.NEAREST)
    image.paste(cells, place, cells)


def _draw(draw: ImageDraw, shape: Shape, fonts: dict[float, Any]) -> None:
    if isinstance(shape, Area) and shape.colour is not None:
        x0, y0 = shape.x * _SCALE, shape.y * _SCALE
        # A pixel on the right stays free, as the border of the SVG; what is a pixel wide is drawn nevertheless.
        x1, y1 = x0 + max(1, shape.width * _SCALE - (2 if shape.title else 0)), y0 + shape.height * _SCALE - 1
        draw.rectangle((x0, y0, x1, y1), fill=shape.colour)
        if shape.label:
            base = (shape.y + shape.height / 2 + 4) * _SCALE
            draw.text((x0 + 3 * _SCALE, base), shape.label, INK, _font(12, fonts), "ls")
    elif isinstance(shape, Line):
        draw.line([one * _SCALE for one in (shape.x0, shape.y0, shape.x1, shape.y1)], fill=_TONES["dim"], width=_SCALE)
    elif isinstance(shape, Label):
        place, text = (shape.x * _SCALE, shape.y * _SCALE), plain(shape.text)
        bold = 0.4 * _SCALE if shape.bold else 0
        draw.text(place, text, _TONES[shape.tone], _font(shape.size, fonts), _ANCHORS[shape.anchor], stroke_width=bold)


def _font(size: float, fonts: dict[float, Any]) -> Any:
    """A font of fixed width where the machine has one, so that columns line up; else Pillow's own."""
    from PIL import ImageFont

    if size in fonts:
        return fonts[size]
    for name in _FONTS:
        try:
            fonts[size] = ImageFont.truetype(name, size * _SCALE)
            break
        except OSError:
            continue
    else:
        fonts[size] = ImageFont.load_default(size * _SCALE)
    return fonts[size]
