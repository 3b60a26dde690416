"""Files that processes map, opened to read their symbols: found, checked to be the right ones, never in the way.

A path is the process's own, so it is opened through /proc/PID/root, and by itself when the process is gone. It is the
right file when its build id is the recorded one; where none was recorded, when its inode is. Live, one thread of its
own does the opening and reading: who asks waits a little and goes on without an answer when a file is slow.
"""

from __future__ import annotations

import contextlib
import os
import queue
import stat
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.perf.elf import Elf
from necroscope.sense.perf.sideband import MappedFile
from necroscope.sense.perf.symtab import SymbolTable
from necroscope.sense.surroundings import home

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEBUG_FOLDERS = ("/usr/lib/debug/.build-id",)
_DELETED = " (deleted)"
_HELD = 64


@dataclass(slots=True)
class _Request:
    """One file somebody asked for. `table` is None until `done`, and after it when there are no symbols to be had."""

    file: MappedFile
    pid: int
    done: threading.Event = field(default_factory=threading.Event)
    table: SymbolTable | None = None
    fd: int = -1
    used: int = 0


class ObjectFiles:
    """Symbol tables of mapped files. `wait_s` bounds how long one flush may wait for all of them; None: no bound."""

    def __init__(
        self, host: Host, wait_s: float | None = None, memory: int = 96 << 20, largest: int = 64 << 20, most: int = 256
    ) -> None:
        self.host = host
        self.build_ids: dict[str, str] = {}
        self._wait_s = wait_s
        self._deadline_s = 0.0
        self._memory, self._largest, self._most = memory, largest, most
        self._turn = 0
        self._requests: dict[object, _Request] = {}
        self._held: list[_Request] = []
        self._queue: queue.SimpleQueue[_Request] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """A new flush: the waiting time starts over."""
        if self._wait_s is not None:
            self._deadline_s = clock.elapsed_s() + self._wait_s

    def ask(self, file: MappedFile, pid: int) -> tuple[SymbolTable | None, bool]:
        """The file's symbols, None when it has none, and whether that is final."""
        key = self._key(file)
        request = self._requests.get(key)
        if request is None:
            request = self._requests[key] = _Request(file, pid)
            self._start(request)
        if self._wait_s is not None and not request.done.is_set():
            request.done.wait(max(0.0, self._deadline_s - clock.elapsed_s()))
        self._turn += 1
        request.used = self._turn
        return request.table, request.done.is_set()

    def hold(self, file: MappedFile, pid: int) -> None:
        """A file was mapped for the first time: open it while the process lives, read it when a sample needs it."""
        if self._wait_s is None or self.host.captured or not file.path.startswith("/"):
            return
        key = self._key(file)
        if key not in self._requests:
            request = _Request(file, pid)
            with contextlib.suppress(OSError, Unavailable):
                request.fd = self._open(f"/proc/{pid}/root{file.path}")
                self._held.append(request)
        while len(self._held) > _HELD:
            self._release(self._held.pop(0))

    def close(self) -> None:
        """Let go of all files that are held open."""
        while self._held:
            self._release(self._held.pop())

    # -- work --------------------------------------------------------------------------------------------

    def _key(self, file: MappedFile) -> object:
        known = file.build_id or self.build_ids.get(file.path, "")
        return known or (file.path, file.device, file.inode)

    def _start(self, request: _Request) -> None:
        for held in self._held:
            if self._key(held.file) == self._key(request.file):
                self._held.remove(held)
                request.fd = held.fd
                break
        if self._wait_s is None:
            self._work(request)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="symbols", daemon=True)
            self._thread.start()
        self._queue.put(request)

    def _serve(self) -> None:
        while True:
            self._work(self._queue.get())

    def _work(self, request: _Request) -> None:
        try:
            request.table = self._load(request)
        finally:
            request.done.set()
            self._shrink()

    def _shrink(self) -> None:
        """Drop the tables that nobody asked for longest when they are too many; they are read again when needed."""
        loaded = sorted(
            ((one.used, key, one.table.nbytes) for key, one in list(self._requests.items()) if one.table is not None),
            key=lambda known: known[0],
        )
        total, count = sum(size for _, _, size in loaded), len(loaded)
        for _, key, size in loaded[:-1]:
            if total <= self._memory and count <= self._most:
                break
            total, count = total - size, count - 1
            self._requests.pop(key, None)
        for key in list(self._requests)[: max(0, len(self._requests) - (1 << 14))]:
            self._requests.pop(key, None)

    def _load(self, request: _Request) -> SymbolTable | None:
        wanted = request.file.build_id or self.build_ids.get(request.file.path, "")
        for fd, certain in self._candidates(request):
            file = _File(fd)
            with contextlib.suppress(Unavailable, OSError, ValueError, IndexError, MemoryError):
                elf = Elf(file, self._largest)
                right = elf.build_id() == wanted if wanted else certain or _same_inode(fd, request.file)
                if right:
                    return self._symbols(elf, elf.build_id())
        return None

    def _candidates(self, request: _Request) -> Iterator[tuple[int, bool]]:
        """Open files that may be the one, and whether the way they were found makes it certain."""
        path = request.file.path.removesuffix(_DELETED)
        if request.fd >= 0:
            fd, request.fd = request.fd, -1
            yield fd, True
        for place, certain in ((f"/proc/{request.pid}/root{path}", True), (path, not request.file.inode)):
            if path.startswith("/") and not (certain and self._wait_s is None and place.startswith("/proc/")):
                with contextlib.suppress(OSError, Unavailable):
                    yield self._open(place), certain
        build_id = request.file.build_id or self.build_ids.get(request.file.path, "")
        if build_id:
            for place in self._copies(build_id):
                with contextlib.suppress(OSError, Unavailable):
                    yield self._open(place), True

    def _copies(self, build_id: str) -> Iterator[str]:
        if own := home():
            yield f"{own}/.debug/.build-id/{build_id[:2]}/{build_id[2:]}/elf"

    def _symbols(self, elf: Elf, build_id: str) -> SymbolTable:
        """The file's own symbols, or those that a debug package keeps beside it."""
        if build_id and not elf.has_symtab:
            for folder in _DEBUG_FOLDERS:
                with contextlib.suppress(OSError, Unavailable):
                    file = _File(self._open(f"{folder}/{build_id[:2]}/{build_id[2:]}.debug"))
                    return elf.symbols(Elf(file, self._largest, segments=elf.segments))
        return elf.symbols()

    def _open(self, path: str) -> int:
        """A regular file, opened without following a link at its end and without waiting."""
        fd = os.open(self.host.live_path(path), _FLAGS)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise Unavailable(f"{path} is not a regular file")
        return fd

    @staticmethod
    def _release(request: _Request) -> None:
        if request.fd >= 0:
            os.close(request.fd)
            request.fd = -1


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


def _same_inode(fd: int, file: MappedFile) -> bool:
    return os.fstat(fd).st_ino == file.inode


def module_name(path: str) -> str:
    """How a mapped file is called in a stack: its last name. Anonymous memory is "[anon]"."""
    if path.startswith("//anon") or not path:
        return "[anon]"
    name = path.removesuffix(_DELETED).rpartition("/")[2] if path.startswith("/") else path
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") or "[anon]"
