"""Mapped files: the right one is read, a wrong one never is, and a slow one delays nobody."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from perf.elf_builder import BUILD_ID, elf

from necroscope.errors import BadInput
from necroscope.sense.host import Host
from necroscope.sense.perf import objects as module
from necroscope.sense.perf.objects import ObjectFiles, module_name
from necroscope.sense.perf.sideband import MappedFile
from necroscope.sense.perf.symtab import SymbolTable

GLOBAL = 1 << 4 | 2


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "libone.so"
    path.write_bytes(elf([("the_function", 0x11000, 16, GLOBAL)]))
    return path


def mapped(path: Path, **identity: object) -> MappedFile:
    return MappedFile(str(path), **identity)  # type: ignore[arg-type]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def name(table: SymbolTable | None) -> str | None:
    return None if table is None else table.name(int(table.find(np.array([0x1000], np.uint64))[0]))


def test_a_file_is_recognised_by_its_build_id(library: Path) -> None:
    files = ObjectFiles(Host())
    assert name(files.ask(mapped(library, build_id=BUILD_ID.hex()), 1)[0]) == "the_function"
    assert files.ask(mapped(library, build_id="00" * 20), 1) == (None, True)


def test_a_build_id_told_elsewhere_counts_too(library: Path) -> None:
    files = ObjectFiles(Host())
    files.build_ids = {str(library): "11" * 20}
    assert files.ask(mapped(library), 1) == (None, True)


def test_without_a_build_id_the_inode_decides(library: Path) -> None:
    files = ObjectFiles(Host())
    assert name(files.ask(mapped(library, inode=library.stat().st_ino), 1)[0]) == "the_function"
    assert files.ask(mapped(library, inode=library.stat().st_ino + 1), 1) == (None, True)


def test_a_file_of_a_living_process_is_opened_through_its_root(library: Path) -> None:
    files = ObjectFiles(Host(), wait_s=5.0)
    files.begin()
    table, final = files.ask(mapped(library, inode=12345), os.getpid())
    assert (name(table), final) == ("the_function", True)


def test_a_file_held_open_can_be_read_when_it_is_gone(library: Path) -> None:
    files = ObjectFiles(Host(), wait_s=5.0)
    files.hold(mapped(library, inode=library.stat().st_ino), os.getpid())
    inode = library.stat().st_ino
    library.unlink()
    files.begin()
    assert name(files.ask(mapped(library, inode=inode), os.getpid())[0]) == "the_function"
    files.close()


def test_few_files_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HELD", 3)
    files = ObjectFiles(Host(), wait_s=1.0)
    before = open_files()
    for number in range(10):
        path = tmp_path / f"lib{number}"
        path.write_bytes(b"x")
        files.hold(mapped(path, inode=number + 1), os.getpid())
    assert open_files() == before + 3
    files.close()
    assert open_files() == before


def test_a_slow_file_delays_nobody(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ObjectFiles(Host(), wait_s=0.05)
    original = ObjectFiles._load

    def slow(self: ObjectFiles, request: module._Request) -> SymbolTable | None:
        time.sleep(0.4)
        return original(self, request)

    monkeypatch.setattr(ObjectFiles, "_load", slow)
    files.begin()
    started = time.monotonic()
    assert files.ask(mapped(library), os.getpid()) == (None, False)
    assert time.monotonic() - started < 0.3
    time.sleep(0.6)
    files.begin()
    assert name(files.ask(mapped(library), os.getpid())[0]) == "the_function"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/passwd")])
def test_what_is_no_regular_file_is_not_read(tmp_path: Path, make: object) -> None:
    make(tmp_path / "odd")  # type: ignore[operator]
    assert ObjectFiles(Host()).ask(mapped(tmp_path / "odd"), 1) == (None, True)


def test_tables_that_were_read_first_go_when_memory_is_short(tmp_path: Path) -> None:
    files = ObjectFiles(Host(), memory=1000)
    for number in range(5):
        path = tmp_path / f"lib{number}"
        path.write_bytes(elf([(f"function_{number}_{n}", 0x11000 + 16 * n, 16, GLOBAL) for n in range(20)]))
        files.ask(mapped(path), 1)
    assert len(files._requests) == 1


def test_a_captured_host_has_no_files_to_map(tmp_path: Path, library: Path) -> None:
    assert ObjectFiles(Host(tmp_path)).ask(mapped(library), 1) == (None, True)
    with pytest.raises(BadInput):
        Host(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/usr/lib/libc.so.6", "libc.so.6"),
        ("/tmp/gone (deleted)", "gone"),
        ("//anon", "[anon]"),
        ("[vdso]", "[vdso]"),
        ("", "[anon]"),
        ("/odd/\udcff", "\ufffd"),
    ],
)
def test_modules_have_short_names(path: str, wanted: str) -> None:
    assert module_name(path) == wanted
