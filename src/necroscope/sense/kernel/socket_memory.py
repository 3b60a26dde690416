"""Memory of sockets that is charged to removed memory cgroups: the kernel memory that is known to keep them.

Objects of the kernel (slab, per-CPU memory) are handed on to the parent when a cgroup is removed, since 5.9; their
charge stays behind in the counters of the removed one and keeps nothing, so it is no evidence. A socket keeps the
cgroup it was made in. Where its pages are counted depends on the kernel:

    v1              a counter of its own, `mem_cgroup.tcpmem`
    v2, 5.10        `mem_cgroup.vmstats[MEMCG_SOCK]`
    v2, 5.13-6.9    `state[MEMCG_SOCK]` of `memcg_vmstats`, inside or behind a pointer
    v2, since 6.10  not told: places in that array are no longer those of the enum
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from necroscope.sense.kernel.bpf.memory import KernelMemory
from necroscope.sense.kernel.btf import Btf
from necroscope.sense.kernel.layout import Window
from necroscope.sense.kernel.pointers import Pointers

_PAGES_MAX = 1 << 40
_MEMCG, _STATISTICS = "mem_cgroup", "memcg_vmstats"


@dataclass(frozen=True, slots=True)
class SocketLayout:
    """Windows of one number each, from the start of `mem_cgroup`; or from what one of its pointers leads to."""

    own: tuple[Window, ...]
    pointer: Window | None = None
    behind: Window | None = None

    @classmethod
    def of(cls, btf: Btf) -> SocketLayout:
        """From the kernel's own description; empty where it does not tell."""
        own = [Window.of(btf, _MEMCG, "tcpmem.usage")] if btf.has(_MEMCG, "tcpmem.usage") else []
        for path in ("vmstats", "vmstats.state"):
            if btf.has(_MEMCG, path) and (counted := _counter(btf, _MEMCG, path)) is not None:
                return cls((*own, counted))
        if btf.has(_MEMCG, "vmstats") and btf.has_struct(_STATISTICS):
            behind = _counter(btf, _STATISTICS, "state")
            return cls(tuple(own), Window.of(btf, _MEMCG, "vmstats") if behind else None, behind)
        return cls(tuple(own))


def _counter(btf: Btf, name: str, path: str) -> Window | None:
    """The counter of sockets in an array that has a place for each value of the enum."""
    array, place, places = btf.member(name, path), btf.enum_value("MEMCG_SOCK"), btf.enum_value("MEMCG_NR_STAT")
    if place is None or places is None or array.counts != (places,) or array.element_size != 8:
        return None
    return Window.at(name, [(array.offset + 8 * place, 8)])


class SocketMemory:
    """Reads it, for many at a time."""

    def __init__(self, memory: KernelMemory, layout: SocketLayout, pointers: Pointers) -> None:
        self._memory, self._layout, self._pointers = memory, layout, pointers

    def pages(self, css: Sequence[int]) -> list[int]:
        """Pages of each; 0 where there are none or the kernel does not tell."""
        columns = [self._column(window, css) for window in self._layout.own]
        if self._layout.pointer is not None and self._layout.behind is not None:
            behind = self._pointers.heap(self._column(self._layout.pointer, css))
            columns.append(self._column(self._layout.behind, behind))
        return [sum(one for one in row if one < _PAGES_MAX) for row in zip(*columns, strict=True)] or [0] * len(css)

    def _column(self, window: Window, addresses: Sequence[int]) -> list[int]:
        data = self._memory.gather([one + window.start if one else 0 for one in addresses], window.length)
        return [row[0] for row in window.rows(data)]
