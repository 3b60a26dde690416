from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.btf_builder import UNION, BtfBuilder
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.kernel.btf import Btf, Member, read_btf

VMLINUX = Path("/sys/kernel/btf/vmlinux")


def small() -> bytes:
    b = BtfBuilder()
    b.forward("outer")
    inner = b.struct("inner", 16, [("a", b.ints[4], 0), ("b", b.ints[8], 8)])
    hidden = b.struct("", 8, [("low", b.ints[4], 0), ("high", b.ints[4], 4)])
    choice = b.struct("", 8, [("whole", b.ints[8], 0), ("", hidden, 0)], UNION)
    alias = b.typedef("inner_t", b.const(inner))
    grid = b.array(b.array(b.ints[2], 3), 4)
    b.struct(
        "outer",
        128,
        [
            ("first", b.ptr, 0),
            ("", choice, 8),
            ("nested", alias, 16),
            ("grid", grid, 32),
            ("tail", b.array(inner, 0), 120),
        ],
    )
    b.enum("", {"ALPHA": 1, "BETA": -2})
    return bytes(b)


def test_members_by_path_through_anonymous_ones_and_typedefs() -> None:
    btf = Btf(small())
    assert btf.member("outer", "first") == Member(0, 8)
    assert btf.member("outer", "whole") == Member(8, 8)
    assert btf.member("outer", "high") == Member(12, 4)
    assert btf.member("outer", "nested.b") == Member(24, 8)
    assert btf.offset("outer", "renamed", "nested.a") == 16
    assert btf.sizeof("outer") == 128


def test_arrays_tell_their_dimensions_and_element_size() -> None:
    btf = Btf(small())
    assert btf.member("outer", "grid") == Member(32, 24, (4, 3), 2)
    assert btf.member("outer", "tail") == Member(120, 0, (0,), 16)


def test_enumerators_are_found_wherever_they_stand() -> None:
    btf = Btf(small())
    assert (btf.enum_value("ALPHA"), btf.enum_value("BETA"), btf.enum_value("GAMMA")) == (1, -2, None)
    # a member's name is no enumerator
    assert btf.enum_value("nested") is None


def test_what_is_missing_is_named() -> None:
    btf = Btf(small())
    assert (btf.has("outer", "first"), btf.has("outer", "second"), btf.has_struct("other")) == (True, False, False)
    with pytest.raises(Unavailable, match="struct outer has no second"):
        btf.member("outer", "second")
    with pytest.raises(Unavailable, match="no struct other"):
        btf.sizeof("other")


@pytest.mark.parametrize("data", [b"", b"\x9f\xeb", b"\xeb\x9f" + bytes(60), bytes(4096), small()[:-1], small()[:60]])
def test_what_is_no_btf_is_unavailable(data: bytes) -> None:
    with pytest.raises(Unavailable, match="BTF cannot be used"):
        Btf(data)


def test_a_chain_of_typedefs_in_a_circle_ends() -> None:
    b = BtfBuilder()
    number = len(b._types) + 1
    b.typedef("loop", number)
    b.struct("outer", 8, [("", number, 0), ("x", number, 0)])
    with pytest.raises(Unavailable, match="without end"):
        Btf(bytes(b)).member("outer", "x")


def test_a_struct_that_holds_itself_namelessly_ends() -> None:
    b = BtfBuilder()
    number = len(b._types) + 1
    b.struct("outer", 8, [("", number, 0)] * 100)
    assert not Btf(bytes(b)).has("outer", "x")


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=8))
def test_flipped_bytes_are_unavailable_or_an_answer(changes: list[tuple[int, int]]) -> None:
    data = bytearray(small())
    for where, value in changes:
        data[where % len(data)] = value
    try:
        btf = Btf(bytes(data))
        btf.enum_value("BETA")
        for path in ("first", "high", "nested.b", "grid", "tail"):
            assert btf.member("outer", path).offset >= 0
    except Unavailable:
        pass


@pytest.mark.skipif(not VMLINUX.exists(), reason="this kernel has no BTF")
def test_the_kernels_own() -> None:
    data = VMLINUX.read_bytes()
    started = time.process_time()
    btf = Btf(data)
    spent = time.process_time() - started
    assert btf.member("list_head", "prev") == Member(8, 8)
    assert btf.member("task_struct", "comm").size == 16
    assert btf.offset("mem_cgroup", "css") == 0
    assert btf.enum_value("CSS_ONLINE") == 2
    assert btf.sizeof("page") == 64
    # 0.03 s where this was written; a parser that decodes every type takes ten times as long
    assert spent < 0.3


def test_a_kernel_without_types_is_said_to_be_too_old_for_names(tmp_path: Path) -> None:
    """As 5.4: counts, parents and restarts are seen all the same."""
    with pytest.raises(Unavailable, match="counted and not named") as raised:
        read_btf(Host(tmp_path))
    assert raised.value.hint.startswith("names need 5.10")


def test_the_kernels_own_types_are_read(tmp_path: Path) -> None:
    (tmp_path / "sys/kernel/btf").mkdir(parents=True)
    builder = BtfBuilder()
    builder.struct("thing", 48, [])
    (tmp_path / "sys/kernel/btf/vmlinux").write_bytes(bytes(builder))
    assert read_btf(Host(tmp_path)).sizeof("thing") == 48
