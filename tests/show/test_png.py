"""PNG pictures have the same pixels as the SVG; without Pillow one is told what to install."""

from __future__ import annotations

import io
import sys

import pytest

from necroscope.errors import Unavailable
from necroscope.show.flame import hues
from necroscope.show.png import flame_png, heat_png
from necroscope.show.shade import LEVELS, heat
from show.layouts import cores, difference, profile


def test_the_hot_core_is_a_bright_line() -> None:
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(heat_png(cores(), width=1000)))
    assert image.size[0] == 2000
    row = 2 * (70 + 41 * 6 + 3)
    assert image.getpixel((1400, row)) == heat(LEVELS - 1)
    assert image.getpixel((1400, row - 12)) == heat(int(0.1 * LEVELS))
    assert image.getpixel((1, 1)) == (255, 255, 255)


def test_a_box_of_half_the_width_takes_half_the_picture() -> None:
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(flame_png(profile(), width=1024)))
    kernel, library = hues.kind_colour("kernel", "do_syscall_64"), hues.kind_colour("library", "memcpy")
    top = next(y for y in range(image.size[1]) if image.getpixel((900, y)) == kernel) + 4
    line = [image.getpixel((x, top)) for x in range(image.size[0])]
    assert line.count(kernel) == pytest.approx(1000, abs=4)
    assert line.count(library) == pytest.approx(500, abs=4)


def test_a_difference_can_be_drawn_too() -> None:
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(flame_png(difference(), width=600)))
    colours = {colour for _, colour in image.getcolors(1 << 20)}
    assert hues.change_colour(difference().boxes[1], 1.5) in colours


def test_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(Unavailable, match="Pillow") as raised:
        heat_png(cores())
    assert raised.value.hint == "pip install necroscope[png]"
