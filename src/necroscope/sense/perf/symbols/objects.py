"""Files that a recording from elsewhere names, opened to read their symbols: for imports, by whoever runs them.

Live, nobody opens a file here: that is `live_names`. A file is the right one when its build id is the recorded one;
where none was recorded, when its inode is. Only regular files are opened, never over a link at their end.
"""

from __future__ import annotations

import contextlib
import os
import stat
import weakref
from collections import OrderedDict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from necroscope.errors import Unavailable
from necroscope.sense.environment import home
from necroscope.sense.host import Host
from necroscope.sense.perf.format.sideband import MappedFile
from necroscope.sense.perf.symbols.elf import Elf, Strings
from necroscope.sense.perf.symbols.symtab import SymbolTable

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEBUG_FOLDERS = ("/usr/lib/debug/.build-id",)
_DELETED = " (deleted)"
_REMEMBERED = 1 << 14
# Names of a file are taken in together when they are no more; else each is read when it is asked for.
_NAMES_BYTES = 1 << 20


class ObjectFiles:
    """Symbol tables of files on this machine; those that nobody asked for longest go when they are too many."""

    def __init__(self, host: Host, memory: int = 96 << 20, largest: int = 64 << 20, most: int = 256) -> None:
        self.host = host
        self.build_ids: dict[str, str] = {}
        self._memory, self._largest, self._most = memory, largest, most
        self._tables: OrderedDict[object, SymbolTable | None] = OrderedDict()
        self._sizes: dict[object, int] = {}

    # -- for the decoder -------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A new flush: nothing is waited for here."""

    def hold(self, file: MappedFile, pid: int) -> None:
        """A file was mapped for the first time, on another day."""

    def tenant(self, space: int, pid: int) -> int:
        """All processes of a recording are one tenant: paths are those of this machine."""
        return 0

    def want(self, file: MappedFile, pid: int, space: int, places: NDArray[np.uint64]) -> None:
        """Nothing is asked ahead."""

    def names(self, file: MappedFile, pid: int, space: int) -> tuple[SymbolTable | None, bool]:
        """The file's symbols, None when it has none; always final."""
        return self.table(file), True

    def count(self, file: MappedFile, pid: int, space: int, frames: int) -> None:
        """What has no name in an import is counted by `Symbols.unresolved`."""

    # -- files -----------------------------------------------------------------------------------------------

    def table(self, file: MappedFile) -> SymbolTable | None:
        """The symbols of the right file; None when there are none to be had."""
        key = file.build_id or self.build_ids.get(file.path, "") or (file.path, file.device, file.inode)
        if key not in self._tables:
            self._tables[key], size = self._load(file)
            if size:
                self._sizes[key] = size
            self._shrink()
        self._tables.move_to_end(key)
        return self._tables[key]

    def _shrink(self) -> None:
        total = sum(self._sizes.values())
        while len(self._sizes) > 1 and (total > self._memory or len(self._sizes) > self._most):
            oldest = next(key for key in self._tables if key in self._sizes)
            total -= self._sizes.pop(oldest)
            del self._tables[oldest]
        while len(self._tables) > _REMEMBERED:
            self._sizes.pop(self._tables.popitem(last=False)[0], None)

    def _load(self, file: MappedFile) -> tuple[SymbolTable | None, int]:
        """The symbols of the right file, if any, and the bytes that they take."""
        wanted = file.build_id or self.build_ids.get(file.path, "")
        for fd, certain in self._candidates(file, wanted):
            reader = _File(fd)
            with contextlib.suppress(Unavailable, OSError, ValueError, IndexError, OverflowError, MemoryError):
                elf = Elf(reader, self._largest)
                if elf.build_id() == wanted if wanted else certain or os.fstat(fd).st_ino == file.inode:
                    return self._symbols(elf, elf.build_id())
        return None, 0

    def _candidates(self, file: MappedFile, build_id: str) -> Iterator[tuple[int, bool]]:
        """Open files that may be the one, and whether the way they were found makes it certain."""
        path = file.path.removesuffix(_DELETED)
        places = [(path, not file.inode)] if path.startswith("/") else []
        if build_id and (own := home()):
            places.append((f"{own}/.debug/.build-id/{build_id[:2]}/{build_id[2:]}/elf", True))
        for place, certain in places:
            with contextlib.suppress(OSError, Unavailable, ValueError):
                yield self._open(place), certain

    def _symbols(self, elf: Elf, build_id: str) -> tuple[SymbolTable, int]:
        """The file's own symbols, or those that a debug package keeps beside it, and the bytes that they take."""
        if build_id and not elf.has_symtab:
            for folder in _DEBUG_FOLDERS:
                with contextlib.suppress(OSError, Unavailable):
                    file = _File(self._open(f"{folder}/{build_id[:2]}/{build_id[2:]}.debug"))
                    return _with_names(elf, Elf(file, self._largest, segments=elf.segments))
        return _with_names(elf)

    def _open(self, path: str) -> int:
        """A regular file, opened without following a link at its end and without waiting."""
        fd = os.open(self.host.live_path(path), _FLAGS)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise Unavailable(f"{path} is not a regular file")
        return fd


def _with_names(elf: Elf, debug: Elf | None = None) -> tuple[SymbolTable, int]:
    strings = Strings()
    table = elf.symbols(debug, strings)
    return table, table.nbytes + strings.keep(_NAMES_BYTES)


class _File:
    """Bytes of an open file, for as long as somebody holds it: a table of symbols reads its names from it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._close = weakref.finalize(self, os.close, fd)

    def __call__(self, offset: int, size: int) -> bytes:
        if not 0 <= offset < 1 << 62 or size <= 0:
            return b""
        try:
            return os.pread(self._fd, size, offset)
        except OSError:
            return b""
