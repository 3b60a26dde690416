"""Records of the cgroup tracepoints as columns: which cgroup, what happened to it, and where the text of its path is.

The records of one tracepoint are laid out alike, so each field is read for all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.columns import RawRows
from necroscope.sense.perf.tracepoints import CGROUP_KINDS, Field, Format

MKDIR, RMDIR, RELEASE, ATTACH, OTHER = range(5)
_ROOT_BITS = np.uint64(48)

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
        begin, octets = rows.start * 8 + 4, rows.data.view(np.uint8)
        size = (rows.data[rows.start] & np.uint64(0xFFFFFFFF)).astype(np.int64) if count else begin
        for event in np.unique(rows.event).tolist():
            one = formats.get(event)
            name = one.name.removeprefix("cgroup_") if one is not None and one.system in ("", "cgroup") else ""
            if one is None or name not in CGROUP_KINDS:
                continue
            fields = {field.name: field for field in one.fields}
            prefix = "dst_" if name == "attach_task" else ""
            wanted = [fields.get(f"{prefix}{part}") for part in ("root", "id", "path")]
            if any(part is None for part in wanted):
                continue
            where, which, path = (part for part in wanted if part is not None)
            least = max(part.offset + part.size for part in (where, which, path))
            at = np.flatnonzero((rows.event == event) & (size >= least))
            kind[at] = CGROUP_KINDS.index(name)
            root[at], number[at] = _numbers(octets, begin[at], where), _numbers(octets, begin[at], which)
            if (task := fields.get("pid")) is not None:
                moved[at] = _numbers(octets, begin[at], task)
            path_at[at], path_size[at] = _text_place(_numbers(octets, begin[at], path), path, begin[at], size[at])
        key = (root.astype(np.uint64) << _ROOT_BITS) ^ number.astype(np.uint64)
        return cls(rows.time, kind, key, root, rows.pid, moved, path_at, path_size)


def _numbers(octets: NDArray[np.uint8], begin: I64s, field: Field) -> I64s:
    """An integer field of each record; the kernel's are of one, two, four or eight bytes."""
    if field.size not in (1, 2, 4, 8):
        return np.zeros(begin.size, np.int64)
    raw = octets[(begin + field.offset)[:, None] + np.arange(field.size)]
    kind = f"<{'i' if field.signed else 'u'}{field.size}"
    return np.ascontiguousarray(raw).view(kind)[:, 0].astype(np.int64)


def _text_place(located: I64s, field: Field, begin: I64s, size: I64s) -> tuple[I64s, I64s]:
    """Where texts are that a `__data_loc` or `__rel_loc` field points to; of size 0 where that is outside of the
    record."""
    start, length = located & 0xFFFF, located >> 16 & 0xFFFF
    if field.text == "__rel_loc":
        start = start + field.offset + field.size
    length = np.where((start + length <= size) & (field.text != "array"), length, 0)
    return begin + start, length
