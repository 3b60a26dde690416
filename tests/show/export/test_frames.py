"""Frames, numbered."""

from __future__ import annotations

from necroscope.show.export.frames import FrameTable, TextTable, frames_of


def test_a_frame_has_one_number_in_all_stacks() -> None:
    table = FrameTable()
    assert table.numbers("main\x1fa\x1eread\x1flibc\x1e") == [0, 1]
    assert table.numbers("read\x1flibc\x1eread\x1fother\x1e") == [1, 2]
    assert table.numbers("") == []
    assert table.frames() == [("main", "a"), ("read", "libc"), ("read", "other")]
    assert frames_of("") == []


def test_number_zero_is_the_empty_text() -> None:
    text = TextTable()
    assert (text("a"), text(""), text("b"), text("a")) == (1, 0, 2, 1)
    assert text.texts() == ["", "a", "b"]
