"""What the attacks share: code that runs at a place of one's own choice, in memory or in a file."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import struct
import sys
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

# jump to itself
LOOP = b"\xeb\xfe" if platform.machine() == "x86_64" else b"\x00\x00\x00\x14"
CODE_AT = 0x1000
EVERYTHING = b"0 ffffffffffffffff "
FUNCTION = 1 << 4 | 2
LIVES = cycle((4.0, 0.3, 1.0, 8.0))
"""How long processes live, one after the other: some are gone before anybody can look at their files, some stay."""


def arguments() -> tuple[float, Path, str]:
    """Until when, where to write, and a file of root."""
    os.chdir(sys.argv[2])
    return time.monotonic() + float(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]


def in_memory() -> None:
    """Run in anonymous memory, for ever."""
    _run(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7), 0)


def in_file(path: Path) -> None:
    """Run in a mapped file, for ever."""
    with path.open("rb") as file:
        _run(mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, 7, offset=CODE_AT), 0)


def _run(memory: mmap.mmap, at: int) -> None:
    memory[at : at + len(LOOP)] = LOOP
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(memory)) + at)()


def burst(run: Callable[[], None], seconds: float | None = None) -> None:
    """In a process of its own, so long."""
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        run()
    time.sleep(next(LIVES) if seconds is None else seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def with_map(content: Callable[[Path], None]) -> None:
    """A process that runs in memory while `perf-PID.map` is what `content` makes of it."""

    def run() -> None:
        path = Path(f"/tmp/perf-{os.getpid()}.map")
        content(path)
        in_memory()

    pid = os.fork()
    if not pid:
        signal.alarm(60)
        run()
    time.sleep(next(LIVES))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)


def elf(tables: int, symbols: bytes, names: bytes, kind: int = 2, section_names: int = 0) -> bytes:
    """Code at 0x1000, so many tables over the same symbols, whose names are in `names`."""
    body = names.ljust(0x1000, b"\0") if len(names) <= 0x1000 else names
    symbols_at, names_at = 0x2000 + len(body), 0x2000
    sections_at = symbols_at + len(symbols)
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQ", 3, 62, 1, 0, 64, sections_at)
    head += struct.pack("<IHHHHHH", 0, 64, 56, 1, 64, tables + 1, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, CODE_AT, CODE_AT, 0, 0x1000, 0x1000, 0x1000)
    sections = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, names_at, section_names or len(names), 0, 0, 1, 0)
    sections += struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, symbols_at, len(symbols), 0, 0, 8, 24) * tables
    return (head + segment).ljust(CODE_AT, b"\0") + LOOP.ljust(0x1000, b"\0") + body + symbols + sections


def symbol(name_at: int, address: int = CODE_AT, size: int = 0x1000) -> bytes:
    """A function."""
    return struct.pack("<IBBHQQ", name_at, FUNCTION, 0, 1, address, size)
