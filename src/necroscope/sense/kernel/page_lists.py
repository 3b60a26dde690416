"""Where a memory cgroup keeps its lists of pages, for each NUMA node.

There are inactive and active anonymous lists, inactive and active file lists, and unevictable pages, with a size for
each list and zone. With the multi-generational LRU (since 6.1), all but the unevictable ones are on one list for each
generation, type and zone, with sizes of their own, and the sizes of the classic lists stay 0. It is switched on and off
while the kernel runs, so both are read. The structure as a whole is too large for one read on 6.1 and 6.8 (2,488 and
2,880 bytes): sizes and heads are read apart.

What pages of a list are whose first ones cannot be read: files, on the lists of files. Those of the other lists, and
unevictable ones (on no list since 5.18), may be a process's or tmpfs's.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod

from necroscope.errors import Unavailable
from necroscope.sense.kernel.bpf.programs import LENGTH_MAX
from necroscope.sense.kernel.btf import Btf, Member
from necroscope.sense.kernel.layout import Window
from necroscope.sense.kernel.socket_memory import SocketLayout
from necroscope.vocabulary.model import PinKind

_PER_NODE = "mem_cgroup_per_node"
_CLASSIC: tuple[PinKind, ...] = ("unknown", "unknown", "page-cache", "page-cache", "unknown")
_TYPES: tuple[PinKind, ...] = ("unknown", "page-cache")
_ODD = "this kernel's lists of pages are not laid out as expected"


@dataclass(frozen=True, slots=True)
class ListSet:
    """Some lists: where their sizes and their heads are, from the start of what is kept for a node.

    `list_of` is the list that each size belongs to, `by_name` what the pages of each list are by the list's name.
    """

    sizes_at: int
    sizes: struct.Struct
    heads_at: int
    list_of: tuple[int, ...]
    by_name: tuple[PinKind, ...]

    @property
    def heads_length(self) -> int:
        """Bytes of all heads."""
        return 16 * len(self.by_name)


@dataclass(frozen=True, slots=True)
class PinLayout:
    """Where a memory cgroup keeps its lists of pages, how pages hang on them, and what is charged beside them."""

    nodes: int  # offset of the pointers to what is kept for each NUMA node
    lists: tuple[ListSet, ...]
    folio: Window  # next on the list, mapping
    folio_lru: int
    page_struct_bytes: int
    sockets: SocketLayout

    @classmethod
    def of(cls, btf: Btf) -> PinLayout:
        """From the kernel's own description."""
        classic = _classic(btf)
        zones = len(classic.list_of) // len(classic.by_name)
        generations = _generations(btf, zones)
        folio = "folio" if btf.has_struct("folio") else "page"
        return cls(
            nodes=btf.offset("mem_cgroup", "nodeinfo"),
            lists=(classic,) if generations is None else (classic, generations),
            folio=Window.of(btf, folio, "lru.next", "mapping"),
            folio_lru=btf.offset(folio, "lru"),
            page_struct_bytes=btf.sizeof("page"),
            sockets=SocketLayout.of(btf),
        )


def _classic(btf: Btf) -> ListSet:
    sizes, heads = btf.member(_PER_NODE, "lru_zone_size"), btf.member(_PER_NODE, "lruvec.lists")
    count, lists = prod(sizes.counts), prod(heads.counts)
    if lists != len(_CLASSIC) or not count or count % lists:
        raise Unavailable(_ODD)
    return _list_set(sizes, heads, tuple(index % lists for index in range(count)), _CLASSIC)


def _generations(btf: Btf, zones: int) -> ListSet | None:
    """Where this kernel has them."""
    for name in ("lruvec.lrugen.folios", "lruvec.lrugen.lists"):
        if btf.has(_PER_NODE, name):
            sizes, heads = btf.member(_PER_NODE, "lruvec.lrugen.nr_pages"), btf.member(_PER_NODE, name)
            # one dimension for all three, or three, as the kernel was built
            count = prod(heads.counts)
            if not count or count != prod(sizes.counts) or count % (len(_TYPES) * zones):
                raise Unavailable(_ODD)
            by_name = tuple(_TYPES[index // zones % len(_TYPES)] for index in range(count))
            return _list_set(sizes, heads, tuple(range(count)), by_name)
    return None


def _list_set(sizes: Member, heads: Member, list_of: tuple[int, ...], by_name: tuple[PinKind, ...]) -> ListSet:
    if (sizes.element_size, heads.element_size) != (8, 16) or max(sizes.size, heads.size) > LENGTH_MAX:
        raise Unavailable(_ODD)
    return ListSet(sizes.offset, struct.Struct(f"<{len(list_of)}q"), heads.offset, list_of, by_name)
