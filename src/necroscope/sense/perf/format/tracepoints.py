"""Fields of tracepoints: their formats, as the kernel describes them, and the bytes of a sample taken apart with them.

    name: cgroup_mkdir
    ID: 1234
    format:
        field:int root;	offset:8;	size:4;	signed:1;
        field:__data_loc char[] path;	offset:24;	size:4;	signed:0;

A `__data_loc` field holds offset and length of the text; `__rel_loc` counts from behind itself.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from necroscope.sense.perf.format.columns import RawFields
from necroscope.sense.perf.rows import CgroupEvent

CGROUP_KINDS = ("mkdir", "rmdir", "release", "attach_task")
_FIELD = re.compile(
    r"^\s*field:(?P<type>[^;]*?)\s*\b(?P<name>\w+)(?:\[[^\]]*\])?;"
    r"\s*offset:(?P<at>\d+);\s*size:(?P<size>\d+);(?:\s*signed:(?P<signed>\d);)?",
    re.MULTILINE,
)

_LONGEST = 1 << 16


@dataclass(frozen=True, slots=True)
class Field:
    """One field: where it is, and what it is."""

    name: str
    offset: int
    size: int
    signed: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class Format:
    """A tracepoint's description."""

    system: str
    name: str
    id: int
    fields: tuple[Field, ...]

    def decode(self, data: bytes) -> dict[str, int | str]:
        """The fields of one sample; a field that does not fit is left out."""
        values: dict[str, int | str] = {}
        for field in self.fields:
            raw = data[field.offset : field.offset + field.size]
            if len(raw) < field.size:
                continue
            number = int.from_bytes(raw, "little", signed=field.signed)
            values[field.name] = _text(data, field, number) if field.text else number
        return values


def _text(data: bytes, field: Field, number: int) -> str:
    if field.text == "array":
        raw = data[field.offset : field.offset + field.size]
    else:
        start = number & 0xFFFF
        if field.text == "__rel_loc":
            start += field.offset + field.size
        raw = data[start : start + (number >> 16 & 0xFFFF)]
    return raw.partition(b"\0")[0].decode("utf-8", "replace")


def parse_format(text: str, system: str = "") -> Format | None:
    """One description; None when it is none."""
    name = re.search(r"^name:\s*(\S+)", text, re.MULTILINE)
    number = re.search(r"^ID:\s*(\d+)", text, re.MULTILINE)
    if name is None or number is None:
        return None
    return Format(system, name[1], int(number[1]), tuple(_field(found) for found in _FIELD.finditer(text)))


def _field(found: re.Match[str]) -> Field:
    kind, size = found["type"], int(found["size"])
    text = next((word for word in ("__data_loc", "__rel_loc") if word in kind), "")
    if not text and re.search(r"\bchar\b", kind) and size > 1:
        text = "array"
    return Field(found["name"], int(found["at"]), size, found["signed"] == "1", text)


def parse_tracing_data(data: bytes) -> dict[int, Format]:
    """All formats in the tracing data that perf writes: header page, ftrace events, then events by system."""
    if not data.startswith(b"\x17\x08\x44tracing"):
        return {}
    try:
        return _Blob(data).formats()
    except (struct.error, IndexError, ValueError):
        return {}


class _Blob:
    """magic, version text, endian, long size, page size, then counted files."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = data.index(b"\0", 10) + 1 + 1 + 1 + 4

    def formats(self) -> dict[int, Format]:
        for _ in ("header_page", "header_event"):
            self._at = self._data.index(b"\0", self._at) + 1
            self._take(self._number("<Q"))
        found: dict[int, Format] = {}
        self._events("ftrace", self._number("<I"), found)
        for _ in range(min(self._number("<I"), 4096)):
            end = self._data.index(b"\0", self._at)
            system = self._data[self._at : end].decode("utf-8", "replace")
            self._at = end + 1
            self._events(system, self._number("<I"), found)
        return found

    def _events(self, system: str, count: int, found: dict[int, Format]) -> None:
        for _ in range(min(count, _LONGEST)):
            one = parse_format(self._take(self._number("<Q")).decode("utf-8", "replace"), system)
            if one is not None:
                found[one.id] = one

    def _number(self, kind: str) -> int:
        value: int = struct.unpack_from(kind, self._data, self._at)[0]
        self._at += struct.calcsize(kind)
        return value

    def _take(self, size: int) -> bytes:
        if size > len(self._data):
            raise ValueError
        self._at += size
        return self._data[self._at - size : self._at]


def cgroup_event(one: Format, raw: RawFields) -> CgroupEvent | None:
    """The life of a cgroup from a tracepoint of that system; None for others of it."""
    kind = one.name.removeprefix("cgroup_")
    if one.system not in ("", "cgroup") or kind not in CGROUP_KINDS:
        return None
    values = one.decode(raw.data)
    prefix = "dst_" if kind == "attach_task" else ""
    path, number, level = (values.get(f"{prefix}{name}") for name in ("path", "id", "level"))
    pid = values.get("pid", raw.pid)
    if not isinstance(path, str) or not isinstance(number, int):
        return None
    return CgroupEvent(
        at_ns=raw.time,
        kind=kind,
        root=int(values.get("dst_root", values.get("root", 0))),
        id=number,
        level=level if isinstance(level, int) else 0,
        path=path,
        pid=pid if isinstance(pid, int) else raw.pid,
        comm=str(values.get("comm", "")),
    )
