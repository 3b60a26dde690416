from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.kernel.pointers import Pointers, parse_image, parse_ram_end

TASK = 0xFFFF_8881_0000_0000
RAM = 16 << 30
IMAGE = (0xFFFF_FFFF_8000_0000, 0xFFFF_FFFF_FE00_0000)
FOLIO = 0xFFFF_EA00_0004_0000


def judge(ram: int | None = RAM) -> Pointers:
    return Pointers(TASK, ram, [IMAGE])


def test_heap_pointers_are_aligned_and_near_the_task() -> None:
    pointers = judge()
    asked = [TASK + 8, TASK + 4, TASK - RAM, TASK + RAM, 0xFFFF_C900_0000_0000, 0x7F00_0000_0000, 0]
    assert pointers.heap(asked) == [TASK + 8, 0, TASK - RAM, 0, 0, 0, 0]
    # null is no offence
    assert pointers.wild == 4


def test_strings_may_be_static_and_unaligned() -> None:
    pointers = judge()
    assert pointers.anywhere([TASK + 3, IMAGE[0] + 1, IMAGE[1]]) == [TASK + 3, IMAGE[0] + 1, 0]
    assert pointers.static([TASK, IMAGE[0]]) == [0, IMAGE[0]]


def test_the_fixmap_which_holds_device_registers_is_no_image() -> None:
    assert judge().anywhere([0xFFFF_FFFF_FF5F_C000]) == [0]


def test_folios_are_whole_structs_near_each_other() -> None:
    pointers = judge()
    span = RAM // 4096 * 64
    assert pointers.folios([FOLIO, FOLIO + 64, FOLIO + 8, TASK, IMAGE[0]]) == [FOLIO, FOLIO + 64, 0, 0, 0]
    assert pointers.folios([FOLIO + 2 * span, FOLIO + span // 2]) == [0, FOLIO + span // 2]


def test_page_structs_of_an_odd_size_are_at_least_aligned() -> None:
    pointers = Pointers(TASK, RAM, [IMAGE], 56)
    assert pointers.folios([FOLIO + 56, FOLIO + 60]) == [FOLIO + 56, 0]


def test_one_wild_pointer_among_the_first_does_not_become_the_anchor() -> None:
    assert judge().folios([0xFFFF_C900_0000_0000, FOLIO, FOLIO + 64]) == [0, FOLIO, FOLIO + 64]


def test_list_poison_is_no_offence() -> None:
    pointers = judge()
    assert pointers.folios([0xDEAD_0000_0000_0100 - 8]) == [0]
    assert pointers.wild == 0


def test_without_the_size_of_ram_the_kernels_half_has_to_do() -> None:
    pointers = judge(None)
    assert pointers.heap([0xFFFF_C900_0000_0000, 0x1000, 0x8000_0000_0000_0000]) == [0xFFFF_C900_0000_0000, 0, 0]


@given(st.lists(st.integers(0, (1 << 64) - 1)))
def test_whatever_is_asked_only_good_pointers_come_back(asked: list[int]) -> None:
    pointers = judge()
    for one in pointers.heap(asked):
        assert one == 0 or (TASK - RAM <= one < TASK + RAM and one % 8 == 0)
    for one in pointers.static(asked):
        assert one == 0 or IMAGE[0] <= one < IMAGE[1]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (
            b"00001000-0009fbff : System RAM\n100000000-63fffffff : System RAM\n  101000000-102 : Kernel code\n",
            0x640000000,
        ),
        (b"00000000-00000000 : System RAM\n", None),
        (b"4000000000-7fffffffff : PCI Bus 0000:00\n", None),
        (b"", None),
        (b"\xff\xfe-zz : System RAM", None),
    ],
)
def test_the_end_of_ram(text: bytes, end: int | None) -> None:
    assert parse_ram_end(text) == end


def test_the_image_from_symbols_and_modules() -> None:
    symbols = b"ffff800080000000 T _text\nffff800080000040 t foo\nffff800082000000 B _end\n"
    modules = b"xfs 1000 1 - Live 0xffff80007a000000\nbad 10 0 - Live 0x0000000000000000 (OE)\n"
    assert parse_image(symbols, modules) == [
        (0xFFFF_8000_8000_0000, 0xFFFF_8000_8200_0000),
        (0xFFFF_8000_7A00_0000, 0xFFFF_8000_7A00_0000 + 1000),
    ]
    assert parse_image(b"0000000000000000 T _text\n0000000000000000 B _end\n", b"") == []


# An arm64 guest with Debian's 6.1, whose symbols are those of functions alone.
DEBIAN_SYMBOLS = b"ffffc85461e10000 T _stext\nffffc85461e10000 T bcm2835_handle_irq\nffffc854629d0000 D _etext\n"
DEBIAN_MEMORY = b"""09000000-09000fff : pl011@9000000
40000000-bfffffff : System RAM
  40210000-4157ffff : Kernel code
  41580000-419fffff : reserved
  41a00000-41c9ffff : Kernel data
"""
ITS_INIT_CSS_SET = 0xFFFF_C854_636B_5970


def test_the_image_where_only_functions_have_symbols() -> None:
    assert parse_image(DEBIAN_SYMBOLS, b"", DEBIAN_MEMORY) == [(0xFFFF_C854_61E1_0000, 0xFFFF_C854_638A_0000)]
    image = parse_image(DEBIAN_SYMBOLS, b"", DEBIAN_MEMORY)
    assert Pointers(0xFFFF_0000_0377_6180, 3 << 30, image).anywhere([ITS_INIT_CSS_SET]) == [ITS_INIT_CSS_SET]


def test_the_image_of_a_kernel_that_counts_its_head_to_the_code() -> None:
    memory = DEBIAN_MEMORY.replace(b"40210000-", b"40200000-")
    assert parse_image(DEBIAN_SYMBOLS, b"", memory) == [(0xFFFF_C854_61E0_0000, 0xFFFF_C854_638A_0000)]


def test_no_image_from_hidden_or_missing_addresses() -> None:
    hidden = re.sub(rb"[0-9a-f]{8}-[0-9a-f]{8}", b"00000000-00000000", DEBIAN_MEMORY)
    assert parse_image(DEBIAN_SYMBOLS, b"", hidden) == []
    assert parse_image(b"0000000000000000 T _stext\n", b"", DEBIAN_MEMORY) == []
    assert parse_image(DEBIAN_SYMBOLS, b"", b"") == []
