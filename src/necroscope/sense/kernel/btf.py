"""BTF, the kernel's description of its own types: where a member lies, how large a struct is, what an enum says.

    header    u16 magic 0xeb9f | u8 version | u8 flags | u32 header length | u32 types at, length, strings at, length
    type      u32 name (offset into the strings) | u32 info (flag:1, kind:5 at bit 24, vlen:16) | u32 size or type
              followed by vlen members of 8 or 12 bytes, or by one fixed record, depending on the kind
    strings   NUL-terminated; the first one is empty

Little-endian only: the kernels we read (x86_64, aarch64) are. Only the position of each type is collected up front
(about 130,000 of them); names are found by searching the bytes, members are decoded when asked for. Bytes
that do not hold together raise `Unavailable`, whatever is wrong with them.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from necroscope.errors import Unavailable
from necroscope.sense.host import Host

_MAGIC = 0xEB9F
_HEADER = struct.Struct("<HBBIIIII")
BTF = "/sys/kernel/btf/vmlinux"
BTF_BYTES_MAX = 64 << 20
_HINT = f"the kernel's own is {BTF} (CONFIG_DEBUG_INFO_BTF=y)"
_FROM = "names need 5.10 or newer, built with CONFIG_DEBUG_INFO_BTF=y; counts, parents and restarts do not"

_PTR, _ARRAY, _STRUCT, _UNION, _ENUM, _ENUM64 = 2, 3, 4, 5, 6, 19
# typedef, volatile, const, restrict and type tags say nothing about layout
_TRANSPARENT = frozenset((8, 9, 10, 11, 18))
# 32-bit words that follow a type's three: (fixed, for each member), by kind
_WORDS = {
    1: (1, 0),  # int
    _PTR: (0, 0),
    _ARRAY: (3, 0),
    _STRUCT: (0, 3),
    _UNION: (0, 3),
    _ENUM: (0, 2),
    7: (0, 0),  # forward declaration
    8: (0, 0),
    9: (0, 0),
    10: (0, 0),
    11: (0, 0),
    12: (0, 0),  # function
    13: (0, 2),  # function prototype
    14: (1, 0),  # variable
    15: (0, 3),  # section
    16: (0, 0),  # float
    17: (1, 0),  # declaration tag
    18: (0, 0),
    _ENUM64: (0, 3),
}
_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Member:
    """Where a member lies in its struct. `counts` are the dimensions of an array (a flexible one is 0)."""

    offset: int
    size: int
    counts: tuple[int, ...] = ()
    element_size: int = 0


class Btf:
    """Answers about one BTF blob."""

    def __init__(self, data: bytes) -> None:
        self._types, self._strings = _sections(data)
        self._words = array("I", self._types)
        self._at = _positions(self._words)

    def sizeof(self, name: str) -> int:
        """Bytes of `struct name`."""
        return self._words[self._struct(name) + 2]

    def has_struct(self, name: str) -> bool:
        """True when there is a `struct name`."""
        return self._struct_or_none(name) is not None

    def has(self, name: str, path: str) -> bool:
        """True when `struct name` has the member."""
        return self._find(name, path) is not None

    def member(self, name: str, path: str) -> Member:
        """A member by its dotted path from `struct name`, through anonymous structs and unions."""
        found = self._find(name, path)
        if found is None:
            raise Unavailable(f"this kernel's struct {name} has no {path}", _HINT)
        return found

    def offset(self, name: str, *paths: str) -> int:
        """The offset of the first of `paths` that exists: kernels rename members."""
        for path in paths[:-1]:
            if (found := self._find(name, path)) is not None:
                return found.offset
        return self.member(name, paths[-1]).offset

    def enum_value(self, name: str) -> int | None:
        """The value of an enumerator, in whichever enum it stands; None when there is none."""
        for string in self._string_offsets(name):
            for word in self._occurrences(string):
                index = bisect_right(self._at, word) - 1
                at = self._at[index]
                kind, count = self._kind(at), self._words[at + 1] & 0xFFFF
                step = _WORDS[kind][1] if kind in (_ENUM, _ENUM64) else 0
                if step and word >= at + 3 and (word - at - 3) % step == 0 and word < at + 3 + step * count:
                    return _signed(self._words[word + 1])
        return None

    # -- members --------------------------------------------------------------------------------------

    def _find(self, name: str, path: str) -> Member | None:
        at, offset, kind_id = self._struct(name), 0, 0
        for part in path.split("."):
            hit = self._search(at, part)
            if hit is None:
                return None
            offset += hit[0]
            kind_id = hit[1]
            at = self._resolve(kind_id)
        size, counts, element = self._measure(kind_id)
        return Member(offset, size, counts, element)

    def _search(self, at: int, name: str) -> tuple[int, int] | None:
        """Offset and type of a member of the struct at `at`, looking into anonymous members too."""
        wanted = name.encode()
        pending, seen = [(at, 0)], {at}
        while pending:
            where, base = pending.pop()
            for string, kind_id, offset in self._members(where):
                if string and self._is(string, wanted):
                    return base + offset, kind_id
                if string == 0 and (inner := self._resolve(kind_id)) not in seen:
                    seen.add(inner)
                    pending.append((inner, base + offset))
        return None

    def _members(self, at: int) -> Iterator[tuple[int, int, int]]:
        if at < 0 or self._kind(at) not in (_STRUCT, _UNION):
            return
        words, info = self._words, self._words[at + 1]
        for word in range(at + 3, at + 3 + 3 * (info & 0xFFFF), 3):
            # with the kind flag set, the upper eight bits are the width of a bit field
            bits = words[word + 2] & 0xFFFFFF if info >> 31 else words[word + 2]
            yield words[word], words[word + 1], bits // 8

    def _measure(self, kind_id: int) -> tuple[int, tuple[int, ...], int]:
        """Size, dimensions and element size of a type."""
        counts: list[int] = []
        for _ in range(_DEPTH):
            at = self._resolve(kind_id)
            if at < 0:
                return 0, (), 0
            kind = self._kind(at)
            if kind == _ARRAY:
                counts.append(self._words[at + 5])
                kind_id = self._words[at + 3]
                continue
            size = 8 if kind == _PTR else self._words[at + 2]
            total = size
            for count in counts:
                total *= count
            return total, tuple(counts), size if counts else 0
        raise _broken("an array of arrays without end")

    def _resolve(self, kind_id: int) -> int:
        """The position of a type behind its typedefs and qualifiers; -1 for void."""
        for _ in range(_DEPTH):
            if kind_id == 0:
                return -1
            if kind_id > len(self._at):
                raise _broken("a type that does not exist")
            at = self._at[kind_id - 1]
            if self._kind(at) not in _TRANSPARENT:
                return at
            kind_id = self._words[at + 2]
        raise _broken("a chain of typedefs without end")

    # -- names ------------------------------------------------------------------------------------------

    def _struct(self, name: str) -> int:
        at = self._struct_or_none(name)
        if at is None:
            raise Unavailable(f"this kernel's BTF has no struct {name}", _HINT)
        return at

    def _struct_or_none(self, name: str) -> int | None:
        for string in self._string_offsets(name):
            for word in self._occurrences(string):
                index = bisect_left(self._at, word)
                if index < len(self._at) and self._at[index] == word and self._kind(word) == _STRUCT:
                    return word
        return None

    def _string_offsets(self, name: str) -> Iterator[int]:
        """Where `name` stands in the strings."""
        needle = b"\0" + name.encode() + b"\0"
        found = self._strings.find(needle)
        while found >= 0:
            yield found + 1
            found = self._strings.find(needle, found + 1)

    def _occurrences(self, value: int) -> Iterator[int]:
        """Words of the types that hold `value`."""
        needle = struct.pack("<I", value)
        found = self._types.find(needle)
        while found >= 0:
            if found % 4 == 0:
                yield found // 4
            found = self._types.find(needle, found + 1)

    def _is(self, string: int, name: bytes) -> bool:
        end = string + len(name)
        return self._strings[string:end] == name and self._strings[end : end + 1] == b"\0"

    def _kind(self, at: int) -> int:
        return self._words[at + 1] >> 24 & 0x1F


def read_btf(host: Host) -> Btf:
    """The running kernel's. Without it, as on 5.4, zombies have no names: the sentence says which kernels have."""
    if not host.exists(BTF):
        raise Unavailable(f"zombies are counted and not named: this kernel does not describe its types ({BTF})", _FROM)
    return Btf(host.read(BTF, BTF_BYTES_MAX))


