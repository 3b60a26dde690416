"""zstd, unpacked by the system's libzstd, which perf needs for its own: Python knows it from 3.14 on only."""

from __future__ import annotations

import ctypes

from necroscope.sense.perf.format.compressed import InBuffer, OutBuffer, library

_WINDOW_LOG_MAX, _WINDOW_LOG = 100, 27
MAGIC = b"\x28\xb5\x2f\xfd"


class Unzstd:
    """One packed stream of one or several frames, with the interface of Python's unpackers; what follows the frames is
    left alone. A window of 128 MiB at most is believed."""

    def __init__(self) -> None:
        self._zstd = library()
        self._stream = ctypes.c_void_p(self._zstd.ZSTD_createDStream())
        self._zstd.ZSTD_DCtx_setParameter(self._stream, _WINDOW_LOG_MAX, _WINDOW_LOG)
        self._held = b""
        self._full = False
        self.eof = False
        self.unused_data = b""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes without further bytes."""
        return not self._held and not self._full

    def decompress(self, data: bytes, size: int) -> bytes:
        """The next bytes, `size` at most; `ValueError` when they are no zstd."""
        data = self._held + data
        source, target = ctypes.create_string_buffer(data, len(data)), ctypes.create_string_buffer(size)
        given, taken = InBuffer(ctypes.addressof(source), len(data), 0), OutBuffer(ctypes.addressof(target), size, 0)
        left = self._zstd.ZSTD_decompressStream(self._stream, ctypes.byref(taken), ctypes.byref(given))
        if self._zstd.ZSTD_isError(left):
            raise ValueError("no zstd")
        self._held, self._full = data[given.place :], taken.place == size
        if left == 0:  # all of the frame was handed out
            self.eof, self.unused_data, self._held = True, self._held, b""
        return target.raw[: taken.place]

    def __del__(self) -> None:
        if getattr(self, "_stream", None):
            self._zstd.ZSTD_freeDStream(self._stream)
