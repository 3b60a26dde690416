"""ELF symbols: chosen, moved to file offsets, bounded; and what binutils says of a real library."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perf.elf_builder import ARM64, BUILD_ID, JUMP_SLOT, TLS, elf

from necroscope.errors import Unavailable
from necroscope.sense.perf.symbols.elf import Elf, parse_build_id

GLOBAL, LOCAL, WEAK = 1 << 4 | 2, 0 << 4 | 2, 2 << 4 | 2


def opened(data: bytes, limit: int = 1 << 20) -> Elf:
    return Elf(lambda offset, size: data[offset : offset + size], limit)


def names(file: Elf, *offsets: int) -> list[str]:
    table = file.symbols()
    return [table.name(place) if place >= 0 else "-" for place in table.find(np.array(offsets, np.uint64)).tolist()]


def test_an_offset_lies_in_the_function_that_holds_it() -> None:
    file = opened(elf([("one", 0x11000, 16, GLOBAL), ("two", 0x11020, 16, LOCAL), ("data", 0x11040, 8, 1 << 4 | 1)]))
    assert names(file, 0xFFF, 0x1000, 0x100F, 0x1010, 0x102F, 0x1040, 0x9999) == [
        "-",
        "one",
        "one",
        "-",
        "two",
        "data",
        "-",
    ]


def test_the_better_of_two_names_is_taken() -> None:
    both = [
        ("weak", 0x11000, 16, WEAK),
        ("__under", 0x11000, 16, GLOBAL),
        ("name", 0x11000, 16, GLOBAL),
        ("local_longer", 0x11000, 16, LOCAL),
    ]
    assert names(opened(elf(both)), 0x1000) == ["name"]


def test_a_symbol_without_a_size_reaches_to_the_next() -> None:
    file = opened(elf([("start", 0x11000, 0, GLOBAL), ("next", 0x11100, 4, GLOBAL)]))
    assert names(file, 0x10FF, 0x1103, 0x1104) == ["start", "next", "-"]


def test_stubs_of_other_files_functions_have_names() -> None:
    file = opened(elf([], [("malloc", 0, 0, GLOBAL), ("free", 0, 0, GLOBAL)], plt=[2, 1, 77]))
    assert names(file, 0x1800, 0x1810, 0x1820, 0x1830) == ["-", "free@plt", "malloc@plt", "*@plt"]


@pytest.mark.parametrize(
    ("size", "told", "step"), [(32 + 32, 16, 16), (32 + 32, 0, 16), (32 + 48, 0, 24), (32 + 48, 24, 24)]
)
def test_stubs_of_arm64_begin_behind_32_bytes(size: int, told: int, step: int) -> None:
    both = [("malloc", 0, 0, GLOBAL), ("free", 0, 0, GLOBAL)]
    data = elf([], both, plt=[2, 1], machine=ARM64, relocation=JUMP_SLOT, plt_section=(size, told))
    places = [0x1810, 0x1820, 0x1820 + step - 1, 0x1820 + step, 0x1820 + 2 * step]
    assert names(opened(data), *places) == ["-", "free@plt", "free@plt", "malloc@plt", "-"]


def test_thread_local_variables_have_no_stub_on_arm64() -> None:
    both = [("malloc", 0, 0, GLOBAL), ("free", 0, 0, GLOBAL)]
    data = elf([], both, plt=[1, 2 << 32 | TLS, 2], machine=ARM64, relocation=JUMP_SLOT, plt_section=(64, 16))
    assert names(opened(data), 0x1820, 0x1830, 0x1840) == ["malloc@plt", "free@plt", "-"]


MARKED = [
    ("$x", 0x11000, 0, 0),
    ("worker", 0x11000, 16, GLOBAL),
    ("$d.7", 0x11008, 0, 0),
    ("$dollar", 0x11020, 0, 0),
    ("$x", 0x11030, 4, LOCAL),
]


def test_mapping_symbols_of_arm64_are_no_functions() -> None:
    """A label that only begins like one is none, nor is a function; other machines have none."""
    offsets = (0x1004, 0x1009, 0x1020, 0x1030)
    assert names(opened(elf(MARKED, machine=ARM64)), *offsets) == ["worker", "worker", "$dollar", "$x"]
    assert names(opened(elf(MARKED)), *offsets) == ["worker", "$d.7", "$dollar", "$x"]


def test_the_build_id_is_found() -> None:
    assert opened(elf([("a", 0x11000, 1, GLOBAL)])).build_id() == BUILD_ID.hex()


def test_a_stripped_file_borrows_the_symbols_of_its_debug_file() -> None:
    stripped = opened(elf([], [("exported", 0x11000, 8, GLOBAL)]))
    debug = Elf(lambda offset, size: full[offset : offset + size], segments=stripped.segments)
    table = stripped.symbols(debug)
    assert [table.name(place) for place in table.find(np.array([0x1000, 0x1010], np.uint64)).tolist()] == [
        "exported",
        "hidden",
    ]


full = elf([("hidden", 0x11010, 8, LOCAL)])


def test_too_large_a_table_is_not_read() -> None:
    with pytest.raises(Unavailable, match="larger than"):
        opened(elf([("a", 0x11000, 1, GLOBAL)] * 100), limit=100).symbols()


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x01\x01" + bytes(80), b"#!/bin/sh\n" + bytes(80)])
def test_what_is_no_such_file_is_refused(data: bytes) -> None:
    with pytest.raises(Unavailable):
        opened(data)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(full) - 1), st.integers(0, 255)), max_size=12), st.integers(0, len(full)))
def test_broken_files_raise_nothing_else(changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(full)
    for place, value in changes:
        data[place] = value
    try:
        file = opened(bytes(data[:cut]))
        file.build_id()
        file.symbols().find(np.array([0, 0x1010, 2**64 - 1], np.uint64))
    except Unavailable:
        pass


@given(st.binary(max_size=100))
def test_any_notes_are_survived(notes: bytes) -> None:
    assert len(parse_build_id(notes)) <= 128


@pytest.mark.skipif(shutil.which("readelf") is None, reason="needs binutils")
def test_a_real_library_has_the_functions_that_binutils_lists() -> None:
    path = Path(os.__file__).parent / "lib-dynload"
    library = next(iter(sorted(path.glob("_json*.so"))), None) or Path("/lib/x86_64-linux-gnu/libc.so.6")
    if not library.exists():
        pytest.skip("no library to look at")
    fd = os.open(library, os.O_RDONLY)
    try:
        table = Elf(lambda offset, size: os.pread(fd, size, offset)).symbols()
        known = {table.name(place) for place in range(len(table))}
    finally:
        os.close(fd)
    listed = subprocess.run(["readelf", "-sW", str(library)], capture_output=True, text=True, check=True).stdout
    functions = re.findall(
        r"^\s*\d+: ([0-9a-f]{16})\s+([1-9]\d*) FUNC\s+GLOBAL\s+DEFAULT\s+\d+ (\w+)", listed, re.MULTILINE
    )
    assert functions
    assert sum(name in known for _, _, name in functions) >= 0.9 * len(functions)
