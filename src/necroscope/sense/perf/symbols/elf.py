"""Symbols of an ELF file, read as columns: file offsets to places of names. Names are read one by one when needed.

Mappings tell where in a *file* an address lies, so symbols are kept by file offset: a value is moved by the segment it
belongs to. Broken files raise `Unavailable`. Whatever a header claims, headers, names, notes and records are bounded,
one by one and in sum: `limit` counts the bytes of all symbol tables, and bytes that several of them share count once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from necroscope.errors import Unavailable
from necroscope.sense.perf.symbols import arm64
from necroscope.sense.perf.symbols.symtab import SymbolTable

Reader = Callable[[int, int], bytes]
"""Bytes of the file: (offset, size) -> at most that many."""

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_RELA = np.dtype([("offset", "<u8"), ("info", "<u8"), ("addend", "<i8")])
_SYMTAB, _DYNSYM = 2, 11
_PT_LOAD, _PT_NOTE = 1, 4
_NOTYPE, _OBJECT, _FUNC, _IFUNC = 0, 1, 2, 10
_ABS = 0xFFF1
_SECTIONS, _SEGMENTS = 4096, 256
_LOADED, _NOTES, _TABLES = 32, 16, 8
_SECTION_NAME, _SECTION_NAMES_BYTES = 128, 1 << 20
_STEP = 256
_NOTES_LIMIT = 1 << 16
_PIECE = 1 << 20
_STUBS = 65_536
_TABLE_BITS = 48
_NAME, _NAME_LIMIT = 256, 4096


class TooLarge(Unavailable):
    """The file claims more than may be read of it."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section header."""

    name: str
    type: int
    address: int
    offset: int
    size: int
    link: int
    entry: int


@dataclass(frozen=True, slots=True)
class Segment:
    """One program header."""

    type: int
    offset: int
    address: int
    size: int


