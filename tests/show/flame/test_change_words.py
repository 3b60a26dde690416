"""Changes in words that fit."""

from __future__ import annotations

from necroscope.query.profile.changes import Step
from necroscope.show.flame.change_words import chance_said, tail_of


def test_chances() -> None:
    assert [chance_said(one) for one in (0.009, 0.0004, 1e-9)] == ["0.90 %", "0.04 %", "<0.01 %"]


def test_the_innermost_frames_of_a_path_fit() -> None:
    path = [Step("main", ""), Step("run", ""), Step("read_all", "libio.so"), Step("parse", "")]
    assert tail_of(path, 40) == "main › run › read_all › parse"
    assert tail_of(path, 24) == "… › read_all › parse"
    assert tail_of(path, 5) == "parse"
    assert tail_of(path, 4) == "par…"


def test_recursion_and_functions_without_a_name() -> None:
    assert tail_of([Step("eval", "", 2), Step("[unknown]", "libfoo.so")], 40) == "eval ×2 › [libfoo.so]"
