"""Symbol tables that the parser holds: of mapped files, and of the maps that processes write. All bounded, oldest out.

A table belongs to a file as it is (device, inode, size, times); a key of the recorder leads to it. What has no large
string table is kept whole, so that it can be named when the file is gone; of others only the columns are kept, and
names are read from the descriptor that comes with a request. No descriptor is kept.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass, field

from necroscope.clock import elapsed_s
from necroscope.errors import Unavailable
from necroscope.sense.confined.in_root import Refused
from necroscope.sense.confined.refusal import Refusal
from necroscope.sense.perf.symbols.elf import Elf, Strings, TooLarge
from necroscope.sense.perf.symbols.jit import MapLines
from necroscope.sense.perf.symbols.symtab import SymbolTable

Identity = tuple[int, int, int, int, int]
_TABLE_BYTES = 16 << 20  # 700,000 symbols in all tables of one file
_STRINGS_BYTES = 2 << 20
_OBJECT_BYTES = 20 << 20
_OBJECTS = 1024
_MAP_BYTES = 8 << 20
_MAPS = 128
_MAP_LARGEST = 16 << 20
_MAP_AT_ONCE = 4 << 20
_MAP_BURST, _MAP_RATE = 32 << 20, 256 << 10
_UIDS = 1024
_LINE_BYTES = 1200


class OpenFile:
    """Bytes of whatever file is open for this request; of none, nothing."""

    def __init__(self) -> None:
        self.fd = -1

    def __call__(self, offset: int, size: int) -> bytes:
        if self.fd < 0 or not 0 <= offset < 1 << 62 or size <= 0:
            return b""
        try:
            return os.pread(self.fd, size, offset)
        except OSError:
            return b""


@dataclass(slots=True)
class MappedObject:
    """One file's symbols; `names` and `debug_names` are where its names are read when they are not kept."""

    table: SymbolTable | None
    build_id: str
    nbytes: int
    kept: bool
    names: OpenFile
    debug_names: OpenFile


class Objects:
    """Tables of mapped files."""

    def __init__(self) -> None:
        self._by_file: OrderedDict[Identity, MappedObject] = OrderedDict()
        self._file_of: OrderedDict[str, Identity] = OrderedDict()
        self._nbytes = 0

    def known(self, key: str) -> MappedObject | None:
        """What an earlier request with this key led to, if it can still be named."""
        found = self._by_file.get(self._file_of.get(key, (0, 0, 0, 0, 0)))
        return found if found is not None and found.kept else None

    def of(self, key: str, build_id: str, fds: list[int]) -> MappedObject:
        """The symbols of an open file. Raises `Refused` when they are not to be had or not those that were mapped."""
        identity = _identity(fds[0])
        found = self._by_file.get(identity)
        if found is None:
            found = _load(fds)
            self._by_file[identity] = found
            self._nbytes += found.nbytes
        if build_id and found.build_id != build_id:
            raise Refused(Refusal.OTHER_BUILD)
        self._by_file.move_to_end(identity)
        self._file_of[key] = identity
        self._file_of.move_to_end(key)
        self._bound()
        return found

    def forget(self) -> None:
        """Let go of all tables."""
        self._by_file.clear()
        self._file_of.clear()
        self._nbytes = 0

    def _bound(self) -> None:
        while len(self._by_file) > 1 and (self._nbytes > _OBJECT_BYTES or len(self._by_file) > _OBJECTS):
            _, oldest = self._by_file.popitem(last=False)
            self._nbytes -= oldest.nbytes
        while len(self._file_of) > 8 * _OBJECTS:
            self._file_of.popitem(last=False)


def _identity(fd: int) -> Identity:
    seen = os.fstat(fd)
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def _load(fds: list[int]) -> MappedObject:
    names, debug_names = OpenFile(), OpenFile()
    names.fd = fds[0]
    strings = Strings()
    try:
        elf = Elf(names, _TABLE_BYTES)
        build_id = elf.build_id()
    except (Unavailable, ValueError, IndexError, OverflowError) as error:
        raise Refused(Refusal.BROKEN) from error
    debug = None
    if len(fds) > 1 and not elf.has_symtab:
        debug_names.fd = fds[1]
        debug = _debug(debug_names, elf)
    try:
        table = elf.symbols(debug, strings)
    except TooLarge as error:
        raise Refused(Refusal.LIMIT) from error
    except (Unavailable, ValueError, IndexError, OverflowError):
        return MappedObject(None, build_id, 256, True, names, debug_names)  # that it has none is worth knowing
    kept_bytes = strings.keep(_STRINGS_BYTES)
    return MappedObject(table, build_id, table.nbytes + kept_bytes, kept_bytes > 0, names, debug_names)


def _debug(file: OpenFile, elf: Elf) -> Elf | None:
    try:
        return Elf(file, _TABLE_BYTES, segments=elf.segments)
    except (Unavailable, ValueError, IndexError, OverflowError):
        return None


@dataclass(slots=True)
class MapOfProcess:
    """What was read of one process's map so far."""

    file: tuple[int, int]
    names: OpenFile
    lines: MapLines = field(default_factory=MapLines)
    table: SymbolTable | None = None
    more: bool = False


class Maps:
    """Maps of processes. Each user has so many bytes at once and so many a second."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, MapOfProcess] = OrderedDict()
        self._spent: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def of(self, key: str, fd: int) -> MapOfProcess:
        """The map as it is now; a large one in pieces, one at each request. Raises `Refused`."""
        seen = os.fstat(fd)
        if seen.st_size > _MAP_LARGEST:
            raise Refused(Refusal.LIMIT)
        found = self._by_key.get(key)
        if found is None or found.file != (seen.st_dev, seen.st_ino) or seen.st_size < found.lines.read:
            found = self._by_key[key] = MapOfProcess((seen.st_dev, seen.st_ino), OpenFile())
        self._by_key.move_to_end(key)
        found.names.fd = fd
        self._grow(found, seen.st_size, seen.st_uid)
        self._bound()
        return found

    def forget(self) -> None:
        """Let go of all maps; what users have spent is remembered."""
        self._by_key.clear()

    def _grow(self, found: MapOfProcess, size: int, uid: int) -> None:
        wanted = min(size - found.lines.read, _MAP_AT_ONCE)
        if wanted > 0 and not found.lines.full:
            allowed = self._allowed(uid, wanted)
            if not allowed and found.table is None:
                raise Refused(Refusal.BUDGET)
            read = found.lines.read
            found.lines.take(found.names(read, allowed))
            found.more = read < found.lines.read < size and not found.lines.full
            found.table = None
        if found.table is None:
            found.table = found.lines.table(lambda at: found.names(at, _LINE_BYTES).partition(b"\n")[0])

    def _allowed(self, uid: int, wanted: int) -> int:
        """How many of the wanted bytes this user may have read now; they are counted."""
        now = elapsed_s()
        left, since = self._spent.get(uid, (float(_MAP_BURST), now))
        left = min(float(_MAP_BURST), left + (now - since) * _MAP_RATE)
        allowed = wanted if wanted <= left else 0
        self._spent[uid] = (left - allowed, now)
        self._spent.move_to_end(uid)
        while len(self._spent) > _UIDS:
            self._spent.popitem(last=False)
        return allowed

    def _bound(self) -> None:
        while len(self._by_key) > 1 and (
            len(self._by_key) > _MAPS or sum(2 * one.lines.nbytes for one in self._by_key.values()) > _MAP_BYTES
        ):
            self._by_key.popitem(last=False)
