"""Code that a process made itself: `perf-PID.map`, which a runtime writes into its own /tmp (Java, Node, Python 3.12).

    7f2a4c000000 40 py::main:/app/main.py

START and SIZE are hexadecimal, the rest of the line is the name. The pid in the file's name is the process's own.
"""

from __future__ import annotations

import re

import numpy as np

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.perf.symtab import SymbolTable, ended

JIT_MODULE = "[jit]"
_LINE = re.compile(rb"^(?:0x)?([0-9a-fA-F]{1,16})[ \t]+(?:0x)?([0-9a-fA-F]{1,16})[ \t]+([^\n]+)$", re.MULTILINE)
_LIMIT = 16 << 20
_AGAIN_S = 10.0
_PROCESSES = 256


def parse_jit_map(data: bytes) -> SymbolTable:
    """All lines that can be read; later ones count where a piece of memory was used again."""
    lines = list(_LINE.finditer(data))[::-1]
    start = np.array([int(line[1], 16) for line in lines], np.uint64)
    size = np.array([int(line[2], 16) for line in lines], np.uint64)
    at = np.array([line.start(3) for line in lines], np.int64)
    _, newest = np.unique(start, return_index=True)
    rank = np.zeros(newest.size, np.int8)
    return SymbolTable(start[newest], size[newest], at[newest], rank, ended(data, b"\n"))


class JitMaps:
    """The maps of running processes, read again after a while because they grow."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._tables: dict[int, tuple[float, SymbolTable | None]] = {}

    def table(self, pid: int) -> SymbolTable | None:
        """What the process says about its own code; None when it says nothing."""
        now = clock.elapsed_s()
        known = self._tables.get(pid)
        if known is None or now - known[0] > _AGAIN_S:
            known = self._tables[pid] = (now, self._read(pid))
            while len(self._tables) > _PROCESSES:
                self._tables.pop(next(iter(self._tables)))
        return known[1]

    def _read(self, pid: int) -> SymbolTable | None:
        try:
            status = self._host.read(f"/proc/{pid}/status", 1 << 16)
            inner = re.search(rb"^NSpid:.*\b(\d+)$", status, re.MULTILINE)
            own = int(inner[1]) if inner else pid
            return parse_jit_map(self._host.read(f"/proc/{pid}/root/tmp/perf-{own}.map", _LIMIT))
        except Unavailable:
            return None
