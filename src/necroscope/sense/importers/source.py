"""A file that another tool wrote, as a stream of bytes: unpacked on the way, never held whole.

gzip, xz, bzip2 and zstd are unpacked here. A file that expands without end costs time, not
memory: what is handed out at once is bounded. A packed file that was cut is read up to the cut.
"""

from __future__ import annotations

import bz2
import lzma
import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from necroscope.errors import BadInput

READ_BYTES = 1 << 20
LINE_BYTES = 64 << 10
LATEST_NS = (1 << 63) - 1
S = 1_000_000_000
LOCAL = "its times are local, of a zone that it does not tell, and taken as UTC: see --zone"
CUT_SHORT = "the file ends early: what follows is missing"
OPEN_IT = "give the path of a file that this user may read: necroscope import FILE --store FOLDER"
_PLACE_IT = "see to --clock-offset (seconds to add to the file's times) and --at (the time of the first thing in it)"
_PACKED_BYTES = 256 << 10
_MAGICS = ((b"\x1f\x8b", "gzip"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2"), (b"\x28\xb5\x2f\xfd", "zstd"))


@dataclass(frozen=True, slots=True)
class Placing:
    """What the user knows about a file and the file does not say.

    `clock_offset_ns` is added to the file's own times to make UTC of them: the time of boot for stamps since boot, the
    zone for local times. `at_ns` is the UTC time of the first thing in the file. `zone_ns` is the zone, east of UTC, of
    the times in names and headers of recordings. `host` picks one host of a file that tells of several. `BadInput` for
    what no time of this era can come of.
    """

    host: str = ""
    at_ns: int | None = None
    clock_offset_ns: int | None = None
    zone_ns: int | None = None

    def __post_init__(self) -> None:
        if self.at_ns is not None:
            check_times("The first thing", self.at_ns)
        if self.clock_offset_ns is not None and abs(self.clock_offset_ns) > LATEST_NS:
            raise BadInput(f"A clock offset of {self.clock_offset_ns / S:.0f} s leads out of all calendars.", _PLACE_IT)

    @property
    def zoneless(self) -> bool:
        """Whether nobody said what makes UTC of local times."""
        return self.clock_offset_ns is None and self.zone_ns is None

    def offset_ns(self, local: bool = True) -> int:
        """What makes UTC of a log's times: what is given, else the zone, of those that are local."""
        if self.clock_offset_ns is not None:
            return self.clock_offset_ns
        return -(self.zone_ns or 0) if local else 0


NO_PLACING = Placing()


def check_times(whose: Path | str, *at_ns: int) -> None:
    """`BadInput` when times came out before 1970 or after 2262, which the store cannot hold."""
    if any(not 0 <= one <= LATEST_NS for one in at_ns):
        raise BadInput(f"{whose} would be placed before 1970 or after 2262.", _PLACE_IT)


class Source:
    """Bytes of a file or of an open binary stream, unpacked. `cut` says that a packed file ended too early."""

    def __init__(self, file: Path | BinaryIO) -> None:
        self.path = file if isinstance(file, Path) else None
        self.name = str(file) if isinstance(file, Path) else str(getattr(file, "name", "the input"))
        self._raw = _open(file) if isinstance(file, Path) else file
        status = os.fstat(self._raw.fileno()) if isinstance(file, Path) else None
        self.size = status.st_size if status else 0
        self.modified_ns = status.st_mtime_ns if status else None
        self.cut = self._ended = False
        self._taken = 0
        try:
            self._held = self._take(max(len(magic) for magic, _ in _MAGICS))
            self.packing = next((name for magic, name in _MAGICS if self._held.startswith(magic)), "")
            self._unpacker = _unpacker(self.packing, self.name) if self.packing else None
        except BaseException:
            self.close()
            raise

    def notes(self) -> tuple[str, ...]:
        """What is missing, in sentences."""
        return (CUT_SHORT,) if self.cut else ()

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1; of a stream it is not known and 0."""
        return min(1.0, self._taken / self.size) if self.size else 0.0

    def read(self, size: int = READ_BYTES) -> bytes:
        """The next bytes, `size` at most; empty at the end only."""
        if self._ended:
            return b""
        if self._unpacker is None:
            held, self._held = self._held, b""
            return held or self._take(size)
        while not self._unpacker.eof or self._next_member():
            if self._unpacker.needs_input and not self._held and not (more := self._take(_PACKED_BYTES)):
                self.cut = True
                return b""
            data, self._held = (self._held or more, b"") if self._unpacker.needs_input else (b"", self._held)
            try:
                made: bytes = self._unpacker.decompress(data, size)
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
                self.cut = self._ended = True
                return b""
            if made:
                return made
        return b""

    def beginning(self, size: int) -> bytes:
        """The next `size` bytes; fewer only where the file ends."""
        parts: list[bytes] = []
        while size > 0 and (data := self.read(size)):
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    def lines(self, limit: int = LINE_BYTES) -> Iterator[bytes]:
        """Lines without their ends; of a line longer than `limit` its beginning."""
        rest = b""
        while block := self.read():
            first, *others = block.split(b"\n")
            if not others:
                rest = (rest + first)[: limit + 1]
                continue
            yield (rest + first)[:limit].rstrip(b"\r")
            rest = others.pop()
            for line in others:
                yield line[:limit].rstrip(b"\r")
            rest = rest[: limit + 1]
        if rest:
            yield rest[:limit].rstrip(b"\r")

    def close(self) -> None:
        """Close a file that was opened here; a stream stays open."""
        if self.path is not None:
            self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take(self, size: int) -> bytes:
        try:
            data = self._raw.read(size) or b""
        except OSError as error:
            raise BadInput(f"{self.name} cannot be read: {error.strerror}") from error
        self._taken += len(data)
        return data

    def _next_member(self) -> bool:
        """Packed files may be several, one after the other; what else follows the end is left alone."""
        left: bytes = (self._unpacker.unused_data if self._unpacker else b"") + self._held
        left = left or self._take(_PACKED_BYTES)
        magic = next(magic for magic, name in _MAGICS if name == self.packing)
        if not left.startswith(magic):
            return False
        self._held, self._unpacker = left, _unpacker(self.packing, self.name)
        return True


class _Gunzip:
    """zlib behind the interface of the other unpackers."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, size: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, size)


def _unpacker(packing: str, name: str) -> Any:
    if packing == "gzip":
        return _Gunzip()
    if packing == "xz":
        return lzma.LZMADecompressor(memlimit=256 << 20)
    if packing == "bzip2":
        return bz2.BZ2Decompressor()
    from necroscope.sense.importers.zstd import Unzstd

    try:
        return Unzstd()
    except BadInput as error:
        raise BadInput(f"{name} is packed with zstd, and libzstd is not here", "install libzstd1") from error


def _open(path: Path) -> Any:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise BadInput(f"{path} cannot be opened: {said}", OPEN_IT) from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise BadInput(f"{path} is not a file", OPEN_IT)
    return os.fdopen(fd, "rb", buffering=0)
