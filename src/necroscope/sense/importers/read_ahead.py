"""A host one of whose files is read ahead, by a child on another core, while this program gets ready to use it.

The kernel makes up /proc/kallsyms page by page, which takes as long as importing the libraries that read it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

from necroscope.sense.host import READ_LIMIT_BYTES, Host

KALLSYMS = "/proc/kallsyms"
_PIECE_BYTES = 1 << 16


class ReadAhead(Host):
    """This host. The first `read` of the file waits for the child; when it failed, the file is read as ever."""

    def __init__(self, path: str = KALLSYMS) -> None:
        super().__init__()
        self._ahead = path
        self._memory = os.memfd_create("ahead", os.MFD_CLOEXEC)
        self._child = os.fork()
        if self._child == 0:
            self._read_ahead()

    def read(self, path: str, limit: int = READ_LIMIT_BYTES) -> bytes:
        """The file's bytes, as `Host` has them."""
        if path == self._ahead and self._child:
            data = self.take()
            if 0 < len(data) <= limit:
                return data
        return super().read(path, limit)

    def take(self) -> bytes:
        """What the child has read, once; empty when it could not."""
        if not self._child:
            return b""
        _, status = os.waitpid(self._child, 0)
        self._child = 0
        size = os.fstat(self._memory).st_size if status == 0 else 0
        try:
            return os.pread(self._memory, size, 0)
        finally:
            os.close(self._memory)

    def _read_ahead(self) -> NoReturn:
        """The life of the child: it touches nothing but the two files."""
        try:
            fd = os.open(self.live_path(self._ahead), os.O_RDONLY | os.O_CLOEXEC)
            while piece := os.read(fd, _PIECE_BYTES):
                os.write(self._memory, piece)
            os._exit(0)
        finally:
            os._exit(1)


def is_perf_data(path: Path) -> bool:
    """Whether a file begins as perf.data does; quick to tell, as much else depends on it."""
    try:
        with path.open("rb") as opened:
            return opened.read(8) == b"PERFILE2"
    except OSError:
        return False
