"""Code that a process made itself: `perf-PID.map`, which a runtime writes into its own /tmp (Java, Node, Python 3.12).

    7f2a4c000000 40 py::main:/app/main.py

START and SIZE are hexadecimal, the rest of the line is the name. The file grows while the process runs: only what was
added is read, and names stay in the file until somebody asks for one. The columns are bounded, whatever is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.symbols.symtab import Names, SymbolTable, ended

U64s = NDArray[np.uint64]
Octets = NDArray[np.uint8]
JIT_MODULE = "[jit]"
MOST_LINES = 1 << 18
_NAME = re.compile(rb"^(?:0x)?[0-9a-fA-F]{1,16}[ \t]+(?:0x)?[0-9a-fA-F]{1,16}[ \t]+([^\n]*)")
_LONGEST_LINE = 4096
_DIGITS, _BLANKS = 16, 4
_NEWLINE, _SPACE, _TAB = 10, 32, 9
_DIGIT_OF = np.full(256, 255, np.uint64)
_DIGIT_OF[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
_DIGIT_OF[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)
_MADE_AT_RUN_TIME = ("//anon", "/dev/zero", "/memfd:", "/anon_hugepage", "[heap]", "anon_inode:")


def made_at_run_time(path: str) -> bool:
    """Whether a mapping has no file behind it that holds symbols: what is there, the process wrote itself."""
    return path.startswith(_MADE_AT_RUN_TIME)


@dataclass(slots=True)
class MapLines:
    """The lines of a map so far, as columns: start, size, and where in the file the line begins."""

    start: U64s = field(default_factory=lambda: np.zeros(0, np.uint64))
    size: U64s = field(default_factory=lambda: np.zeros(0, np.uint64))
    at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    read: int = 0

    @property
    def full(self) -> bool:
        """Whether no more lines are taken."""
        return self.start.size >= MOST_LINES

    @property
    def nbytes(self) -> int:
        """Memory that the columns take."""
        return self.start.nbytes + self.size.nbytes + self.at.nbytes

    def take(self, data: bytes) -> None:
        """The next bytes of the file; a line cut short waits for the rest of it."""
        whole = data.rfind(b"\n") + 1
        if not whole and len(data) >= _LONGEST_LINE:
            whole = len(data)  # no line is that long
        start, size, at = (column[: MOST_LINES - self.start.size] for column in _columns(data[:whole]))
        self.start = np.concatenate([self.start, start])
        self.size = np.concatenate([self.size, size])
        self.at = np.concatenate([self.at, at + self.read])
        self.read += whole

    def table(self, lines: Names) -> SymbolTable:
        """The symbols; of several at one address the latest, as memory is used again. `lines` reads one at a place."""
        _, latest = np.unique(self.start[::-1], return_index=True)
        order = self.start.size - 1 - latest
        rank = np.zeros(order.size, np.int8)
        return SymbolTable(self.start[order], self.size[order], self.at[order], rank, lambda at: line_name(lines(at)))


def parse_jit_map(data: bytes) -> SymbolTable:
    """All lines of a whole map that can be read; later ones count where a piece of memory was used again."""
    data = data if data.endswith(b"\n") else data + b"\n"
    lines = MapLines()
    lines.take(data)
    return lines.table(ended(data, b"\n"))


def line_name(line: bytes) -> bytes:
    """The name in a line."""
    found = _NAME.match(line)
    return found[1] if found else b""


def _columns(data: bytes) -> tuple[U64s, U64s, NDArray[np.int64]]:
    """Start, size and place of all lines that can be read."""
    octets = np.frombuffer(data + b"\n\n", np.uint8)
    ends = np.flatnonzero(octets == _NEWLINE)
    at = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)[: max(0, ends.size - 1)]
    start, place, ok = _number(octets, at)
    size, place, also = _number(octets, _after_blanks(octets, place))
    name = _after_blanks(octets, place)
    ok &= also & (name > place) & (octets[np.minimum(name, octets.size - 1)] != _NEWLINE)
    return start[ok], size[ok], at[ok]


def _number(octets: Octets, place: NDArray[np.int64]) -> tuple[U64s, NDArray[np.int64], NDArray[np.bool_]]:
    """The hexadecimal number at each place, where it ends, and whether there is one of at most sixteen digits."""
    last = octets.size - 1
    prefixed = (octets[np.minimum(place, last)] == ord("0")) & ((octets[np.minimum(place + 1, last)] | 32) == ord("x"))
    place = place + 2 * prefixed
    number = np.zeros(place.size, np.uint64)
    digits = np.zeros(place.size, np.int64)
    going = np.ones(place.size, np.bool_)
    for _ in range(_DIGITS + 1):
        digit = _DIGIT_OF[octets[np.minimum(place, last)]]
        going &= digit < 16
        number = np.where(going, (number << np.uint64(4)) | digit, number)
        digits += going
        place = place + going
    return number, place, (digits > 0) & (digits <= _DIGITS)


def _after_blanks(octets: Octets, place: NDArray[np.int64]) -> NDArray[np.int64]:
    """Behind the blanks at each place, of which there are few; where there are none, the end of all."""
    last = octets.size - 1
    begun = place
    for _ in range(_BLANKS):
        here = octets[np.minimum(place, last)]
        place = place + ((here == _SPACE) | (here == _TAB))
    return np.where(place > begun, place, last)