def _sections(data: bytes) -> tuple[bytes, bytes]:
    if len(data) < _HEADER.size:
        raise _broken("too short")
    magic, version, _, header, types_at, types_length, strings_at, strings_length = _HEADER.unpack_from(data)
    if magic != _MAGIC or version != 1:
        raise _broken("not little-endian BTF of version 1")
    types = data[header + types_at : header + types_at + types_length]
    strings = data[header + strings_at : header + strings_at + strings_length]
    if len(types) != types_length or len(strings) != strings_length or types_length % 4 or header < _HEADER.size:
        raise _broken("cut short")
    if not strings.endswith(b"\0") or not strings.startswith(b"\0"):
        raise _broken("strings without an end")
    return types, strings


class _Lengths(dict[int, int]):
    """The words a type takes, by its info word: a few hundred distinct ones describe all types."""

    def __missing__(self, info: int) -> int:
        words = _WORDS.get(info >> 24 & 0x1F)
        if words is None:
            raise _broken(f"a kind of type ({info >> 24 & 0x1F}) that is not known")
        self[info] = total = 3 + words[0] + words[1] * (info & 0xFFFF)
        return total


def _positions(words: array[int]) -> list[int]:
    """The word at which each type begins; a type's number is its index here, plus one."""
    lengths, at, end = _Lengths(), 0, len(words)
    positions: list[int] = []
    append = positions.append
    try:
        while at < end:
            append(at)
            at += lengths[words[at + 1]]
    except IndexError as error:
        raise _broken("a type that is cut short") from error
    if at != end:
        raise _broken("a type that is cut short")
    return positions


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def _broken(what: str) -> Unavailable:
    return Unavailable(f"the kernel's BTF cannot be used: {what}", _HINT)
