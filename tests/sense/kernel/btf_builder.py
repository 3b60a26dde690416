"""Writes BTF: the opposite of `necroscope.sense.kernel.btf`, as far as the tests need it."""

from __future__ import annotations

import struct

INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, CONST = 1, 2, 3, 4, 5, 6, 7, 8, 10


class BtfBuilder:
    """Types are numbered from 1 in the order in which they are added."""

    def __init__(self) -> None:
        self._strings = bytearray(b"\0")
        self._types: list[bytes] = []
        self._known: dict[str, int] = {"": 0}
        self.ints = {size: self.int(f"u{8 * size}", size) for size in (1, 2, 4, 8)}
        self.ptr = self._add(self._type("", PTR, 0, 0))

    def int(self, name: str, size: int) -> int:
        return self._add(self._type(name, INT, 0, size) + struct.pack("<I", size * 8))

    def array(self, element: int, count: int) -> int:
        return self._add(self._type("", ARRAY, 0, 0) + struct.pack("<III", element, self.ints[4], count))

    def typedef(self, name: str, target: int) -> int:
        return self._add(self._type(name, TYPEDEF, 0, target))

    def const(self, target: int) -> int:
        return self._add(self._type("", CONST, 0, target))

    def forward(self, name: str) -> int:
        return self._add(self._type(name, FWD, 0, 0))

    def enum(self, name: str, values: dict[str, int]) -> int:
        members = b"".join(struct.pack("<Ii", self.string(key), value) for key, value in values.items())
        return self._add(self._type(name, ENUM, len(values), 4) + members)

    def struct(self, name: str, size: int, members: list[tuple[str, int, int]], kind: int = STRUCT) -> int:
        """Members are (name, type, offset in bytes)."""
        body = b"".join(struct.pack("<III", self.string(key), target, 8 * offset) for key, target, offset in members)
        return self._add(self._type(name, kind, len(members), size) + body)

    def string(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self._strings)
            self._strings += text.encode() + b"\0"
        return self._known[text]

    def _type(self, name: str, kind: int, count: int, size: int) -> bytes:
        return struct.pack("<III", self.string(name), kind << 24 | count, size)

    def _add(self, data: bytes) -> int:
        self._types.append(data)
        return len(self._types)

    def __bytes__(self) -> bytes:
        types = b"".join(self._types)
        header = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(self._strings))
        return header + types + bytes(self._strings)
