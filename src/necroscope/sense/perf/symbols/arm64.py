"""What ELF files and symbol lists of arm64 have otherwise: linkage tables, and mapping symbols.

A linkage table (`.plt`) begins with 32 bytes for the resolver; a stub has 16 bytes, or 24 where it begins with a
landing pad. Relocations of thread-local variables stand between those of functions and have no stub of their own.

Mapping symbols (`$x`, `$d`, `$x.5`) mark where code and data begin. They are no functions, and there is one at the
begin of nearly every function.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

AARCH64 = 183
PLT_HEADER_BYTES = 32
_STUB_BYTES, _LONG_STUB_BYTES = 16, 24
_JUMP_SLOT, _IRELATIVE = 1026, 1032
_PIECE, _READ_BYTES = 1 << 20, 64 << 20
_DOLLAR, _KINDS, _AFTER = ord("$"), np.frombuffer(b"xd", np.uint8), np.frombuffer(b"\0.\t\n", np.uint8)

Bools = NDArray[np.bool_]


def has_stub(info: NDArray[np.uint64]) -> Bools:
    """Which relocations of a linkage table, by their info words, have a stub; the stubs are in the same order."""
    return np.isin(info & np.uint64(0xFFFFFFFF), (_JUMP_SLOT, _IRELATIVE))


def stub_bytes(section_bytes: int, entry_bytes: int, count: int) -> int:
    """How long each of `count` stubs is. Some linkers say so; otherwise the section's size tells."""
    if entry_bytes in (_STUB_BYTES, _LONG_STUB_BYTES):
        return entry_bytes
    return _LONG_STUB_BYTES if section_bytes - PLT_HEADER_BYTES >= count * _LONG_STUB_BYTES else _STUB_BYTES


def mapping_names(read: Callable[[int, int], bytes], names: NDArray[np.int64]) -> Bools:
    """Which names of a string table are mapping symbols'. `read` gives bytes of the table; names that would take more
    reading than is reasonable count as such."""
    order = np.argsort(names, kind="stable")
    ranked = names[order]
    marks = np.ones(names.size, np.bool_)
    at, left = 0, _READ_BYTES
    while at < ranked.size and left > 0:
        begin = int(ranked[at])
        end = int(np.searchsorted(ranked, begin + _PIECE))
        wanted = int(ranked[end - 1]) - begin + 3
        data = np.frombuffer(read(begin, wanted) + bytes(3), np.uint8)
        marks[order[at:end]] = mapping_at(data, np.minimum(ranked[at:end] - begin, data.size - 3))
        at, left = end, left - wanted
    return marks


def mapping_at(data: NDArray[np.uint8], places: NDArray[np.int64]) -> Bools:
    """Whether the name at each place is a mapping symbol's; three bytes from each must be there."""
    first, second, third = (data[places + further] for further in range(3))
    found: Bools = (first == _DOLLAR) & np.isin(second, _KINDS) & np.isin(third, _AFTER)
    return found
