"""Where the members we read lie: windows of bytes to fetch, and how to take them apart.

Kernels order and rename members; a `Window` covers the wanted ones of a struct, whatever their order, and
hands their values out in the order in which they were asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from necroscope.errors import Unavailable
from necroscope.sense.kernel.bpf.programs import LENGTH_MAX
from necroscope.sense.kernel.btf import Btf

_CSS = (
    "cgroup",
    "refcnt.percpu_count_ptr",
    "refcnt.data",
    "sibling.next",
    "sibling.prev",
    "children.next",
    "flags",
    "serial_nr",
    "parent",
)
_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


@dataclass(frozen=True, slots=True)
class Window:
    """Bytes `start` to `start + length` of a struct."""

    start: int
    length: int
    _format: struct.Struct
    _order: Any

    @classmethod
    def of(cls, btf: Btf, name: str, *members: str) -> Window:
        """Of `struct name`; a member may give its older names after `|`. All are read as unsigned."""
        fields: list[tuple[int, int]] = []
        for member in members:
            names = member.split("|")
            found = next((one for one in names if btf.has(name, one)), names[-1])
            where = btf.member(name, found)
            fields.append((where.offset, where.size))
        return cls.at(name, fields)

    @classmethod
    def at(cls, name: str, fields: list[tuple[int, int]]) -> Window:
        """Of (offset, size) pairs; `name` is for the complaint when they make no sense."""
        start = min(offset for offset, _ in fields)
        code, position = "<", start
        ranked = sorted(range(len(fields)), key=lambda index: fields[index])
        for index in ranked:
            offset, size = fields[index]
            if size not in _CODES or offset < position:
                raise Unavailable(f"this kernel's struct {name} is not laid out as expected")
            code += f"{offset - position}x{_CODES[size]}"
            position = offset + size
        if position - start > LENGTH_MAX:
            raise Unavailable(f"this kernel's struct {name} is larger than expected")
        places = [ranked.index(index) for index in range(len(fields))]
        return cls(start, position - start, struct.Struct(code), itemgetter(*places) if len(places) > 1 else None)

    def rows(self, data: bytes) -> Iterator[tuple[int, ...]]:
        """The values of each window in `data`."""
        rows = self._format.iter_unpack(data)
        return rows if self._order is None else map(self._order, rows)


@dataclass(frozen=True, slots=True)
class MemcgLayout:
    """How memory cgroups hang together."""

    css: Window  # cgroup, refcnt pointer, refcnt data, next, previous, first child, flags, serial, parent
    sibling: int
    children: int
    online: int
    dying: int
    kernfs_node: Window
    kernfs: Window  # name, id
    population: Window | None  # live descendants, populated sets, populated children
    usage: Window
    birth: Window | None
    reference: Window | None
    task_cgroups: int
    set_memory: int

    @classmethod
    def of(cls, btf: Btf) -> MemcgLayout:
        """From the kernel's own description; `Unavailable` names what this kernel lacks."""
        memory = btf.enum_value("memory_cgrp_id")
        if memory is None or not 0 <= memory < 64:
            raise Unavailable("this kernel has no memory cgroups")
        if btf.offset("mem_cgroup", "css") != 0:
            raise Unavailable("this kernel's struct mem_cgroup is not laid out as expected")
        css = "cgroup_subsys_state"
        online = btf.enum_value("CSS_ONLINE")
        return cls(
            css=Window.of(btf, css, *_CSS),
            sibling=btf.offset(css, "sibling"),
            children=btf.offset(css, "children"),
            online=1 << 1 if online is None else online,
            dying=btf.enum_value("CSS_DYING") or 0,
            kernfs_node=Window.of(btf, "cgroup", "kn"),
            kernfs=Window.of(btf, "kernfs_node", "name", "id"),
            population=_optional(
                btf,
                "cgroup",
                "nr_descendants",
                "nr_populated_csets|self.nr_populated_csets",
                "nr_populated_domain_children",
                "nr_populated_threaded_children",
            ),
            usage=Window.of(btf, "mem_cgroup", "memory.usage"),
            birth=_optional(btf, "mem_cgroup", "socket_pressure"),
            reference=_optional(btf, "percpu_ref_data", "count"),
            task_cgroups=btf.offset("task_struct", "cgroups"),
            set_memory=btf.offset("css_set", "subsys") + 8 * memory,
        )


def _optional(btf: Btf, name: str, *members: str) -> Window | None:
    """A window that the walk can do without."""
    try:
        return Window.of(btf, name, *members)
    except Unavailable:
        return None
