from __future__ import annotations

import struct

import pytest

from kernel.btf_builder import BtfBuilder
from kernel.fake_kernel import kernel_btf
from necroscope.errors import Unavailable
from necroscope.sense.kernel.btf import Btf
from necroscope.sense.kernel.layout import MemcgLayout, Window


def btf() -> Btf:
    b = BtfBuilder()
    b.struct("thing", 4096, [("late", b.ints[8], 24), ("early", b.ints[4], 8), ("far", b.ints[8], 4000)])
    b.struct("odd", 64, [("array", b.array(b.ints[8], 3), 0)])
    return Btf(bytes(b))


def test_values_come_in_the_order_asked_for() -> None:
    window = Window.of(btf(), "thing", "late", "early")
    assert (window.start, window.length) == (8, 24)
    data = struct.pack("<I12xQ", 1, 2) + struct.pack("<I12xQ", 3, 4)
    assert list(window.rows(data)) == [(2, 1), (4, 3)]


def test_one_member_is_still_a_row() -> None:
    assert list(Window.of(btf(), "thing", "early").rows(b"\7\0\0\0")) == [(7,)]


def test_older_names_are_tried() -> None:
    assert Window.of(btf(), "thing", "newer|early").start == 8


def test_what_cannot_be_fetched_in_one_piece_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="larger than expected"):
        Window.of(btf(), "thing", "early", "far")
    with pytest.raises(Unavailable, match="not laid out as expected"):
        Window.of(btf(), "odd", "array")
    with pytest.raises(Unavailable, match="not laid out as expected"):
        Window.of(btf(), "thing", "early", "early")


def test_the_layout_of_memory_cgroups() -> None:
    layout = MemcgLayout.of(kernel_btf())
    assert (layout.online, layout.dying, layout.set_memory) == (2, 16, 32 + 24)
    assert (layout.sibling, layout.children, layout.css.start, layout.css.length) == (32, 48, 0, 80)


def test_a_kernel_without_memory_cgroups_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="no memory cgroups"):
        MemcgLayout.of(btf())
