"""Nothing from a node can move a terminal's cursor."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from necroscope.show.plain import plain, shortened, valid


def test_escape_sequences_are_written_out() -> None:
    assert plain("a\x1b[2Jb\n\x07\x9b") == r"a\x1b[2Jb\x0a\x07\x9b"
    assert plain("/docker/\udcff") == r"/docker/\xff"
    assert plain("zä – ok") == "zä – ok"


@given(st.text())
def test_whatever_comes_is_printable(text: str) -> None:
    assert plain(text).isprintable()


@given(st.text(), st.integers(5, 50))
def test_shortened_keeps_both_ends(text: str, width: int) -> None:
    short = shortened(text, width)
    assert len(short) <= width
    assert short[: (width - 1) // 2] == text[: (width - 1) // 2]


def test_json_strings_are_valid_unicode() -> None:
    document = valid({"a": ["x\udc80", "ä", 1, None]})
    assert document == {"a": [r"x\x80", "ä", 1, None]}
    json.dumps(document, ensure_ascii=False).encode("utf-8")
