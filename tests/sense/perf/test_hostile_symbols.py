"""Files made to cost memory or time: headers that claim much, many tables over the same bytes, names that unfold."""

from __future__ import annotations

import struct
import time
import tracemalloc

import numpy as np
import pytest
from perf.elf_builder import elf

from necroscope.errors import Unavailable
from necroscope.sense.perf.symbols.demangle import bounded, demangle
from necroscope.sense.perf.symbols.elf import Elf, TooLarge

GLOBAL = 1 << 4 | 2


def read(data: bytes):  # type: ignore[no-untyped-def]
    return lambda offset, size: data[offset : offset + size]


def many_sections(count: int, kind: int, offset: int, size: int, names_bytes: int = 16) -> bytes:
    """A header and so many equal sections; their names are one run of letters without an end."""
    names_at = 64 + 64 * count
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQ", 3, 62, 1, 0, 0, 64)
    head += struct.pack("<IHHHHHH", 0, 64, 56, 0, 64, count, 0)
    first = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, names_at, names_bytes, 0, 0, 1, 0)
    other = struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, 0, 0, 8, 24)
    return head + first + other * (count - 1) + b"n" * names_bytes


def peak_of(data: bytes) -> int:
    """Bytes that were held at most while the file was read."""
    tracemalloc.start()
    try:
        Elf(read(data), 24 << 20).symbols()
    except Unavailable:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


def test_names_of_sections_are_short_whatever_the_file_says() -> None:
    data = many_sections(4096, 1, 0, 0, names_bytes=1 << 20)
    assert len(data) < 1_400_000
    assert peak_of(data) < 16 << 20
    assert max(len(one.name) for one in Elf(read(data)).sections) == 128


def test_tables_over_the_same_bytes_count_once() -> None:
    symbols = struct.pack("<IBBHQQ", 1, GLOBAL, 0, 1, 0x1000, 16) * 40_000
    data = many_sections(4096, 2, 64 + 64 * 4096 + 16, len(symbols)) + symbols
    began = time.monotonic()
    assert peak_of(data) < 32 << 20
    assert time.monotonic() - began < 30


def test_tables_are_bounded_in_sum() -> None:
    data = many_sections(3, 2, 1 << 20, 30 << 20)
    with pytest.raises(TooLarge):
        Elf(read(data), 24 << 20).symbols()


@pytest.mark.parametrize("step", [57, 65, 300, 65535])
def test_a_header_table_with_odd_steps_reads_little(step: int) -> None:
    data = bytearray(many_sections(4, 1, 0, 0))
    data[58:60] = struct.pack("<H", step)
    asked: list[int] = []

    def counting(offset: int, size: int) -> bytes:
        asked.append(size)
        return bytes(data[offset : offset + size])

    Elf(counting)
    assert max(asked) <= 1 << 20


def test_many_symbols_at_one_address_do_not_make_its_name_dear() -> None:
    data = elf([(f"f{number}", 0x11000, 16, GLOBAL) for number in range(20_000)])
    table = Elf(read(data)).symbols()
    read_one, places = table._names, []

    def counting(place: int) -> bytes:
        places.append(place)
        return read_one(place)

    table._names = counting
    assert table.name(int(table.find(np.array([0x1000], np.uint64))[0])).startswith("f")
    assert 0 < len(places) <= 64


def unfolding(levels: int) -> str:
    """Each parameter is a template of the one before, three times."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    text, last, count = "_Z1f1a", "S_", 1
    for _ in range(levels):
        text += ("1c" if count == 1 else "S0_") + f"I{last * 3}E"
        count += 2 if count == 1 else 1
        number = count - 2
        last = f"S{digits[number // 36] if number >= 36 else ''}{digits[number % 36]}_"
    return text


def test_a_name_that_unfolds_without_end_stays_as_it_is() -> None:
    name = unfolding(40)
    assert len(name) < 700
    began = time.monotonic()
    assert demangle(name) == name
    assert time.monotonic() - began < 5


def test_a_name_that_unfolds_a_little_is_readable_and_cut() -> None:
    assert bounded(unfolding(4))
    assert demangle(unfolding(4)).startswith("f")
    assert len(demangle("_ZN" + "1a" * 400 + "E")) <= 1024


@pytest.mark.parametrize("count", [2, 3, 6])
def test_packs_in_packs_are_bounded(count: int) -> None:
    name = "_Z1fIJ" + "i" * 300 + "EEv" + "Dp1aIT_DpT_E" * count
    began = time.monotonic()
    demangle(name)
    assert time.monotonic() - began < 5
