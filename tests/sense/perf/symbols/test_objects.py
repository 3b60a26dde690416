"""Files that an imported recording names: the right one is read, a wrong one never is."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from perf.elf_builder import BUILD_ID, elf

from necroscope.errors import BadInput
from necroscope.sense.host import Host
from necroscope.sense.perf.format.sideband import MappedFile
from necroscope.sense.perf.symbols import objects
from necroscope.sense.perf.symbols.objects import ObjectFiles
from necroscope.sense.perf.symbols.symtab import SymbolTable

GLOBAL = 1 << 4 | 2


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "libone.so"
    path.write_bytes(elf([("the_function", 0x11000, 16, GLOBAL)]))
    return path


def mapped(path: Path, **identity: object) -> MappedFile:
    return MappedFile(str(path), **identity)  # type: ignore[arg-type]


def name(table: SymbolTable | None) -> str | None:
    return None if table is None else table.name(int(table.find(np.array([0x1000], np.uint64))[0]))


def test_a_file_is_recognised_by_its_build_id(library: Path) -> None:
    files = ObjectFiles(Host())
    assert name(files.table(mapped(library, build_id=BUILD_ID.hex()))) == "the_function"
    assert files.table(mapped(library, build_id="00" * 20)) is None


def test_a_build_id_from_elsewhere_counts_too(library: Path) -> None:
    files = ObjectFiles(Host())
    files.build_ids = {str(library): "11" * 20}
    assert files.table(mapped(library)) is None


def test_without_a_build_id_the_inode_decides(library: Path) -> None:
    files = ObjectFiles(Host())
    assert name(files.table(mapped(library, inode=library.stat().st_ino))) == "the_function"
    assert files.table(mapped(library, inode=library.stat().st_ino + 1)) is None


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/passwd")])
def test_what_is_no_regular_file_is_not_read(tmp_path: Path, make: object) -> None:
    make(tmp_path / "odd")  # type: ignore[operator]
    assert ObjectFiles(Host()).table(mapped(tmp_path / "odd")) is None


def test_tables_that_were_read_first_go_when_memory_is_short(tmp_path: Path) -> None:
    files = ObjectFiles(Host(), memory=1000)
    for number in range(5):
        path = tmp_path / f"lib{number}"
        path.write_bytes(elf([(f"function_{number}_{n}", 0x11000 + 16 * n, 16, GLOBAL) for n in range(20)]))
        files.table(mapped(path))
    assert len(files._tables) == 1


def test_a_captured_host_has_no_files_to_map(tmp_path: Path, library: Path) -> None:
    assert ObjectFiles(Host(tmp_path)).table(mapped(library)) is None
    with pytest.raises(BadInput):
        Host(tmp_path / "nothing")


@pytest.mark.parametrize("most", [1 << 20, 8])
def test_names_are_taken_in_with_the_file_unless_they_are_too_many(
    library: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_NAMES_BYTES", most)
    table = ObjectFiles(Host()).table(mapped(library))
    library.write_bytes(library.read_bytes().replace(b"the_function", b"not_the_same"))
    assert name(table) == ("the_function" if most > 8 else "not_the_same")
