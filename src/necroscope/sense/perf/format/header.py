"""The header of a perf.data file: where events, data and features are.

    "PERFILE2" | u64 header size | u64 attr size | attrs, data, event types (each u64 offset, u64 size) | 256 bits

One bit per feature; their sections stand behind the data in the order of the bits. A stream ("pipe mode") has the same
magic and a header of 16 bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from necroscope.errors import BadInput
from necroscope.sense.perf.format.attrs import ATTR_MAX_BYTES, ATTR_MIN_BYTES, EventAttr, parse_attr

Reader = Callable[[int, int], bytes]
MAGIC = b"PERFILE2"
FILE_HEADER_BYTES = 104
PIPE_HEADER_BYTES = 16
_ATTRS_BYTES = 16 << 20
_IDS_BYTES = 16 << 20
_FEATURE_BYTES = 64 << 20
_FEATURES = 256


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the file."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class FileHeader:
    """Where everything is. `pipe`: the file holds a stream, and everything is in there. `unended`: perf was killed
    before it wrote how long the data is, so they reach to the end of the file."""

    pipe: bool
    attr_size: int = 0
    attrs: Span = Span(0, 0)
    data: Span = Span(0, 0)
    features: tuple[int, ...] = ()
    unended: bool = False


def parse_header(head: bytes, file_size: int) -> FileHeader:
    """The header from the file's first bytes. Data of length 0 reaches to the end: perf was killed while writing."""
    if head[:8] == MAGIC[::-1]:
        raise BadInput("the recording is from a machine of the other byte order", "import it on such a machine")
    if head[:8] == b"PERFFILE":
        raise BadInput("the recording is in perf's oldest format", "record with a perf from this decade")
    if len(head) < PIPE_HEADER_BYTES or head[:8] != MAGIC:
        raise BadInput("this is not a perf recording", "give the file that `perf record` wrote")
    size, attr_size = struct.unpack_from("<Q", head, 8)[0], 0
    if size == PIPE_HEADER_BYTES:
        return FileHeader(pipe=True)
    if size < FILE_HEADER_BYTES or len(head) < FILE_HEADER_BYTES:
        raise BadInput("the recording's header is cut short", "the file is not complete; record again")
    attr_size, *places = struct.unpack_from("<7Q", head, 16)
    attrs, data = Span(*places[:2]), Span(*places[2:4])
    flags = int.from_bytes(head[72:104], "little")
    if data.size == 0:
        return FileHeader(False, attr_size, attrs, Span(data.offset, max(0, file_size - data.offset)), unended=True)
    features = (
        tuple(bit for bit in range(_FEATURES) if flags >> bit & 1) if data.offset + data.size <= file_size else ()
    )
    return FileHeader(False, attr_size, attrs, data, features)


def read_events(header: FileHeader, read: Reader) -> Iterator[EventAttr]:
    """The events that the file declares, each followed by where its ids are."""
    step = header.attr_size
    if not ATTR_MIN_BYTES + 16 <= step <= ATTR_MAX_BYTES or header.attrs.size > _ATTRS_BYTES:
        raise BadInput("the recording's list of events cannot be read", "the file is damaged; record again")
    table = read(header.attrs.offset, header.attrs.size)
    for place in range(0, len(table) - step + 1, step):
        offset, size = struct.unpack_from("<QQ", table, place + step - 16)
        ids = np.frombuffer(read(offset, size) if size <= _IDS_BYTES and size % 8 == 0 else b"", np.uint8)
        numbers = ids[: ids.size & ~7].view(np.uint64).tolist()
        yield parse_attr(table[place : place + step - 16], numbers)


def read_features(header: FileHeader, read: Reader) -> Iterator[tuple[int, bytes]]:
    """The feature sections, each with its number; those too large to be true are left out."""
    table = read(header.data.offset + header.data.size, 16 * len(header.features))
    for number, place in zip(header.features, range(0, len(table) - 15, 16), strict=False):
        offset, size = struct.unpack_from("<QQ", table, place)
        if size <= _FEATURE_BYTES:
            yield number, read(offset, size)
