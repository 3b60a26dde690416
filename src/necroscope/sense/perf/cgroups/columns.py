"""Records of the cgroup tracepoints as columns: which cgroup, what happened to it, and where the text of its path is.

The records of one tracepoint are laid out alike, so each field is read for all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.native import Place, Places, loops
from necroscope.sense.perf.format.columns import RawRows
from necroscope.sense.perf.format.tracepoints import CGROUP_KINDS, Field, Format

MKDIR, RMDIR, RELEASE, ATTACH, OTHER = range(5)
_ROOT_BITS = np.uint64(48)
_LONGEST = 1 << 16

I64s = NDArray[np.int64]
U64s = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CgroupColumns:
    """One row for each record: `key` is hierarchy and id in one number, `path_at` where the path begins, in bytes of
    all data, and `path_size` its length with the final zero; 0 where there is none. `moved`: who came to a cgroup."""

    time: U64s
    kind: NDArray[np.int8]
    key: U64s
    root: I64s
    pid: NDArray[np.uint32]
    moved: I64s
    path_at: I64s
    path_size: I64s

    @classmethod
    def of(cls, rows: RawRows, formats: Mapping[int, Format]) -> CgroupColumns:
        """Records of other tracepoints, or cut ones, are of kind `OTHER`."""
        count = len(rows)
        kind = np.full(count, OTHER, np.int8)
        root, number, moved, path_at, path_size = (np.zeros(count, np.int64) for _ in range(5))
        if not count:
            return cls(rows.time, kind, number.astype(np.uint64), root, rows.pid, moved, path_at, path_size)
        start = rows.start
        native = loops()
        if native is not None:
            known = [_Places.of(formats.get(event)) for event in range(int(rows.event.max()) + 1)]
            columns = {"kind": kind, "root": root, "number": number, "moved": moved}
            columns |= {"path_at": path_at, "path_size": path_size}
            native.cgroups(rows.data, start, rows.event, [_native_places(one) for one in known], columns)
            key = (root.astype(np.uint64) << _ROOT_BITS) ^ number.astype(np.uint64)
            return cls(rows.time, kind, key, root, rows.pid, moved, path_at, path_size)
        size = (rows.data[start] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        for event in np.flatnonzero(np.bincount(rows.event)).tolist():
            places = _Places.of(formats.get(event))
            if places is None:
                continue
            at = np.flatnonzero((rows.event == event) & (size >= places.least))
            heads = _Heads(rows.data, start[at], places.least)
            kind[at] = places.kind
            root[at], number[at] = heads.numbers(places.root), heads.numbers(places.id)
            if places.moved is not None:
                moved[at] = heads.numbers(places.moved)
            path_at[at], path_size[at] = _text_place(
                heads.numbers(places.path), places.path, start[at] * 8 + 4, size[at]
            )
        key = (root.astype(np.uint64) << _ROOT_BITS) ^ number.astype(np.uint64)
        return cls(rows.time, kind, key, root, rows.pid, moved, path_at, path_size)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the fields of one tracepoint are, and how many bytes hold them all."""

    kind: int
    root: Field
    id: Field
    path: Field
    moved: Field | None
    least: int

    @classmethod
    def of(cls, one: Format | None) -> _Places | None:
        """None for what is no tracepoint of a cgroup's life."""
        name = one.name.removeprefix("cgroup_") if one is not None and one.system in ("", "cgroup") else ""
        if one is None or name not in CGROUP_KINDS:
            return None
        fields = {field.name: field for field in one.fields if field.text or field.size in (1, 2, 4, 8)}
        prefix = "dst_" if name == "attach_task" else ""
        root, number, path = (fields.get(f"{prefix}{part}") for part in ("root", "id", "path"))
        if root is None or number is None or path is None:
            return None
        moved = fields.get("pid")
        least = max(part.offset + part.size for part in (root, number, path, moved) if part is not None)
        # No record is longer, whatever a description says.
        return cls(CGROUP_KINDS.index(name), root, number, path, moved, least) if least <= _LONGEST else None


class _Heads:
    """The first bytes of records of one layout, one row each: the length, then the fields."""

    def __init__(self, data: U64s, start: I64s, least: int) -> None:
        words = (4 + least + 7) >> 3
        self._octets = data[start[:, None] + np.arange(words)].view(np.uint8)

    def numbers(self, field: Field) -> I64s:
        """An integer of each record; of a text, where it is."""
        first, size = 4 + field.offset, min(field.size, 4) if field.text else field.size
        kind = f"<{'i' if field.signed and not field.text else 'u'}{size}"
        return np.ascontiguousarray(self._octets[:, first : first + size]).view(kind)[:, 0].astype(np.int64)


def _text_place(located: I64s, field: Field, begin: I64s, size: I64s) -> tuple[I64s, I64s]:
    """Where texts are that a `__data_loc` or `__rel_loc` field points to; of size 0 where that is outside of the
    record."""
    start, length = located & 0xFFFF, located >> 16 & 0xFFFF
    if field.text == "__rel_loc":
        start = start + field.offset + field.size
    length = np.where((start + length <= size) & (field.text != "array"), length, 0)
    return begin + start, length


_NOWHERE = Place(-1, 0, signed=False)


def _native_places(one: _Places | None) -> Places:
    """The same for C."""
    if one is None:
        return Places(OTHER, -1, _NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE, 0, is_text=False)
    root, number, path = (_place(field) for field in (one.root, one.id, one.path))
    moved = _place(one.moved) if one.moved is not None else _NOWHERE
    behind = one.path.offset + one.path.size if one.path.text == "__rel_loc" else 0
    return Places(one.kind, one.least, root, number, path, moved, behind, is_text=one.path.text != "array")


def _place(field: Field) -> Place:
    """An integer; of a text, where it is."""
    if field.text:
        return Place(field.offset, min(field.size, 4), signed=False)
    return Place(field.offset, field.size, field.signed)
