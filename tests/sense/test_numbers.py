"""Numbers in the kernel's text files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import Unavailable
from necroscope.sense.numbers import count, counts, cpu_list, decimal, flat_keyed, hexadecimal, whole_lines

_NO_COUNTS = [b"", b"-1", b"+1", b" 1", b"1_0", b"0x1", b"1.0", b"9" * 6000, b"18446744073709551616", "٣".encode()]


def test_a_line_that_was_cut_is_left_out() -> None:
    assert whole_lines(b"a 1\nb 22\nc 33") == [b"a 1", b"b 22"]
    assert whole_lines(b"") == []


@given(st.integers(0, (1 << 64) - 1))
def test_a_count_is_any_64_bit_number(value: int) -> None:
    assert count(b"%d" % value) == value
    assert hexadecimal(b"%x" % value) == value


@pytest.mark.parametrize("token", _NO_COUNTS)
def test_nothing_else_is_a_count(token: bytes) -> None:
    assert count(token) is None
    assert counts([b"1", token, b"2"]) is None


def test_counts_are_all_or_nothing() -> None:
    assert counts([b"1", b"22"]) == (1, 22)
    assert counts([]) == ()
    assert counts([b"12", b""]) is None


@pytest.mark.parametrize("token", [b"", b"0x1", b"g", b"-1", b"1_0", b"f" * 17])
def test_nothing_else_is_hexadecimal(token: bytes) -> None:
    assert hexadecimal(token) is None


def test_decimals() -> None:
    assert decimal(b"786.70") == 786.7
    assert decimal(b"3") == 3.0
    assert [decimal(token) for token in (b"", b".5", b"1.", b"-1", b"nan", b"inf", b"1e5", b"9" * 400)] == [None] * 8


def test_flat_keyed_leaves_out_what_has_another_shape() -> None:
    assert flat_keyed(b"nr_periods 5\nbroken\nminus -1\ntoo many 1\n\xff 3\nlast 7") == {"nr_periods": 5, "\ufffd": 3}


@pytest.mark.parametrize(
    ("text", "cpus"),
    [(b"0-3,8\n", (0, 1, 2, 3, 8)), (b"5\n", (5,)), (b"\n", ()), (b"2,0-1", (0, 1, 2)), (b"0-1,1-2\n", (0, 1, 2))],
)
def test_cpu_lists(text: bytes, cpus: tuple[int, ...]) -> None:
    assert cpu_list(text) == cpus


@pytest.mark.parametrize("text", [b"3-1", b"0-99999", b"0-4294967295", b"-1", b"x", b"0-", b"\xff", b"1 2"])
def test_strange_cpu_lists_are_refused_without_building_them(text: bytes) -> None:
    with pytest.raises(Unavailable, match="list of CPUs"):
        cpu_list(text)


@given(st.sets(st.integers(0, 300)))
def test_cpu_lists_are_rebuilt(cpus: set[int]) -> None:
    assert cpu_list(",".join(map(str, cpus)).encode()) == tuple(sorted(cpus))
