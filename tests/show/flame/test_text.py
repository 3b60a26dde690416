"""A flame graph in a terminal says the truth in columns, whatever the names are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from necroscope.clock import NS
from necroscope.query.profile.flame import Box, Flame
from necroscope.show.caption import Caption
from necroscope.show.flame import hues
from necroscope.show.flame.text import by_row, flame_text, spans
from necroscope.show.shade import Depth, hexed
from show.layouts import difference, profile

START_NS = 1_767_322_980 * NS


def _lines(text: Text) -> list[str]:
    return text.plain.split("\n")


def _style_at(text: Text, line: int, column: int) -> str:
    row = text.split("\n", allow_blank=True)[line]
    return " ".join(str(span.style) for span in row.spans if span.start <= column < span.end)


def test_a_box_takes_its_share_of_the_columns() -> None:
    row = spans(by_row(profile())[1], 80)
    assert [(span.start, span.end) for span in row] == [(0, 40), (40, 60), (60, 80)]
    assert len(row[2].boxes) == 100


def test_without_colours_bars_and_shades_draw_it() -> None:
    lines = _lines(flame_text(profile(), 80))
    assert lines[0] == "4.00 cores busy · 1,000 samples · 5.0 s"
    assert lines[1] == "width: cores  7 narrower ones not shown"
    assert lines[2] == "│all 4.00" + " " * 71
    assert lines[3] == "│do_syscall_64 2.00" + " " * 21 + "│memcpy 1.00" + " " * 8 + "░" * 20
    assert len(lines) == 4


def test_the_heading_names_window_and_denominator() -> None:
    caption = Caption("All of it", (START_NS, START_NS + 5 * NS), 96)
    lines = _lines(flame_text(profile(), 120, caption=caption))
    assert lines[0] == "All of it"
    assert lines[1] == "4.00 of 96 cores busy · 1,000 samples · 5.0 s · 2026-01-02 03:03:00 to 03:03:05 UTC"


def test_colours_tell_kernel_from_library() -> None:
    text = flame_text(profile(), 80, "true")
    kernel = hexed(hues.kind_colour("kernel", "do_syscall_64"))
    assert _style_at(text, 3, 0).endswith(f"on {kernel}")
    assert _style_at(text, 3, 39).endswith(f"on {kernel}")
    assert _style_at(text, 3, 40).endswith(f"on {hexed(hues.kind_colour('library', 'memcpy'))}")
    assert _style_at(text, 3, 70).endswith(f"on {hexed(hues.MERGED)}")


def test_kinds_follow_modules() -> None:
    def kind(module: str) -> hues.Kind:
        return hues.kind_of(Box(0, "x", module, 0, 0, 1, 1, 1.0))

    assert [kind(module) for module in ("[kernel]", "[ext4]", "[bpf]")] == ["kernel"] * 3
    assert [kind(module) for module in ("libc.so.6", "[vdso]", "ld-2.31.so")] == ["library"] * 3
    assert [kind(module) for module in ("python3.11", "[jit]", "[unknown]")] == ["program"] * 3
    assert kind("") == "thread"


# -- differences ---------------------------------------------------------------------------------------------------


def test_signs_say_what_colours_say() -> None:
    lines = _lines(flame_text(difference(), 100))
    assert lines[2].startswith("│+all +1.00")
    assert lines[3].startswith("│+fault +1.50")
    assert "│steady 2.20" in lines[3]
    assert "│-unpack -0.50" in lines[3]
    assert lines[5].startswith("│+reclaim +1.48")


def test_only_what_is_beyond_chance_has_a_colour() -> None:
    text = flame_text(difference(), 100, "true")
    boxes = {box.name: box for box in difference().boxes}

    def ground(column: int) -> str:
        return _style_at(text, 3, column).rpartition(" ")[2]

    red, grey, blue = (tuple(int(ground(at)[n : n + 2], 16) for n in (1, 3, 5)) for at in (5, 40, 85))
    assert hexed(red) == hexed(hues.change_colour(boxes["fault"], 1.5))  # type: ignore[arg-type]
    assert red[0] > red[2] + 60
    assert blue[2] > blue[0] + 60
    assert max(grey) - min(grey) < 8


def test_a_narrow_change_keeps_its_column() -> None:
    text = flame_text(difference(), 200)
    assert _lines(text)[3].endswith("+")
    row = spans(by_row(difference())[1], 200)
    assert (row[-1].start, row[-1].end, row[-1].boxes[0].name) == (199, 200, "late")


def test_every_significant_change_is_listed_where_it_happens() -> None:
    lines = _lines(flame_text(difference(), 80))
    listed = lines[lines.index(" change  before →  after  by chance  where") + 1 :]
    assert listed == [
        " +1.480   0.010 →  1.490    <0.01 %  fault › charge › reclaim",
        " +1.000   4.000 →  5.000    <0.01 %  all",
        " -0.500   1.100 →  0.600     0.20 %  unpack",
        " +0.100   0.000 →  0.100     0.01 %  late",
    ]


def test_the_list_is_bounded_and_says_so() -> None:
    lines = _lines(flame_text(difference(), 80, most_changes=1))
    assert lines[-2].endswith("reclaim")
    assert lines[-1] == "… and 3 more"


def test_no_change_is_said() -> None:
    same = Flame((Box(0, "all", "", 0, 0.0, 1.0, 5, 1.0, 1.0, 1.0),), 1.0, 5, 5.0, True, 0)
    assert _lines(flame_text(same, 80))[-1] == "No change beyond chance."


# -- bounds --------------------------------------------------------------------------------------------------------


def _chain(deep: int) -> Flame:
    return Flame(tuple(Box(n, f"f{n}", "tool", n, 0.0, 1.0, 1, 1.0) for n in range(deep)), 1.0, 1, 1.0, False, 0)


def test_the_height_is_limited_with_a_note() -> None:
    lines = _lines(flame_text(_chain(100), 80, max_rows=10))
    assert len(lines) == 2 + 10
    assert lines[-2].startswith("│f8 ")
    assert lines[-1] == "… and 91 deeper rows"
    assert "deeper" not in flame_text(_chain(10), 80, max_rows=10).plain


def test_rows_without_a_name_are_not_drawn() -> None:
    narrow = tuple(Box(n, f"f{n}", "tool", n, 0.0, 0.03, 1, 0.03) for n in range(1, 30))
    flame = Flame((Box(0, "all", "", 0, 0.0, 1.0, 100, 1.0), *narrow), 1.0, 100, 1.0, False, 0)
    assert _lines(flame_text(flame, 80))[3:] == ["… and 29 deeper rows, too narrow for names"]
    assert len(_lines(flame_text(flame, 200))) == 2 + 30


def test_nothing_to_draw() -> None:
    assert _lines(flame_text(Flame((), 0.0, 0, 5.0, False, 0), 80)) == [
        "0.000 cores busy · 0 samples · 5.0 s",
        "width: cores",
    ]


@pytest.mark.parametrize("depth", ["none", "256", "true"])
@settings(max_examples=40, deadline=None)
@given(name=st.text(max_size=60), width=st.integers(1, 220))
def test_never_wider_than_asked_and_always_printable(depth: Depth, name: str, width: int) -> None:
    for flame in (profile(name), profile(name * 200), difference()):
        lines = _lines(flame_text(flame, width, depth, Caption(name, (START_NS, START_NS + NS), 96, name)))
        assert max(cell_len(line) for line in lines) <= width
        assert all(line.isprintable() for line in lines)
