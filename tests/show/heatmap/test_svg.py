"""The SVG of a heat map: its pixels are the values, marks stand at their time, its size is bounded."""

from __future__ import annotations

import base64
import zlib
from xml.etree import ElementTree

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.query.cores.grid import Grid, Mark
from necroscope.show.caption import Caption
from necroscope.show.heatmap.svg import heat_svg, pixels
from necroscope.show.shade import LEVELS, heat
from show.layouts import START_NS, cores

SVG = "{http://www.w3.org/2000/svg}"


def _image(document: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """The largest raster of the document, read back without any code that wrote it."""
    images = ElementTree.fromstring(document).iter(f"{SVG}image")
    raw = max((base64.b64decode(image.attrib["href"].partition(",")[2]) for image in images), key=len)
    columns, rows = (int.from_bytes(raw[at : at + 4], "big") for at in (16, 20))
    data = raw.index(b"IDAT")
    packed = raw[data + 4 : data + 4 + int.from_bytes(raw[data - 4 : data], "big")]
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(rows, 1 + 4 * columns)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(rows, columns, 4)


def test_each_pixel_is_a_value() -> None:
    image = _image(heat_svg(cores()))
    assert image.shape == (96, 60, 4)
    assert tuple(image[41, 30]) == (*heat(LEVELS - 1), 255)
    assert tuple(image[41, 19]) == (*heat(int(0.1 * LEVELS)), 255)
    assert (image[:41] != np.array((*heat(LEVELS - 1), 255))).any(axis=2).all()


def test_unknown_is_no_colour_of_the_scale() -> None:
    found = pixels(Grid(("a",), np.array([[np.nan, 0.0, -1.0, 9.0]]), START_NS, NS, "x"), 1.0)[0]
    assert found[0, 3] < 255
    assert found[1].tolist() == found[2].tolist() == [*heat(0), 255]
    assert found[3].tolist() == [*heat(LEVELS - 1), 255]


def test_marks_stand_at_their_time() -> None:
    root = ElementTree.fromstring(heat_svg(cores(), width=1000))
    raster = max(root.iter(f"{SVG}image"), key=lambda image: float(image.attrib["width"]))
    left, wide = float(raster.attrib["x"]), float(raster.attrib["width"])
    upright = [line for line in root.iter(f"{SVG}line") if float(line.attrib["y1"]) < 70]
    places = [(float(line.attrib["x1"]) - left) / wide * 60 for line in upright]
    np.testing.assert_allclose(places, [20.5, 37.0, 37.01], atol=0.01)
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert "▼2" in texts
    assert "▼3" not in texts
    assert "  1  03:03:20.500  symptom  TX queue 12 is stuck" in texts
    assert "  2  03:03:37.010  mark  deploy" in texts


def test_rows_can_be_read_without_the_script() -> None:
    root = ElementTree.fromstring(heat_svg(cores()))
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert "cpu 41: mean 69 %, most 100 %" in titles
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert "  cpu 41  mean   69 %  most  100 %  from 03:03:20" in texts


def test_the_script_gets_the_values() -> None:
    data = ElementTree.fromstring(heat_svg(cores())).attrib
    values = np.frombuffer(base64.b64decode(data["data-values"]), np.uint8).reshape(96, 60)
    assert values[41, 30] * float(data["data-scale"]) == 1.0
    assert values[3, 50] == 255
    assert data["data-rows"].split("|")[41] == "cpu 41"


def test_large_maps_keep_their_peaks_and_stay_small() -> None:
    values = np.zeros((2000, 5000))
    values[1234, 4321] = 1.0
    document = heat_svg(Grid(tuple(f"thread {n}" for n in range(2000)), values, START_NS, NS, "x"))
    image = _image(document)
    assert image.shape == (500, 1000, 4)
    assert tuple(image[1234 // 4, 4321 // 5]) == (*heat(LEVELS - 1), 255)
    assert len(document) < 2_000_000


@settings(max_examples=60, deadline=None)
@given(st.text(), st.integers(0, 20), st.integers(1, 40), st.integers(1, 1500))
def test_always_well_formed(name: str, rows: int, columns: int, width: int) -> None:
    grid = Grid((name,) * rows, np.full((rows, columns), np.nan), START_NS, NS, name, (Mark(0.5, name, name, 1),))
    ElementTree.fromstring(heat_svg(grid, Caption(name), width, None).encode())
