"""The SVG of a flame graph: well-formed whatever the names, boxes where they belong, of bounded size."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.query.profile.flame import Box, Flame
from necroscope.show.caption import Caption
from necroscope.show.flame.svg import MOST_BOXES, flame_svg
from show.layouts import START_NS, difference, profile

SVG = "{http://www.w3.org/2000/svg}"


def _boxes(document: str) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(document)
    return {group.findtext(f"{SVG}title", ""): group for group in root.iter(f"{SVG}g")}


def _texts(document: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(document).iter(f"{SVG}text")]


def _place(group: ElementTree.Element) -> tuple[float, float]:
    rect = group.find(f"{SVG}rect")
    assert rect is not None
    return float(rect.attrib["x"]), float(rect.attrib["width"])


def test_a_box_of_half_the_width_takes_half_the_picture() -> None:
    boxes = _boxes(flame_svg(profile(), width=1024))
    titles = {title.partition(" ")[0].rstrip(":"): title for title in boxes}
    assert titles["do_syscall_64"] == "do_syscall_64 ([kernel]): 2.00 cores, 50 %, 500 samples"
    assert _place(boxes[titles["do_syscall_64"]]) == (12, 500)
    assert _place(boxes[titles["memcpy"]]) == (512, 250)
    assert boxes[titles["memcpy"]].findtext(f"{SVG}text") == "memcpy"


def test_heading_and_axis() -> None:
    texts = _texts(flame_svg(profile(), Caption("", (START_NS, START_NS + 5 * NS), 96)))
    assert texts[0] == "Where the cores were"
    heading = "4.00 of 96 cores busy · 1,000 samples · 5.0 s · 2026-01-02 03:03:00 to 03:03:05 UTC"
    assert texts[1] == f"{heading} · 7 narrower ones not drawn"
    assert [text for text in texts if text in {"0 cores", "1", "2", "3", "4"}] == ["0 cores", "1", "2", "3", "4"]


def test_what_is_below_a_pixel_is_left_out_and_counted() -> None:
    document = flame_svg(profile(), width=324)
    assert len(_boxes(document)) == 3
    assert "107 narrower ones not drawn" in document


def test_a_change_below_a_pixel_is_drawn() -> None:
    titles = _boxes(flame_svg(difference(), width=200))
    late = next(group for title, group in titles.items() if title.startswith("late"))
    assert _place(late) == (187, 1)
    assert "late ([kernel]): 0.10 cores, before 0.000 (+0.100, by chance 0.01 %), 10 samples" in titles


def test_changes_are_listed_below() -> None:
    texts = _texts(flame_svg(difference()))
    place = texts.index("Changes beyond chance, in cores")
    assert [text.split("  ")[-1] for text in texts[place + 1 :]] == [
        "fault › charge › reclaim",
        "all",
        "unpack",
        "late",
    ]
    assert "+fault" in texts
    assert "-unpack" in texts


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "]]>", "a\x00b\x1b[2J", "x" * 10_000, "\udc80&\"'"])
def test_hostile_names_are_text(name: str) -> None:
    document = flame_svg(profile(name), Caption(name))
    root = ElementTree.fromstring(document.encode())
    assert len(list(root.iter(f"{SVG}script"))) == 1
    assert "alert(1)</script>" not in document
    assert len(document) < 60_000


def test_it_stands_alone() -> None:
    document = flame_svg(difference())
    assert "http" not in document.replace("http://www.w3.org/2000/svg", "")
    assert "<image" not in document


def test_the_size_is_bounded() -> None:
    row = [(n / 500, (n + 1) / 500) for n in range(500)]
    boxes = [Box(0, "all", "", 0, 0.0, 1.0, 1, 50.0), Box(1, "wide", "", 299, 0.0, 0.1, 1, 5.0)]
    boxes += [Box(2, "f", "tool", depth, x0, x1, 1, 0.1) for depth in range(1, 100) for x0, x1 in row]
    document = flame_svg(Flame(tuple(boxes), 50.0, 1, 1.0, False, 0))
    assert document.count('<g class="b">') == MOST_BOXES
    assert "wide: 5.00 cores" in document
    assert len(document) < 200 * MOST_BOXES


@settings(max_examples=60, deadline=None)
@given(st.text(), st.text(), st.integers(1, 2000))
def test_always_well_formed(name: str, title: str, width: int) -> None:
    for flame in (profile(name), difference(), Flame((), 0.0, 0, 0.0, False, 0)):
        ElementTree.fromstring(flame_svg(flame, Caption(title, None, 4, name), width).encode())
