"""Long lines that somebody made to be slow: time grows with their length, not with its square."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest

from necroscope.errors import BadInput
from necroscope.sense.importers.perf_script.lines import parse_frame, parse_head
from necroscope.sense.importers.perf_script.timeless import is_flat, is_frame
from necroscope.sense.importers.profiles.folded_lines import parse_line
from necroscope.sense.importers.sniff import kind_of_text

BEFORE = (b"", b"a", b"x 7/7 [001] 5.1: ", b"\tffff f+0x1 (")
AGAIN = (b" ", b"1 ", b"a ", b" (", b")", b" (/", b";", b"\t", b"1.1 ", b"1: ", b" (a) ", b"a;1 ", b"[1] ")
AFTER = (b"", b"x", b")", b" (")
LONG = 400_000
_MOST_S = 5.0


@pytest.mark.parametrize("parse", [parse_head, parse_frame, parse_line, is_frame, is_flat])
def test_a_line_of_any_length_is_parsed_in_no_time(parse: Callable[[bytes], object]) -> None:
    """With runs that are tried at all their places, 4,000 bytes took a second; here each of the lines has 400,000."""
    for before in BEFORE:
        for again in AGAIN:
            for after in AFTER:
                line = before + again * (LONG // len(again)) + after
                began = time.process_time()
                parse(line)
                assert time.process_time() - began < _MOST_S, (before, again, after)


@pytest.mark.parametrize("again", AGAIN)
def test_a_head_of_one_long_line_is_reported_in_no_time(again: bytes) -> None:
    text = b"a" + again * ((64 << 10) // len(again)) + b"x\n"
    began = time.process_time()
    with contextlib.suppress(BadInput):
        kind_of_text(text, "x")
    assert time.process_time() - began < _MOST_S
