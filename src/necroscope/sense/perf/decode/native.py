"""The decoder's inner loops in C (`native.c`), where a compiler was there at installation; else NumPy does the same.

Every function here takes and gives NumPy arrays, and has its twin in the module that calls it. `NECROSCOPE_NATIVE=0` in
the environment leaves C alone.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
I32s = NDArray[np.int32]

LIBRARY = Path(__file__).with_name("_native.so")
SWITCH = "NECROSCOPE_NATIVE"


class Layout(NamedTuple):
    """Which word of a sample is what; -1: none. `chain` and `cgroup` say whether they follow, in this order."""

    time: int
    tid: int
    cpu: int
    period: int
    ip: int
    before: int
    chain: bool
    cgroup: bool


@dataclass(frozen=True, slots=True)
class Table:
    """An open-addressed table: a key's slot, its number (-1: free), and how a key finds its slot."""

    key: U64s
    number: I32s
    mask: int
    shift: int
    salt: int


class _Layout(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in Layout._fields]


class _Columns(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_void_p) for name in ("time", "cpu", "pid", "tid", "weight", "cgroup", "depth", "chain", "whole")
    ]


class _Table(ctypes.Structure):
    _fields_ = [
        ("key", ctypes.c_void_p),
        ("number", ctypes.c_void_p),
        ("mask", ctypes.c_uint64),
        ("shift", ctypes.c_uint64),
        ("salt", ctypes.c_uint64),
    ]


class Place(NamedTuple):
    """A field of a tracepoint's record: where it begins, how many bytes it has, whether it is signed."""

    at: int
    size: int
    signed: bool


class Places(NamedTuple):
    """Where the fields of one cgroup tracepoint are. `least` bytes hold them all; -1: it is none. The text of the path
    is where its field says, counted from `behind`. Without a `moved` field, that one begins at -1."""

    kind: int
    least: int
    root: Place
    id: Place
    path: Place
    moved: Place
    behind: int
    is_text: bool


class _Field(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in Place._fields]


class _Places(ctypes.Structure):
    _fields_ = [
        (name, _Field if name in ("root", "id", "path", "moved") else ctypes.c_int32) for name in Places._fields
    ]


class _Cgroups(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("kind", "root", "number", "moved", "path_at", "path_size")]


