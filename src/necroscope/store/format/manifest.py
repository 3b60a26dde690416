"""What a sealed folder must hold: each file with its size, rows and checksums, so that damage and loss are noticed.

    NAME/manifest.json   {"version": 3, "tables": {"samples": {"bytes": ..., "rows": ..., "pieces": [[END, CRC], ...]}}}

A piece is a row group, the last one is the footer; pieces follow each other from the first byte to the last, and END
is where one ends. CRC is CRC-32, as in zlib, of its bytes. The CRC-32 of the manifest itself ends the name of its
folder: a folder with such a name and no manifest, or another one, is damaged. A table that is not listed has no rows.
This finds what disks, copies and accidents do; whoever may write the store can write a manifest that suits.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from necroscope.store.format.tables import FORMAT_VERSION
from necroscope.store.private_files import write_synced
from necroscope.store.read.catalog import Segment
from necroscope.store.regular_file import open_regular, read_regular

NAME = "manifest.json"
MAX_BYTES = 1 << 20
_TABLE = re.compile(r"[a-z_]{1,64}")
_BLOCK = 1 << 20
_FOOTER_END = 8


class Damaged(OSError):
    """A sealed file is not what its manifest says."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A file as it was sealed. `pieces`: where each ends, and its checksum."""

    bytes: int
    rows: int
    pieces: tuple[tuple[int, int], ...]

    def span(self, piece: int) -> tuple[int, int]:
        """First byte of a piece, and the one after its last."""
        return self.pieces[piece - 1][0] if piece else 0, self.pieces[piece][0]


Manifest = Mapping[str, Listed]
"""What is listed of each table that has rows."""


def listed(path: Path, metadata: Any) -> Listed:
    """A file that was just written, by its Parquet metadata."""
    fd = open_regular(path)
    try:
        size = os.fstat(fd).st_size
        footer = size - _FOOTER_END - int.from_bytes(os.pread(fd, 4, size - _FOOTER_END), "little")
        ends = [*(_begin(metadata.row_group(number)) for number in range(1, metadata.num_row_groups)), footer, size]
        begins = [0, *ends[:-1]]
        pieces = [(end, checksum(fd, begin, end)) for begin, end in zip(begins, ends, strict=True)]
    finally:
        os.close(fd)
    return Listed(size, metadata.num_rows, tuple(pieces))


def checksum(fd: int, begin: int, end: int) -> int:
    """CRC-32 of some bytes of a file. `Damaged` when it ends before."""
    found = 0
    while begin < end:
        block = os.pread(fd, min(_BLOCK, end - begin), begin)
        if not block:
            raise Damaged("it is shorter than it was")
        found = zlib.crc32(block, found)
        begin += len(block)
    return found


def write_manifest(folder: Path, tables: Manifest) -> str:
    """Write and sync the manifest of a folder; what the name of the folder has to end with."""
    listed = {
        name: {"bytes": one.bytes, "rows": one.rows, "pieces": [list(piece) for piece in one.pieces]}
        for name, one in tables.items()
    }
    data = json.dumps({"version": FORMAT_VERSION, "tables": listed}, separators=(",", ":")).encode() + b"\n"
    write_synced(folder / NAME, data)
    return f"{zlib.crc32(data):08x}"


def manifest_of(segment: Segment) -> Manifest | None:
    """What a segment must hold; None for one that is older than manifests. `Damaged`: its manifest is not there any
    more, or not the one it was sealed with. `FileNotFoundError`: the segment is gone."""
    return None if segment.check is None else _read(segment.path, segment.check)[1]


def format_of(segment: Segment) -> int:
    """The format version that a segment was written in. Raises as `manifest_of` does."""
    return 1 if segment.check is None else _read(segment.path, segment.check)[0]


@lru_cache(maxsize=512)
def _read(folder: Path, check: int) -> tuple[int, Manifest]:
    """Kept, as whoever looks at a segment opens several of its files, one after the other."""
    try:
        data = read_regular(folder / NAME, MAX_BYTES)
    except FileNotFoundError as error:
        if not folder.exists():
            raise
        raise Damaged(f"{folder / NAME} is missing") from error
    except OSError as error:
        raise Damaged(f"{folder / NAME} cannot be read: {error.strerror}") from error
    if zlib.crc32(data) != check:
        raise Damaged(f"{folder / NAME} is not the one that was sealed")
    return _parsed(data, folder)


def _parsed(data: bytes, folder: Path) -> tuple[int, Manifest]:
    try:
        said = json.loads(data)
        version, tables = int(said["version"]), said["tables"]
        return version, {name: _listed(entry) for name, entry in tables.items() if _TABLE.fullmatch(name)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"{folder / NAME} cannot be understood") from error


def _listed(entry: Any) -> Listed:
    pieces = tuple((int(end), int(crc)) for end, crc in entry["pieces"])
    size, ends = int(entry["bytes"]), [0, *(end for end, _ in pieces)]
    if not pieces or ends[-1] != size or ends != sorted(set(ends)):
        raise ValueError("pieces that do not follow each other")
    return Listed(size, int(entry["rows"]), pieces)


def _begin(group: Any) -> int:
    """Where the pages of a row group begin."""
    columns = (group.column(number) for number in range(group.num_columns))
    return min(int(one.dictionary_page_offset if one.has_dictionary_page else one.data_page_offset) for one in columns)
