"""Frames of a journal: checked, whole, in their place.

    file    "necroj1\\n"  number:u64                                      the journal's number, also in its name
    frame   length:u32  checksum:u32  payload[length]                    all numbers little endian
    payload size:u32  zstd(sections), `size` bytes when unpacked
    section name length:u8  name  length:u32  record batch               an Arrow IPC record batch message

The checksum is CRC-32 over number:u64, index of the frame:u64, length:u32 and payload: a frame is believed only in its
own place. It is verified before anything parses the payload. The schema of a record batch is the declared table, words
as text; it is not repeated. Reading ends at the first frame that is not whole; what came before it is right.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from necroscope.store.format.arrow import WORD, Tables, from_columns, joined, one_chunk, schema
from necroscope.store.format.tables import JOURNAL, Table
from necroscope.store.read import older_events

MAGIC = b"necroj1\n"
MAX_FRAME_BYTES = 1 << 28

_HEADER = struct.Struct("<8sQ")
HEADER_BYTES = _HEADER.size
_FRAME = struct.Struct("<II")
_PLACE = struct.Struct("<QQI")
_SIZE = struct.Struct("<I")
_TABLES = {table.name: table for table in JOURNAL}
_CODEC = "zstd"


@dataclass(frozen=True, slots=True)
class Contents:
    """What a journal says. `note` is empty, or says where it had to be cut and why."""

    number: int
    tables: Tables
    frames: int
    note: str = ""


def header(number: int) -> bytes:
    """How a journal begins."""
    return _HEADER.pack(MAGIC, number)


def encode(tables: Tables) -> bytes:
    """A payload."""
    sections = b"".join(_section(name, table) for name, table in tables.items())
    return _SIZE.pack(len(sections)) + bytes(pa.Codec(_CODEC, compression_level=1).compress(sections, asbytes=True))


def decode(payload: bytes) -> Tables:
    """The rows of a verified payload. Tables of a later version of this program are passed over."""
    (size,) = _SIZE.unpack_from(payload)
    data = pa.Codec(_CODEC).decompress(payload[_SIZE.size :], size, asbytes=True)
    tables: Tables = {}
    offset = 0
    while offset < len(data):
        name = data[offset + 1 : offset + 1 + data[offset]].decode()
        offset += 1 + data[offset]
        (length,) = _SIZE.unpack_from(data, offset)
        offset += _SIZE.size
        if name in _TABLES:
            tables[name] = _table(name, pa.py_buffer(data[offset : offset + length]))
        offset += length
    return tables


def frame(number: int, index: int, payload: bytes) -> bytes:
    """A frame for its place."""
    return _FRAME.pack(len(payload), _checksum(number, index, payload)) + payload


def frames(data: bytes) -> Iterator[bytes | str]:
    """Payloads of the whole frames of a journal; at the end, where something is not whole, a note."""
    if not data:
        return  # created, and nothing written yet
    if len(data) < _HEADER.size or data[: len(MAGIC)] != MAGIC:
        yield "it has no header"
        return
    number = _HEADER.unpack_from(data)[1]
    offset, index = _HEADER.size, 0
    while offset < len(data):
        start = offset + _FRAME.size
        length, checksum = _FRAME.unpack_from(data, offset) if start <= len(data) else (MAX_FRAME_BYTES, 0)
        payload = data[start : start + length]
        if len(payload) < length:
            yield f"the frame at byte {offset} is not whole"
            return
        if checksum != _checksum(number, index, payload):
            yield f"the frame at byte {offset} is damaged"
            return
        yield payload
        offset, index = start + length, index + 1


def read(data: bytes) -> Contents:
    """The rows of every whole frame. Damage never raises: it cuts the journal there, with a note."""
    parts: list[Tables] = []
    note = ""
    for payload in frames(data):
        if isinstance(payload, str):
            note = payload
            break
        try:
            parts.append(decode(payload))
        except (pa.ArrowException, OSError, ValueError, IndexError, struct.error) as error:
            note = f"frame {len(parts)} cannot be read: {error}"
            break
    number = _HEADER.unpack_from(data)[1] if len(data) >= _HEADER.size else 0
    return Contents(number, join(parts), len(parts), note)


def _section(name: str, table: pa.Table) -> bytes:
    if not table.num_rows:
        return b""
    arrays = [one_chunk(column) for column in table.columns]
    plain = [array.dictionary_decode() if array.type == WORD else array for array in arrays]
    batch = pa.RecordBatch.from_arrays(plain, schema=schema(_TABLES[name], plain=True))
    body: bytes = batch.serialize().to_pybytes()
    return bytes([len(name)]) + name.encode() + _SIZE.pack(len(body)) + body


def _table(name: str, buffer: pa.Buffer) -> pa.Table:
    declared = _TABLES[name]
    batch = _batch(declared, buffer)
    columns = {
        one: column.dictionary_encode() if schema(declared).field(one).type == WORD else column
        for one, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    if older_events.lacking(name, batch.schema.names):
        return older_events.filled(pa.table(columns))
    return from_columns(declared, columns)


def _batch(declared: Table, buffer: pa.Buffer) -> pa.RecordBatch:
    """A journal that was written before the table got its last columns has a batch without them."""
    try:
        return pa.ipc.read_record_batch(buffer, schema(declared, plain=True))
    except (pa.ArrowException, OSError):
        if not declared.later:
            raise
        return pa.ipc.read_record_batch(buffer, schema(declared.as_it_began, plain=True))


def join(parts: list[Tables]) -> Tables:
    """The rows of all parts, table by table."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: joined(_TABLES[name], [part[name] for part in parts if name in part]) for name in names}


def _checksum(number: int, index: int, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(_PLACE.pack(number, index, len(payload))))
