"""Where the samples of a block of `perf script` text are, found in C (`script_scan.c`) where a compiler was there at
installation. Hashes stand for what samples say: it is taken apart once, and looked up by hash from then on.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.native import SWITCH

I64s = NDArray[np.int64]
LIBRARY = Path(__file__).with_name("_native.so")
_REMEMBERED = 1 << 19
_PLACES = 6
# Samples are longer, or there are few of them.
_SHORT = 80


@dataclass(frozen=True, slots=True)
class Scanned:
    """One row for each piece between empty lines. `at_ns` is -1 where the piece does not look as usual.

    Places are bytes: the piece's start and end, where its thread ends, where its subject begins and ends, and where its
    call chain begins. Hashes are those of thread, subject and chain, the latter without addresses and offsets.
    """

    places: I64s
    hashes: NDArray[np.uint64]
    at_ns: I64s


class ByHash(dict[int, int]):
    """Numbers of texts that were seen, by hash."""

    def numbers(self, hashes: NDArray[np.uint64], text: Callable[[int], bytes], number: Callable[[bytes], int]) -> I64s:
        """The number of each row; what is not remembered is taken from its first row's text."""
        if len(self) > _REMEMBERED:
            self.clear()
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        fresh = np.ones(ordered.size, np.bool_)
        fresh[1:] = ordered[1:] != ordered[:-1]
        found = list(map(self.get, ordered[fresh].tolist()))
        for place, row in enumerate(order[fresh].tolist()):
            if found[place] is None:
                found[place] = self[int(hashes[row])] = number(text(row))
        numbers = np.empty(hashes.size, np.int64)
        numbers[order] = np.array(found, np.int64)[np.cumsum(fresh) - 1]
        return numbers


def scan(block: bytes) -> Scanned | None:
    """The pieces of a block; None where there is no library."""
    scanner = _scanner()
    if scanner is None:
        return None
    most = len(block) // _SHORT + 1
    while True:
        places = np.empty((most, _PLACES), np.int64)
        hashes, at_ns = np.empty((most, 3), np.uint64), np.empty(most, np.int64)
        count = scanner(block, len(block), most, *(one.ctypes.data for one in (places, hashes, at_ns)))
        if count < most:
            return Scanned(places[:count], hashes[:count], at_ns[:count])
        most = block.count(b"\n\n") + 2


@cache
def _scanner() -> Any:
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        function = ctypes.CDLL(str(LIBRARY)).necro_script
    except (OSError, AttributeError):  # not built, for another machine, or of another version
        return None
    place, number = ctypes.c_void_p, ctypes.c_int64
    function.restype, function.argtypes = number, (ctypes.c_char_p, number, number, place, place, place)
    return function
