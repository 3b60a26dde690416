"""rpm's database of installed packages, where it is SQLite (rpm 4.16 and later): asked by file name, headers parsed.

A header: two big-endian counts (entries, bytes of data), entries of 16 bytes (tag, type, offset, count), then the data.
The names of files stand as three lists: base names, numbers of their folders, and folders.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import closing
from itertools import islice

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host

PLACES = ("/usr/lib/sysimage/rpm/rpmdb.sqlite", "/var/lib/rpm/rpmdb.sqlite")
_BYTES = 512 << 20
_HEADER_BYTES = 32 << 20
_NAME, _VERSION, _RELEASE, _FOLDER_NUMBERS, _BASES, _FOLDERS = 1000, 1001, 1002, 1116, 1117, 1118
_STRING, _INT32 = 6, 4
_PACKAGES_OF_ONE_NAME = 50
# Of a SQLite file: where it says which journal it uses (2: a log beside it), and the word for none.
_JOURNAL_AT, _NO_LOG = 18, b"\x01\x01"


def owners(host: Host, paths: set[str], deadline: float) -> dict[str, str]:
    """Package, version and release by path."""
    data = _database(host)
    import sqlite3

    found: dict[str, str] = {}
    headers: dict[int, tuple[str, frozenset[str]]] = {}
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(data)
            for path in sorted(paths):
                if clock.elapsed_s() > deadline:
                    raise Unavailable("rpm's database was not read in time")
                for number in _of_name(database, path.rpartition("/")[2]):
                    if number not in headers:
                        headers[number] = _package(database, number)
                    if path in headers[number][1]:
                        found[path] = headers[number][0]
    except (sqlite3.Error, struct.error, ValueError, IndexError) as error:
        raise Unavailable(f"rpm's database cannot be read ({type(error).__name__})") from error
    return found


def _database(host: Host) -> bytes:
    """The file, told that it has no log beside it: what is in a log is not read."""
    for place in PLACES:
        if host.exists(place):
            data = bytearray(host.read(place, _BYTES))
            data[_JOURNAL_AT : _JOURNAL_AT + 2] = _NO_LOG
            return bytes(data)
    raise Unavailable("rpm keeps no SQLite database here")


def _of_name(database: object, base: str) -> list[int]:
    rows = database.execute("SELECT hnum FROM Basenames WHERE key = ?", (base,))  # type: ignore[attr-defined]
    return [int(row[0]) for row in islice(rows, _PACKAGES_OF_ONE_NAME)]


def _package(database: object, number: int) -> tuple[str, frozenset[str]]:
    row = database.execute("SELECT blob FROM Packages WHERE hnum = ?", (number,)).fetchone()  # type: ignore[attr-defined]
    return parse_header(row[0]) if row and isinstance(row[0], bytes) else ("", frozenset())


def parse_header(blob: bytes) -> tuple[str, frozenset[str]]:
    """Package with its version, and its files. `ValueError`, `IndexError` or `struct.error` for what is no header."""
    entries, size = struct.unpack_from(">II", blob)
    if len(blob) > _HEADER_BYTES or 8 + 16 * entries + size > len(blob):
        raise ValueError("a header that is longer than its file")
    data = blob[8 + 16 * entries :]
    index = {tag: (kind, at, count) for tag, kind, at, count in struct.iter_unpack(">IIII", blob[8 : 8 + 16 * entries])}
    name, version, release = (_text(data, index, tag) for tag in (_NAME, _VERSION, _RELEASE))
    folders = list(_texts(data, index, _FOLDERS))
    bases = list(_texts(data, index, _BASES))
    _, at, count = index.get(_FOLDER_NUMBERS, (_INT32, 0, 0))
    numbers = struct.unpack_from(f">{min(count, len(bases))}I", data, at)
    files = frozenset(folders[place] + base for base, place in zip(bases, numbers, strict=False))
    return f"{name} {version}-{release}", files


def _text(data: bytes, index: dict[int, tuple[int, int, int]], tag: int) -> str:
    return next(_texts(data, index, tag), "")


def _texts(data: bytes, index: dict[int, tuple[int, int, int]], tag: int) -> Iterator[str]:
    _, at, count = index.get(tag, (_STRING, 0, 0))
    for _ in range(min(count, len(data))):
        end = data.index(b"\0", at)
        yield data[at:end].decode("utf-8", "replace")
        at = end + 1