class Loops:
    """The functions of the library. Arrays are contiguous and of the types that their names say."""

    def __init__(self, library: ctypes.CDLL) -> None:
        place, number = ctypes.c_void_p, ctypes.c_int64
        self._walk = _declared(library.necro_walk, number, place, number, number, *[place] * 4)
        self._samples = _declared(library.necro_samples, number, *[place] * 4, number, *[place] * 3)
        self._find = _declared(library.necro_find, None, place, place, number, place)
        self._add = _declared(library.necro_add, number, place, place, number, number, place, place)
        frames = [place, place, ctypes.c_int32, place, place, place, number, ctypes.c_uint64, place, place, place]
        self._frames = _declared(library.necro_frames, number, *frames)
        self._hash = _declared(library.necro_hash, None, place, place, place, number, ctypes.c_uint64, place)
        self._raws = _declared(library.necro_raws, number, *[place] * 4, number, *[place] * 7)
        self._cgroups = _declared(library.necro_cgroups, None, *[place] * 3, number, place, ctypes.c_int32, place)
        self._parents = _declared(library.necro_parents, None, *[place] * 3, number, ctypes.c_uint64, place, place)

    def walk(self, words: U64s, end: int) -> tuple[I64s, I64s, NDArray[np.uint32], NDArray[np.uint16]]:
        """Start, size, type and misc of the records that the words begin with; `end`: none starts there or later."""
        start, size = np.empty(end, np.int64), np.empty(end, np.int64)
        kind, misc = np.empty(end, np.uint32), np.empty(end, np.uint16)
        columns = (start, size, kind, misc)
        count = self._walk(words.ctypes.data, words.size, end, *(column.ctypes.data for column in columns))
        return start[:count].copy(), size[:count].copy(), kind[:count].copy(), misc[:count].copy()

    def samples(self, words: U64s, start: I64s, size: I64s, at: I64s, layout: Layout) -> dict[str, NDArray[Any]]:
        """Columns of the samples at some records; `whole` are the records of those that are not broken."""
        count = at.size
        columns: dict[str, NDArray[Any]] = {
            "time": np.empty(count, np.uint64),
            "cpu": np.empty(count, np.int32),
            "pid": np.empty(count, np.uint32),
            "tid": np.empty(count, np.uint32),
            "weight": np.empty(count, np.int64),
            "cgroup": np.empty(count, np.uint64),
            "depth": np.empty(count, np.int64),
            "chain": np.empty(int(size[at].sum()), np.uint64),
            "whole": np.empty(count, np.int64),
        }
        out = _Columns(**{name: column.ctypes.data for name, column in columns.items()})
        filled = ctypes.c_int64()
        kept = self._samples(
            *(one.ctypes.data for one in (words, start, size, at)),
            count,
            ctypes.byref(_Layout(*layout)),
            ctypes.byref(out),
            ctypes.byref(filled),
        )
        return {name: column[: filled.value if name == "chain" else kept] for name, column in columns.items()}

    def raws(self, words: U64s, start: I64s, size: I64s, at: I64s, layout: Layout) -> dict[str, NDArray[Any]]:
        """What the samples of tracepoints at some records wrote; `whole` are the places in `at` of those that are not
        broken."""
        count = at.size
        columns: dict[str, NDArray[Any]] = {
            "time": np.empty(count, np.uint64),
            "pid": np.empty(count, np.uint32),
            "words": np.empty(count, np.int64),
            "data": np.empty(int(size[at].sum()), np.uint64),
            "whole": np.empty(count, np.int64),
        }
        filled = ctypes.c_int64()
        kept = self._raws(
            *(one.ctypes.data for one in (words, start, size, at)),
            count,
            ctypes.byref(_Layout(*layout)),
            *(one.ctypes.data for one in columns.values()),
            ctypes.byref(filled),
        )
        return {name: column[: filled.value if name == "data" else kept] for name, column in columns.items()}

    def cgroups(self, data: U64s, start: I64s, event: I32s, places: list[Places], columns: dict[str, Any]) -> None:
        """Fill the columns from records of cgroup tracepoints; `places` by the number of the event."""
        of_events = (_Places * len(places))(*(_placed(one) for one in places))
        out = _Cgroups(**{name: column.ctypes.data for name, column in columns.items()})
        rows = [np.ascontiguousarray(one) for one in (data, start, event)]
        where = [one.ctypes.data for one in rows]
        self._cgroups(*where, event.size, ctypes.byref(of_events), len(places), ctypes.byref(out))

    def parents(self, octets: NDArray[np.uint8], begin: I64s, length: I64s, salt: int) -> tuple[U64s, I64s]:
        """A hash of each text up to its last slash, and the length of that part."""
        begin, length = np.ascontiguousarray(begin), np.ascontiguousarray(length)
        hashes, ends = np.empty(begin.size, np.uint64), np.empty(begin.size, np.int64)
        texts = (octets.ctypes.data, begin.ctypes.data, length.ctypes.data)
        self._parents(*texts, begin.size, salt, hashes.ctypes.data, ends.ctypes.data)
        return hashes, ends

    def find(self, table: Table, keys: U64s) -> I32s:
        """The number of each key, -1 for none."""
        keys = np.ascontiguousarray(keys)
        found = np.empty(keys.size, np.int32)
        self._find(_seen(table), keys.ctypes.data, keys.size, found.ctypes.data)
        return found

    def add(self, table: Table, keys: U64s, known: int) -> tuple[I32s, I64s]:
        """The number of each key, and the positions of the new ones. Twice as many slots as keys must be there."""
        keys = np.ascontiguousarray(keys)
        found, fresh = np.empty(keys.size, np.int32), np.empty(keys.size, np.int64)
        count = self._add(_seen(table), keys.ctypes.data, keys.size, known, found.ctypes.data, fresh.ctypes.data)
        return found, fresh[:count]

    def frames(
        self, table: Table, frame_of: I32s, ask: int, chain: U64s, depth: I64s, spaces: U64s, kernel: int
    ) -> tuple[I32s, U64s, I64s]:
        """The frame of each address, `ask` where it is not known; keys and positions of those."""
        chain, depth = np.ascontiguousarray(chain), np.ascontiguousarray(depth)
        frames = np.empty(chain.size, np.int32)
        keys, missing = np.empty(chain.size, np.uint64), np.empty(chain.size, np.int64)
        count = self._frames(
            _seen(table),
            frame_of.ctypes.data,
            ask,
            chain.ctypes.data,
            depth.ctypes.data,
            spaces.ctypes.data,
            depth.size,
            kernel,
            *(one.ctypes.data for one in (frames, keys, missing)),
        )
        return frames, keys[:count].copy(), missing[:count].copy()

    def hashes(self, frames: I32s, hash_of: U64s, depth: I64s, factor: int) -> U64s:
        """The hash of each row of frames."""
        depth = np.ascontiguousarray(depth)
        hashes = np.empty(depth.size, np.uint64)
        places = (one.ctypes.data for one in (frames, hash_of, depth))
        self._hash(*places, depth.size, factor, hashes.ctypes.data)
        return hashes


def _declared(function: Any, result: Any, *arguments: Any) -> Any:
    function.restype, function.argtypes = result, arguments
    return function


def _placed(one: Places) -> _Places:
    return _Places(*(_Field(*part) if isinstance(part, Place) else part for part in one))


def _seen(table: Table) -> Any:
    return ctypes.byref(_Table(table.key.ctypes.data, table.number.ctypes.data, table.mask, table.shift, table.salt))


@cache
def loops() -> Loops | None:
    """The loops, or None where they were not built or are not wanted."""
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        return Loops(ctypes.CDLL(str(LIBRARY)))
    except (OSError, AttributeError):  # not built, for another machine, or of another version
        return None
