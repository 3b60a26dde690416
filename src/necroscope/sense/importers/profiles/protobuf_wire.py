"""Protobuf's wire format, read without its package, which is an extra: `necroscope import` is there for everybody.

    for number, value in fields(data, 0, len(data)): ...

A value is an integer, or the place (start, end) of bytes. Nothing is copied, nothing recurses, and every step moves on:
reading takes time in proportion to the bytes, whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_U64 = (1 << 64) - 1

Value = int | tuple[int, int]


class Malformed(Exception):
    """The bytes are no message, or end within one. `at` is where the last whole field ended."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def fields(data: bytes, start: int, end: int) -> Iterator[tuple[int, Value]]:
    """Number and value of each field of a message; `Malformed` where one does not fit."""
    at = start
    while at < end:
        began = at
        key, at = varint(data, at, end, began)
        kind = key & 7
        if kind == _VARINT:
            value, at = varint(data, at, end, began)
            yield key >> 3, value
        elif kind == _BYTES:
            size, at = varint(data, at, end, began)
            if size > end - at:
                raise Malformed(began)
            yield key >> 3, (at, at + size)
            at += size
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
            if size > end - at:
                raise Malformed(began)
            yield key >> 3, int.from_bytes(data[at : at + size], "little")
            at += size
        else:
            raise Malformed(began)


def varint(data: bytes, at: int, end: int, began: int) -> tuple[int, int]:
    """A number of 64 bits at most, and where it ends."""
    value = shift = 0
    while at < end and shift < 70:
        octet = data[at]
        at += 1
        value |= (octet & 127) << shift
        if octet < 128:
            return value & _U64, at
        shift += 7
    raise Malformed(began)


def numbers(data: bytes, value: Value) -> list[int]:
    """The numbers of a repeated field: a single one, or several packed."""
    if isinstance(value, int):
        return [value]
    at, end = value
    found = []
    while at < end:
        one, at = varint(data, at, end, at)
        found.append(one)
    return found


def signed(number: int) -> int:
    """A number as int64."""
    return number - (1 << 64) if number >> 63 else number
