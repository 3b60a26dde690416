"""The memory of the shootdown storm."""

from __future__ import annotations

import ctypes

from necroscope.lab.scenarios.tlb_shootdown import TABLE, Moving, shootdowns


def test_what_is_moved_is_there_afterwards() -> None:
    memory = Moving(3 * TABLE)
    first = memory.here
    ctypes.memset(first + TABLE, 77, 1)
    memory.move()
    assert memory.here == first + 3 * TABLE
    assert ctypes.string_at(memory.here + TABLE, 1) == b"\x4d"
    # the old place is still ours, and empty
    assert ctypes.string_at(first + TABLE, 1) == b"\x00"
    memory.move()
    assert memory.here == first
    assert ctypes.string_at(first + TABLE, 1) == b"\x4d"


def test_interrupts_are_summed_over_cores() -> None:
    text = "           CPU0       CPU1\nCAL:        900        901   Function call interrupts\n"
    assert shootdowns(text + "TLB:        120          3   TLB shootdowns\n") == 123
    assert shootdowns(text) == 0
    assert shootdowns("") == 0
