"""The kernel's list of symbols."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import Unavailable
from necroscope.sense.perf.symbols.kallsyms import KernelSymbols, parse_kallsyms, reference_address

TEXT = b"""0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000100 T memcpy
ffffffff81000100 T __pi_memcpy
ffffffff81000200 W weak_alias
ffffffff81000300 r read_only
ffffffff81000400 D data
ffffffffc0001000 t ext4_readdir\t[ext4]
"""


def names(symbols: KernelSymbols, *addresses: int) -> list[tuple[str, str]]:
    places = symbols.find(np.array(addresses, np.uint64)).tolist()
    return [symbols.name(place) if place >= 0 else ("", "") for place in places]


def test_addresses_have_names_and_modules() -> None:
    asked = (0xFFFFFFFF81000010, 0xFFFFFFFF81000310, 0xFFFFFFFFC0001FFF, 0xFFFFFFFFC0002000)
    assert names(parse_kallsyms(TEXT), *asked) == [
        ("_text", "[kernel]"), ("weak_alias", "[kernel]"), ("ext4_readdir", "[ext4]"), ("", "")
    ]  # fmt: skip


def test_of_several_names_the_last_is_taken_as_perf_does() -> None:
    assert names(parse_kallsyms(TEXT), 0xFFFFFFFF81000100) == [("__pi_memcpy", "[kernel]")]


def test_the_last_symbol_before_a_hole_does_not_fill_it() -> None:
    assert names(parse_kallsyms(TEXT), 0xFFFFFFFF81000FFF, 0xFFFFFFFF90000000) == [("data", "[kernel]"), ("", "")]


def test_mapping_symbols_of_modules_are_no_functions() -> None:
    marked = b"".join(
        b"ffffffffc0002%03x t %s\t[ena]\n" % (at, name) for at, name in enumerate((b"poll", b"$x", b"$d.4"))
    )
    listed = parse_kallsyms(TEXT + marked + b"ffffffffc0002100 t $dollar\t[ena]\nffffffffc0002200 t $x")
    asked = (0xFFFFFFFFC0002000, 0xFFFFFFFFC0002002, 0xFFFFFFFFC0002100, 0xFFFFFFFFC0002200)
    assert names(listed, *asked) == [("poll", "[ena]"), ("poll", "[ena]"), ("$dollar", "[ena]"), ("$dollar", "[ena]")]


def test_another_boot_moves_the_kernel_but_not_its_modules() -> None:
    moved = parse_kallsyms(TEXT).moved(0x1000000)
    assert names(moved, 0xFFFFFFFF82000010, 0xFFFFFFFFC1001010, 0xFFFFFFFF81000010) == [
        ("_text", "[kernel]"),
        ("", ""),
        ("", ""),
    ]


def test_a_reference_is_found_by_its_exact_name() -> None:
    assert reference_address(TEXT, "_text") == 0xFFFFFFFF81000000
    assert reference_address(TEXT, "text") is None


def test_hidden_addresses_are_said_to_be_hidden() -> None:
    with pytest.raises(Unavailable, match="hides"):
        parse_kallsyms(b"0000000000000000 T a\n0000000000000000 t b\n")


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"hello\n", b"ffffffff81000000 A absolute\n", b"zzzzzzzzzzzzzzzz T a\n"]
)
def test_nothing_to_read_is_said(data: bytes) -> None:
    with pytest.raises(Unavailable):
        parse_kallsyms(data)


def test_broken_lines_are_passed_over() -> None:
    assert names(parse_kallsyms(b"garbage\n" + TEXT[:-10]), 0xFFFFFFFF81000010) == [("_text", "[kernel]")]


@given(st.binary(max_size=300))
def test_any_bytes_give_symbols_or_say_why_not(data: bytes) -> None:
    try:
        symbols = parse_kallsyms(data + TEXT[-60:])
    except Unavailable:
        return
    symbols.find(np.array([0, 2**64 - 1], np.uint64))
