"""A small ELF file: one loaded segment, a symbol table, a linkage table, a build id."""

from __future__ import annotations

import struct

BUILD_ID = bytes(range(20))
X86, ARM64 = 62, 183
JUMP_SLOT, TLS = 1026, 1031  # relocations of arm64
Symbol = tuple[str, int, int, int]  # name, address, size, info (binding << 4 | type)


def elf(
    symbols: list[Symbol],
    dynamic: list[Symbol] = [],  # noqa: B006
    plt: list[int] = [],  # noqa: B006
    base: int = 0x10000,
    machine: int = X86,
    relocation: int = 7,
    plt_section: tuple[int, int] = (0x100, 16),
) -> bytes:
    """Code is at file offset 0x1000 and address base + 0x1000; `plt` are numbers of dynamic symbols, or info words of
    relocations; `plt_section` is the linkage table's size, and the size of a stub as the linker told it."""
    strings, dynstr = bytearray(b"\0"), bytearray(b"\0")
    tables = [_table(symbols, strings), _table(dynamic, dynstr)]
    rela = b"".join(struct.pack("<QQq", 0, number if number >> 32 else number << 32 | relocation, 0) for number in plt)
    note = struct.pack("<III", 4, len(BUILD_ID), 3) + b"GNU\0" + BUILD_ID
    names = b"\0.text\0.symtab\0.strtab\0.dynsym\0.dynstr\0.rela.plt\0.plt\0.shstrtab\0"
    body = bytearray(b"\0" * 0x2000)
    places = []
    for part in (*tables[:1], bytes(strings), *tables[1:], bytes(dynstr), rela, names, note):
        places.append((len(body), len(part)))
        body += part + bytes(-len(part) % 8)
    (sym, st, dyn, ds, rel, sh, nt) = places
    sections = [
        (0, 0, 0, 0, 0, 0, 0),
        (_at(names, ".text"), 1, base + 0x1000, 0x1000, 0x800, 0, 0),
        (_at(names, ".symtab"), 2, 0, *sym, 3, 24),
        (_at(names, ".strtab"), 3, 0, *st, 0, 0),
        (_at(names, ".dynsym"), 11, 0, *dyn, 5, 24),
        (_at(names, ".dynstr"), 3, 0, *ds, 0, 0),
        (_at(names, ".rela.plt"), 4, 0, *rel, 4, 24),
        (_at(names, ".plt"), 1, base + 0x1800, 0x1800, plt_section[0], 0, plt_section[1]),
        (_at(names, ".shstrtab"), 3, 0, *sh, 0, 0),
    ]
    segments = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, base + 0x1000, 0, 0x1000, 0x1000, 0x1000)
    segments += struct.pack("<IIQQQQQQ", 4, 4, nt[0], 0, 0, nt[1], nt[1], 4)
    table_at = len(body)
    for name, kind, address, offset, size, link, entry in sections:
        body += struct.pack("<IIQQQQIIQQ", name, kind, 0, address, offset, size, link, 0, 8, entry)
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQ", 3, machine, 1, 0, 64, table_at)
    head += struct.pack("<IHHHHHH", 0, 64, 56, 2, 64, len(sections), 8)
    body[: len(head)] = head
    body[64 : 64 + len(segments)] = segments
    return bytes(body)


def _table(symbols: list[Symbol], strings: bytearray) -> bytes:
    data = bytes(24)
    for name, value, size, info in symbols:
        data += struct.pack("<IBBHQQ", len(strings), info, 0, 1, value, size)
        strings += name.encode() + b"\0"
    return data


def _at(names: bytes, name: str) -> int:
    return names.index(b"\0" + name.encode() + b"\0") + 1
