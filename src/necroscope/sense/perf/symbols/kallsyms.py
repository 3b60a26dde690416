"""The kernel's own symbols: /proc/kallsyms, with modules and BPF programs, read as columns.

    ffffffff81000000 T _text
    ffffffffc0022060 t bpf_prog_d8d4eba16335b62c	[bpf]

An address of zero throughout means that the reader may not see them (kptr_restrict).
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from necroscope.errors import Unavailable
from necroscope.sense.perf.symbols.arm64 import mapping_at
from necroscope.sense.perf.symbols.symtab import SymbolTable, ended

KERNEL_MODULE = "[kernel]"
_TYPES = np.frombuffer(b"TtWwDdBb", np.uint8)
_WEAK = np.frombuffer(b"Ww", np.uint8)


class KernelSymbols:
    """Kernel addresses to names and modules."""

    def __init__(self, table: SymbolTable, shift: int = 0) -> None:
        self.table = table
        self._shift = shift

    def moved(self, shift: int) -> KernelSymbols:
        """Another boot of the same kernel: it lay `shift` bytes above these symbols, its modules anywhere."""
        return KernelSymbols(self.table, self._shift + shift)

    def find(self, addresses: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The symbol of each address, -1 for none."""
        if not self._shift:
            return self.table.find(addresses)
        places = self.table.find(addresses - np.uint64(self._shift % (1 << 64)))
        foreign = [one for one in np.unique(places).tolist() if one >= 0 and self.name(one)[1] != KERNEL_MODULE]
        return np.where(np.isin(places, foreign), -1, places)

    def covers(self, addresses: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether an address lies between the first and the last symbol: elsewhere is no kernel code."""
        shift = np.uint64(self._shift % (1 << 64))
        low, high = self.table.start[:1] + shift, self.table.start[-1:] + shift
        return (addresses >= low) & (addresses <= high)

    def name(self, place: int) -> tuple[str, str]:
        """A symbol's name and module."""
        name, tab, module = self.table.name(place).partition("\t")
        return name, module if tab else KERNEL_MODULE


def parse_kallsyms(data: bytes) -> KernelSymbols:
    """All functions and data. Raises `Unavailable` when there are none, or none that may be seen."""
    octets = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(octets == 10)
    begins = np.concatenate([[0], ends[:-1] + 1]) if ends.size else ends
    whole = ends - begins > 19  # sixteen digits, a blank, a letter, a blank, a name
    begins, ends = begins[whole], ends[whole]
    kind = octets[begins + 17] if begins.size else octets[:0]
    # modules of arm64 kernels have mapping symbols
    padded = np.append(octets, np.zeros(3, np.uint8))
    wanted = np.isin(kind, _TYPES) & ~mapping_at(padded, begins + 19)
    begins, kind = begins[wanted], kind[wanted]
    address, readable = _hexadecimal(octets, begins)
    begins, kind, address = begins[readable], kind[readable], address[readable]
    if not address.size:
        raise Unavailable(
            "the kernel's symbols are empty", "this kernel has no /proc/kallsyms, or the file is no such list"
        )
    if not address.any():
        raise Unavailable("the kernel hides its addresses", "run as root, or set kernel.kptr_restrict to 1 or 0")
    local = (kind >= ord("a")).astype(np.int8)
    rank = np.where(np.isin(kind, _WEAK), np.int8(2), local).astype(np.int8)
    zero = np.zeros(address.size, np.uint64)
    return KernelSymbols(SymbolTable(address, zero, begins + 19, rank, ended(data, b"\n")))


def reference_address(data: bytes, name: str) -> int | None:
    """Where a symbol is, by its exact name; `_text` and `_stext` tell where this boot put the kernel."""
    found = re.search(rb"^([0-9a-f]{16}) \w " + re.escape(name.encode()) + rb"$", data, re.MULTILINE)
    return int(found[1], 16) if found else None


def _hexadecimal(octets: NDArray[np.uint8], begins: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The sixteen digits at each place as a number, and whether they were sixteen digits."""
    digit_of = np.full(256, 255, np.uint8)
    for value, letter in enumerate(b"0123456789abcdef"):
        digit_of[letter] = value
    number = np.zeros(begins.size, np.uint64)
    readable = np.ones(begins.size, np.bool_)
    for place in range(16):
        digit = digit_of[octets[begins + place]]
        readable &= digit < 16
        number = (number << np.uint64(4)) | (digit & np.uint8(15))
    return number, readable