class Elf:
    """An ELF file of 64 bits, little endian."""

    def __init__(self, read: Reader, limit: int = 64 << 20, segments: list[Segment] | None = None) -> None:
        self._read, self._limit = read, limit
        self._bytes = 0
        self._counted: set[tuple[int, int]] = set()
        head = read(0, 64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            raise Unavailable("not an ELF file of 64 bits, little endian")
        self._arm64 = int.from_bytes(head[18:20], "little") == arm64.AARCH64
        self._segments_at, self._sections_at = struct.unpack_from("<QQ", head, 32)
        self._segment_size, self._segment_count, self._section_size, self._section_count, self._names = (
            struct.unpack_from("<HHHHH", head, 54)
        )
        # A file with nothing but debug data has lost the places of its segments: it borrows those of the real one.
        self.segments = list(self._read_segments()) if segments is None else segments
        self.sections = self._read_sections()

    @property
    def has_symtab(self) -> bool:
        """Whether the file kept its full symbol table."""
        return any(section.type == _SYMTAB for section in self.sections)

    def build_id(self) -> str:
        """The linker's name for this very file, hexadecimal; "" when it has none."""
        for segment in [one for one in self.segments if one.type == _PT_NOTE][:_NOTES]:
            found = parse_build_id(self._read(segment.offset, min(segment.size, _NOTES_LIMIT)))
            if found:
                return found
        return ""

    def symbols(self, debug: Elf | None = None, strings: Strings | None = None) -> SymbolTable:
        """All functions, objects and labels by file offset, entries of the procedure linkage table among them.

        `debug` is a file that holds the symbol table this one was stripped of. Names stay in the files, which must be
        readable for as long as the table is used, unless `strings` are kept.
        """
        strings = Strings() if strings is None else strings
        columns = [part for one in (self, debug) if one for part in one._tables(strings)]
        columns += self._linkage(strings)
        if not columns:
            raise Unavailable("the file has no symbols")
        offset, size, name_at, rank = (np.concatenate(column) for column in zip(*columns, strict=True))
        return SymbolTable(offset, size, name_at, rank, strings)

    # -- headers -------------------------------------------------------------------------------------------

    def _read_segments(self) -> Iterator[Segment]:
        count, step = min(self._segment_count, _SEGMENTS), self._segment_size
        data = self._read(self._segments_at, count * step) if 56 <= step <= _STEP else b""
        for place in range(0, len(data) - 55, max(step, 56)):
            kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, place)
            yield Segment(kind, offset, address, size)

    def _read_sections(self) -> list[Section]:
        count, step = min(self._section_count, _SECTIONS), self._section_size
        data = self._read(self._sections_at, count * step) if 64 <= step <= _STEP else b""
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, place) for place in range(0, len(data) - 63, max(step, 64))]
        names = b""
        if self._names < len(raw):
            names = self._read(raw[self._names][4], min(raw[self._names][5], _SECTION_NAMES_BYTES))
        return [Section(_text_at(names, one[0]), one[1], one[3], one[4], one[5], one[6], one[9]) for one in raw]

    def _pieces(self, section: Section, kind: np.dtype[np.void]) -> Iterator[NDArray[np.void]]:
        """The records of a section, some at a time."""
        self._spend(section)
        step = _PIECE // kind.itemsize * kind.itemsize
        for at in range(0, section.size, step):
            data = self._read(section.offset + at, min(step, section.size - at))
            yield np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind)
            if len(data) < step:
                return

    def _spend(self, section: Section) -> None:
        """Count the bytes of a section, once however often it is read."""
        if (section.offset, section.size) not in self._counted:
            self._counted.add((section.offset, section.size))
            self._bytes += section.size
        if self._bytes > self._limit:
            raise TooLarge(f"the file's symbol tables are larger than {self._limit} bytes")

    # -- symbols -------------------------------------------------------------------------------------------

    def _tables(self, strings: Strings) -> Iterator[_Columns]:
        for section in _apart([one for one in self.sections if one.type in (_SYMTAB, _DYNSYM)]):
            if section.link < len(self.sections):
                text = self.sections[section.link]
                place = strings.add(self._read, text)
                for records in self._pieces(section, _SYMBOL):
                    wanted = records[self._wanted(records) & (records["name"] < text.size)]
                    yield self._chosen(self._without_marks(wanted, text) if self._arm64 else wanted, place)

    def _without_marks(self, records: NDArray[np.void], text: Section) -> NDArray[np.void]:
        """Without mapping symbols, which are local labels."""
        label = records["info"] == _NOTYPE

        def read(at: int, size: int) -> bytes:
            return self._read(text.offset + at, min(size, text.size - at))

        marks = np.zeros(records.size, np.bool_)
        marks[label] = arm64.mapping_names(read, records["name"][label].astype(np.int64))
        return records[~marks]

    def _chosen(self, records: NDArray[np.void], strings: int) -> _Columns:
        offset, inside = self._file_offsets(records["value"])
        records, offset = records[inside], offset[inside]
        binding = records["info"] >> 4
        rank = np.where(binding == 2, np.int8(2), np.where(binding == 1, np.int8(0), np.int8(1)))
        return offset, records["size"].astype(np.uint64), records["name"].astype(np.int64) + strings, rank

    def _wanted(self, records: NDArray[np.void]) -> NDArray[np.bool_]:
        kind, section = records["info"] & 15, records["section"]
        placed = (records["name"] != 0) & (section != 0) & (section != _ABS)
        coded = np.array(["text" in one.name or "data" in one.name for one in self.sections] or [False])
        visible = ((records["other"] & 3) == 0) | ((records["other"] & 3) == 3)
        label = (kind == _NOTYPE) & visible & coded[np.minimum(section, coded.size - 1)]
        wanted: NDArray[np.bool_] = placed & (np.isin(kind, (_OBJECT, _FUNC, _IFUNC)) | label)
        return wanted

    def _file_offsets(self, values: U64s) -> tuple[U64s, NDArray[np.bool_]]:
        """Where in the file each address lies, and whether it lies there at all."""
        offset = np.zeros(values.size, np.uint64)
        inside = np.zeros(values.size, np.bool_)
        for segment in [one for one in self.segments if one.type == _PT_LOAD][:_LOADED]:
            low, high = np.uint64(segment.address), np.uint64(min(segment.address + segment.size, (1 << 64) - 1))
            here = (values >= low) & (values < high)
            offset[here] = values[here] - low + np.uint64(segment.offset)
            inside |= here
        return offset, inside

    def _linkage(self, strings: Strings) -> list[_Columns]:
        """`name@plt` for the stubs through which functions of other files are called."""
        by_name = {section.name: section for section in self.sections}
        relocations, dynamic = by_name.get(".rela.plt"), next((s for s in self.sections if s.type == _DYNSYM), None)
        if relocations is None or dynamic is None or dynamic.link >= len(self.sections):
            return []
        relocations = replace(relocations, size=min(relocations.size, _STUBS * _RELA.itemsize))
        info = np.concatenate([one["info"] for one in self._pieces(relocations, _RELA)] or [np.zeros(0, np.uint64)])
        info = info[arm64.has_stub(info)] if self._arm64 else info
        target = (info[:_STUBS] >> np.uint64(32)).astype(np.int64)
        name_of = np.concatenate([one["name"] for one in self._pieces(dynamic, _SYMBOL)] or [np.zeros(0, np.uint32)])
        known = np.append(name_of.astype(np.int64), 0)[np.minimum(target, name_of.size)]
        place = strings.add(self._read, self.sections[dynamic.link], b"@plt") + known
        tables = [by_name[name] for name in (".plt", ".plt.sec") if name in by_name]
        stubs = [_stubs(one, place.size, self._arm64) for one in tables]
        return [(offset, size, place, np.full(place.size, 3, np.int8)) for offset, size in stubs if place.size]


