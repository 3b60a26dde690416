"""Small pictures: seconds of a core, counts against restarts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from necroscope.clock import NS
from necroscope.show.why.pictures import core_strip, growth_caption, growth_chart
from necroscope.vocabulary.verdict import Growth, Strip
from stage.verdicts import AT_NS, GROWTH, STRIP


def _lines(texts: list[object]) -> list[str]:
    return [str(text).rstrip() for text in texts]


def test_a_taken_core_stands_out_and_the_symptom_is_below_its_second() -> None:
    core, kernel, every, mark, axis = _lines(list(core_strip(STRIP, AT_NS, 76)))
    assert core == f"core 39   ▁▁▁·{'▁' * 16}{'█' * 7}{'▁' * 8} 100 %"
    assert kernel.startswith(f"in kernel ▁▁▁·{'▁' * 16}{'█' * 7}")
    assert every.endswith("   8 %")
    assert mark == f"{'':40}▲ the symptom"
    assert "╵03:04:00" in axis
    assert axis.endswith("UTC")


def test_what_is_longer_than_the_line_shows_the_highest_second() -> None:
    busy = tuple(1.0 if n == 333 else 0.0 for n in range(600))
    core, *_ = _lines(list(core_strip(replace(STRIP, busy=busy, system=busy, average=busy), None, 76)))
    assert core.count("█") == 1
    assert cell_len(core) <= 76


@pytest.mark.parametrize("second", [0, 34])
def test_the_word_is_where_there_is_room(second: int) -> None:
    (mark,) = [line for line in _lines(list(core_strip(STRIP, STRIP.from_ns + second * NS, 56))) if "▲" in line]
    assert "the symptom" in mark
    assert cell_len(mark) <= 56
    assert mark.index("▲") == 10 + second


def test_a_core_that_nobody_knows_has_no_picture() -> None:
    assert core_strip(Strip(0, AT_NS, (None,) * 5, (None,) * 5, (None,) * 5), AT_NS, 76) == []
    assert core_strip(Strip(0, AT_NS, (), (), ()), AT_NS, 76) == []


def test_shares_that_are_none_are_drawn_as_the_nearest_one() -> None:
    odd = (1e18, -1e18, 0.5)
    core, *_ = _lines(list(core_strip(Strip(0, AT_NS, odd, (None,) * 3, (None,) * 3), None, 76)))
    assert core.startswith("core 0    █▁▄")


def test_a_symptom_outside_has_no_mark() -> None:
    assert not any("▲" in line for line in _lines(list(core_strip(STRIP, AT_NS + 3600 * NS, 76))))


def test_growth_rises_from_the_first_count_to_the_last() -> None:
    top, _, _, bottom, restarts, axis = _lines(list(growth_chart(GROWTH, 76)))
    assert top.startswith("  68,540 ┤ ")
    assert top.endswith("█")
    assert bottom.startswith("  68,000 ┤▁")
    assert bottom.endswith("█")
    assert restarts.count("╷") == 12
    assert "╵02:15" in axis
    assert growth_caption(GROWTH) == "zombies over time, and restarts of acme-agent.service since the look before"


@pytest.mark.parametrize("width", [24, 80, 200])
def test_growth_fits(width: int) -> None:
    assert max(cell_len(line) for line in _lines(list(growth_chart(GROWTH, width)))) <= width


def test_restarts_are_counted_where_they_were_noticed() -> None:
    looks = tuple((GROWTH.at_ns[n], 1 if n == 120 else 21) for n in (60, 120, 360))
    line = _lines(list(growth_chart(replace(GROWTH, restarts=looks), 76)))[4]
    assert line.split() == ["restarts", "+21", "╷", "+21"]
    assert line.index("+21") + 2 == 10 + 60 * 63 // 360
    assert line.endswith("+21")
    assert len(line) == 10 + 64
    in_one = replace(GROWTH, restarts=tuple((GROWTH.at_ns[200] + n, 1) for n in range(50)))
    assert _lines(list(growth_chart(in_one, 76)))[4].split() == ["restarts", "+50"]


def test_where_numbers_have_no_room_there_are_ticks() -> None:
    crowd = tuple((GROWTH.at_ns[n], 2) for n in range(361))
    line = _lines(list(growth_chart(replace(GROWTH, restarts=crowd), 76)))[4]
    assert line == f"restarts  {'‖' * 64}"
    beside = replace(GROWTH, restarts=((GROWTH.at_ns[0], 7), (GROWTH.at_ns[6], 1)))
    assert _lines(list(growth_chart(beside, 76)))[4] == "restarts  ‖╷"
    apart = replace(GROWTH, restarts=((GROWTH.at_ns[0], 7), (GROWTH.at_ns[60], 1)))
    assert _lines(list(growth_chart(apart, 76)))[4] == "restarts  +7        ╷"


def test_restarts_that_were_noticed_after_the_last_count_are_shown() -> None:
    late = replace(GROWTH, restarts=((GROWTH.at_ns[-1] + 60 * NS, 9),))
    assert _lines(list(growth_chart(late, 76)))[4].endswith("+9")


def test_no_growth_is_a_flat_line() -> None:
    flat = Growth("zombies", (0, 10 * NS), (5, 5))
    lines = _lines(list(growth_chart(flat, 40)))
    assert lines[0] == "       5 ┤"
    assert set(lines[3][10:]) == {"▁"}
    assert growth_caption(flat) == "zombies over time"


def test_one_count_is_no_growth() -> None:
    assert growth_chart(Growth("zombies", (AT_NS,), (5,)), 80) == []
    assert growth_chart(Growth("zombies", (), ()), 80) == []
    assert growth_chart(Growth("zombies", (AT_NS, AT_NS), (5, 6)), 80) == []
