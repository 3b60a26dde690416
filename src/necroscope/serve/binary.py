"""Columns of numbers in one body, for pictures: a JSON head and plain arrays that a browser maps without parsing.

bytes 0-3    "NCS1"
bytes 4-7    length of the head, unsigned, little endian
then         the head: UTF-8 JSON; `arrays` lists name, type (u8, u16, u32, i32, f32), shape and offset of each
then         the arrays, little endian, in order of rows; offsets count from the first byte of the body and are
             multiples of 8
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"NCS1"
MEDIA_TYPE = "application/vnd.necroscope.columns"
_TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4"}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}


def packed(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The body. `ValueError` for an array of another type."""
    parts = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    sizes = [_padded(part.nbytes) for part in parts.values()]
    offsets = [sum(sizes[:place]) for place in range(len(sizes))]
    first = 0
    while True:  # the length of the head depends on the offsets in it
        told = [
            {"name": name, "type": _name(part), "shape": list(part.shape), "offset": first + offset}
            for (name, part), offset in zip(parts.items(), offsets, strict=True)
        ]
        text = json.dumps({**head, "arrays": told}, ensure_ascii=False, separators=(",", ":")).encode()
        needed = _padded(8 + len(text))
        if needed == first:
            break
        first = max(needed, first + 8) if needed < first else needed
    text = text.ljust(first - 8)
    body = [MAGIC, len(text).to_bytes(4, "little"), text]
    body += [part.tobytes().ljust(size, b"\0") for part, size in zip(parts.values(), sizes, strict=True)]
    return b"".join(body)


def unpacked(body: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Head and arrays of a body. `ValueError` for what is none."""
    if body[:4] != MAGIC:
        raise ValueError("no columns")
    length = int.from_bytes(body[4:8], "little")
    head: dict[str, Any] = json.loads(body[8 : 8 + length])
    arrays = {}
    for one in head["arrays"]:
        count = int(np.prod(one["shape"], dtype=np.int64))
        found = np.frombuffer(body, _TYPES[one["type"]], count, one["offset"])
        arrays[one["name"]] = found.reshape(one["shape"])
    return head, arrays


def _name(array: NDArray[Any]) -> str:
    name = _NAMES.get(array.dtype)
    if name is None:
        raise ValueError(f"columns of {array.dtype} have no name")
    return name


def _padded(size: int) -> int:
    return -(-size // 8) * 8
