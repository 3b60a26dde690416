"""Compressed records: one zstd stream cut into records, by `perf record -z`. Decompressed piece by piece, bounded.

The stream never ends and is cut anywhere, so whole-buffer codecs cannot read it. The system's libzstd can; perf itself
needs that library to have written the file.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache

from necroscope.errors import BadInput

_PIECE = 1 << 18
EXPANSION_LIMIT = 64 << 20


class InBuffer(ctypes.Structure):
    """Bytes that libzstd reads."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("place", ctypes.c_size_t))


class OutBuffer(ctypes.Structure):
    """Where libzstd writes."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("place", ctypes.c_size_t))


class Inflater:
    """One stream. Feed it the records' payloads in order."""

    def __init__(self) -> None:
        self._zstd = library()
        self._stream = ctypes.c_void_p(self._zstd.ZSTD_createDStream())
        self._zstd.ZSTD_DCtx_setParameter(self._stream, 100, 27)  # windowLogMax: 128 MiB at most
        self._buffer = ctypes.create_string_buffer(_PIECE)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The plain bytes, in pieces. Raises `BadInput` when they are no zstd or come to absurdly many."""
        source = ctypes.create_string_buffer(data, len(data))
        given = InBuffer(ctypes.addressof(source), len(data), 0)
        total = 0
        while True:
            taken = OutBuffer(ctypes.addressof(self._buffer), _PIECE, 0)
            before = given.place
            left = self._zstd.ZSTD_decompressStream(self._stream, ctypes.byref(taken), ctypes.byref(given))
            total += taken.place
            if self._zstd.ZSTD_isError(left) or total > EXPANSION_LIMIT:
                raise BadInput("a compressed record of the recording is broken")
            if taken.place:
                yield self._buffer.raw[: taken.place]
            if taken.place < _PIECE and given.place in (given.size, before):
                return

    def close(self) -> None:
        """Give the stream's memory back."""
        if self._stream:
            self._zstd.ZSTD_freeDStream(self._stream)
            self._stream = ctypes.c_void_p(None)

    def __del__(self) -> None:
        self.close()


@cache
def library() -> ctypes.CDLL:
    """The system's libzstd; `BadInput` where there is none."""
    try:
        found = ctypes.CDLL("libzstd.so.1")
    except OSError as error:
        raise BadInput("the recording is compressed, and libzstd is not here", "install libzstd1") from error
    found.ZSTD_createDStream.restype = ctypes.c_void_p
    found.ZSTD_freeDStream.argtypes = (ctypes.c_void_p,)
    found.ZSTD_decompressStream.restype = ctypes.c_size_t
    found.ZSTD_DCtx_setParameter.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    found.ZSTD_isError.argtypes = (ctypes.c_size_t,)
    return found