_Columns = tuple[U64s, U64s, I64s, NDArray[np.int8]]
"""File offset, size, place of the name and rank of some symbols."""


class Strings:
    """Zero-ended names in string tables of files, by place; read when asked for, unless `keep` took them in."""

    def __init__(self) -> None:
        self._tables: list[tuple[Reader, Section, bytes]] = []

    def add(self, read: Reader, table: Section, suffix: bytes = b"") -> int:
        """One more table; the place of its first byte. Its names are read with the suffix."""
        self._tables.append((read, table, suffix))
        return (len(self._tables) - 1) << _TABLE_BITS

    def keep(self, most: int) -> int:
        """Take all tables into memory when they are no more than `most` bytes; how many they are, 0 when not taken.

        Without, the files must be there when a name is asked for.
        """
        size = sum({(id(read), table.offset): table.size for read, table, _ in self._tables}.values())
        if size > most:
            return 0
        texts = {(id(read), table.offset): read(table.offset, table.size) for read, table, _ in self._tables}
        self._tables = [
            (_slice_of(texts[id(read), table.offset], table.offset), table, suffix)
            for read, table, suffix in self._tables
        ]
        return size

    def __call__(self, place: int) -> bytes:
        read, table, suffix = self._tables[place >> _TABLE_BITS]
        at = place & ((1 << _TABLE_BITS) - 1)
        name = b""
        for size in (_NAME, _NAME_LIMIT):
            name, end, _ = read(table.offset + at, max(0, min(size, table.size - at))).partition(b"\0")
            if end:
                break
        return (name or b"*") + suffix if suffix else name


def _slice_of(data: bytes, offset: int) -> Reader:
    """A reader of bytes that were at an offset of a file."""
    return lambda at, size: data[max(0, at - offset) : max(0, at - offset + size)]


def _apart(sections: list[Section]) -> list[Section]:
    """The first sections, without those that share bytes with one before."""
    chosen: list[Section] = []
    for one in sections:
        if len(chosen) < _TABLES and all(
            one.offset >= other.offset + other.size or other.offset >= one.offset + one.size for other in chosen
        ):
            chosen.append(one)
    return chosen


def _stubs(section: Section, count: int, on_arm64: bool) -> tuple[U64s, U64s]:
    """Offsets and sizes of the stubs of a linkage table; the first entry of `.plt` is the resolver's."""
    if on_arm64:
        step, header = arm64.stub_bytes(section.size, section.entry, count), arm64.PLT_HEADER_BYTES
    else:
        step = section.entry if section.entry in (8, 16, 24, 32) else 16
        header = step if section.name == ".plt" else 0
    offset = np.uint64(section.offset + header) + np.arange(count, dtype=np.uint64) * np.uint64(step)
    return offset, np.full(count, step, np.uint64)


def _text_at(data: bytes, place: int) -> str:
    return data[place : place + _SECTION_NAME].partition(b"\0")[0].decode("utf-8", "replace")


def parse_build_id(notes: bytes) -> str:
    """The build id among ELF notes, hexadecimal; "" when there is none."""
    place = 0
    while place + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, place)
        name = notes[place + 12 : place + 12 + min(name_size, 8)]
        begin = place + 12 + (name_size + 3 & ~3)
        if kind == 3 and name == b"GNU\0" and size <= 64:
            return notes[begin : begin + size].hex()
        place = begin + (size + 3 & ~3)
    return ""
