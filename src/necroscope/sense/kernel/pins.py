"""What keeps a removed memory cgroup: the pages still charged to it, by kind, and the files they belong to.

A cgroup's pages hang on lists, one set for each NUMA node: inactive and active anonymous, inactive and active file,
unevictable; or, with the multi-generational LRU, one list for each generation, type and zone. The first few
folios of a list tell its kinds:

    anon        the mapping is marked as anonymous: a live process holds memory of a cgroup it has left
    tmpfs       the mapping belongs to a file that exists in memory only
    page-cache  the mapping belongs to a file on a disk

Bytes of a list are divided in proportion to the kinds seen. No pages on any list, but memory charged: kernel.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress

from necroscope.errors import Unavailable
from necroscope.sense.kernel.bpf.memory import KernelMemory
from necroscope.sense.kernel.bpf.programs import LENGTH_MAX
from necroscope.sense.kernel.btf import Btf
from necroscope.sense.kernel.files import Files, Inode
from necroscope.sense.kernel.layout import Window
from necroscope.sense.kernel.pointers import Pointers
from necroscope.vocabulary.model import PinKind

FOLIOS_SEEN = 8
_PAGES_MAX = 1 << 40
_ANON_BITS = 3
_FILE_LISTS = (2, 3)
_POINTER = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class PinLayout:
    """Where a memory cgroup keeps its lists of pages."""

    nodes: int  # offset of the pointers to what is kept for each NUMA node
    start: int
    length: int
    sizes: struct.Struct
    sizes_at: int
    lists_at: int
    lists: int
    folio: Window  # next on the list, mapping
    folio_lru: int
    page_struct_bytes: int
    generations: tuple[int, int, int, int] | None = None  # lists at, sizes at, how many, zones

    @classmethod
    def of(cls, btf: Btf) -> PinLayout:
        """From the kernel's own description."""
        sizes = btf.member("mem_cgroup_per_node", "lru_zone_size")
        lists = btf.member("mem_cgroup_per_node", "lruvec.lists")
        list_count, size_count = _count(lists.counts), _count(sizes.counts)
        start = min(sizes.offset, lists.offset)
        length = max(sizes.offset + sizes.size, lists.offset + lists.size) - start
        if not list_count or size_count % list_count or sizes.element_size != 8 or length > LENGTH_MAX:
            raise Unavailable("this kernel's lists of pages are not laid out as expected")
        folio = "folio" if btf.has_struct("folio") else "page"
        return cls(
            nodes=btf.offset("mem_cgroup", "nodeinfo"),
            start=start,
            length=length,
            sizes=struct.Struct(f"<{size_count}Q"),
            sizes_at=sizes.offset - start,
            lists_at=lists.offset - start,
            lists=list_count,
            folio=Window.of(btf, folio, "lru.next", "mapping"),
            folio_lru=btf.offset(folio, "lru"),
            page_struct_bytes=btf.sizeof("page"),
            generations=_generations(btf, size_count // list_count),
        )


def _generations(btf: Btf, zones: int) -> tuple[int, int, int, int] | None:
    """Lists of the multi-generational LRU (since 6.1), where this kernel has them."""
    for name in ("lruvec.lrugen.folios", "lruvec.lrugen.lists"):
        if btf.has("mem_cgroup_per_node", name):
            lists = btf.member("mem_cgroup_per_node", name)
            sizes = btf.member("mem_cgroup_per_node", "lruvec.lrugen.nr_pages")
            count = _count(lists.counts)
            if count and count == _count(sizes.counts) and lists.size <= LENGTH_MAX:
                return lists.offset, sizes.offset, count, zones
    return None


def _count(counts: tuple[int, ...]) -> int:
    total = 1 if counts else 0
    for count in counts:
        total *= count
    return total


@dataclass(slots=True)
class HeldMemory:
    """What one zombie holds: bytes by kind, and some inodes by kind. `on_lists` is the sum of its lists."""

    bytes: dict[PinKind, int] = field(default_factory=dict)
    inodes: dict[PinKind, list[Inode]] = field(default_factory=dict)
    on_lists: int = 0


@dataclass(slots=True)
class _List:
    """A list that is being looked at: whose it is, how many pages, and what its first folios map."""

    owner: int
    anonymous: bool
    pages: int
    head: int
    following: int
    mappings: list[int] = field(default_factory=list)


class Pins:
    """Reads what zombies hold, many at a time."""

    def __init__(self, memory: KernelMemory, layout: PinLayout, pointers: Pointers, files: Files, nodes: int) -> None:
        self._memory, self._layout, self._pointers, self._files = memory, layout, pointers, files
        self._nodes = max(1, min(nodes, LENGTH_MAX // 8))

    def read(self, css: Sequence[int]) -> list[HeldMemory]:
        """What each memory cgroup holds on its lists."""
        held = [HeldMemory() for _ in css]
        lists = self._lists(css, held)
        self._look(lists)
        mappings = {mapping for one in lists for mapping in one.mappings if mapping and not mapping & _ANON_BITS}
        owners = {mapping: (self._kind(inode), inode) for mapping, inode in self._files.inodes(list(mappings)).items()}
        for one in lists:
            _divide(held[one.owner], one, owners)
        return held

    # -- lists -------------------------------------------------------------------------------------------

    def _lists(self, css: Sequence[int], held: list[HeldMemory]) -> list[_List]:
        """The lists that hold pages, of every zombie on every node."""
        layout = self._layout
        owners, places = self._places(css)
        data = self._memory.gather([place + layout.start for place in places], layout.length)
        nothing = bytes(layout.sizes.size)
        found: list[_List] = []
        hidden: list[tuple[int, int]] = []
        at = -layout.length
        for owner, place in zip(owners, places, strict=True):
            at += layout.length
            sizes_at = at + layout.sizes_at
            if data[sizes_at : sizes_at + layout.sizes.size] == nothing:
                continue
            pages = self._pages(layout.sizes.unpack_from(data, sizes_at))
            held[owner].on_lists += sum(pages)
            classic = self._classic(owner, place, data, at + layout.lists_at, pages)
            found += classic
            if layout.generations is not None and all(one.following == one.head for one in classic):
                hidden.append((owner, place))
        return self._with_generations(found, hidden) if hidden else found

    def _pages(self, sizes: tuple[int, ...]) -> list[int]:
        """Pages of each list, over all zones."""
        pages = [0] * self._layout.lists
        for index in compress(range(len(sizes)), sizes):
            pages[index % self._layout.lists] += _plausible(sizes[index])
        return pages

    def _places(self, css: Sequence[int]) -> tuple[list[int], list[int]]:
        data = self._memory.gather([one + self._layout.nodes for one in css], 8 * self._nodes)
        pointers = struct.unpack(f"<{len(css) * self._nodes}Q", data)
        places = self._pointers.heap(pointers)
        owners = [index // self._nodes for index in range(len(places)) if places[index]]
        return owners, [place for place in places if place]

    def _classic(self, owner: int, place: int, data: bytes, at: int, pages: list[int]) -> list[_List]:
        """The lists that hold pages; their heads lie in `data` at `at`."""
        head = place + self._layout.start + self._layout.lists_at
        return [
            # what nobody may evict (the last list) is memory that a process has locked, as a rule
            _List(
                owner,
                index not in _FILE_LISTS,
                count,
                head + 16 * index,
                _POINTER.unpack_from(data, at + 16 * index)[0],
            )
            for index, count in enumerate(pages)
            if count
        ]

    def _with_generations(self, classic: list[_List], hidden: list[tuple[int, int]]) -> list[_List]:
        """Take the lists of generations for those zombies whose pages are on no classic list."""
        assert self._layout.generations is not None
        lists_at, sizes_at, count, zones = self._layout.generations
        heads = self._memory.gather([place + lists_at for _, place in hidden], 16 * count)
        sizes = self._memory.gather([place + sizes_at for _, place in hidden], 8 * count)
        found: list[_List] = []
        for index, (owner, place) in enumerate(hidden):
            links = struct.unpack_from(f"<{2 * count}Q", heads, index * 16 * count)
            pages = struct.unpack_from(f"<{count}q", sizes, index * 8 * count)
            for one in range(count):
                if pages[one] > 0 and (amount := _plausible(pages[one])):
                    anonymous = one // zones % 2 == 0
                    found.append(_List(owner, anonymous, amount, place + lists_at + 16 * one, links[2 * one]))
        owners = {one.owner for one in found}
        return [one for one in classic if one.owner not in owners or one.following != one.head] + found

    # -- folios ------------------------------------------------------------------------------------------

    def _look(self, lists: list[_List]) -> None:
        """Follow each list for a few folios, all lists side by side."""
        layout, window = self._layout, self._layout.folio
        for _ in range(FOLIOS_SEEN):
            # a list that has as many folios as pages was seen to its end
            lists = [one for one in lists if one.following not in (0, one.head) and len(one.mappings) < one.pages]
            if not lists:
                return
            folios = self._pointers.folios([one.following - layout.folio_lru for one in lists])
            addresses = [folio + window.start if folio else 0 for folio in folios]
            rows = window.rows(self._memory.gather(addresses, window.length))
            for one, folio, (following, mapping) in zip(lists, folios, rows, strict=True):
                one.following = following if folio else 0
                if folio:
                    one.mappings.append(mapping)

    def _kind(self, inode: Inode) -> PinKind:
        superblock = self._files.superblock(inode.superblock)
        return "tmpfs" if superblock is not None and superblock.in_memory else "page-cache"


def _divide(held: HeldMemory, one: _List, owners: dict[int, tuple[PinKind, Inode]]) -> None:
    """Share a list's bytes among the kinds of its first folios, and keep the inodes that were seen."""
    kinds: dict[PinKind, int] = {}
    for mapping in one.mappings:
        if mapping in owners:
            kind, inode = owners[mapping]
            known = held.inodes.setdefault(kind, [])
            if inode not in known:
                known.append(inode)
        elif mapping & _ANON_BITS:
            kind = "anon"
        else:
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
    if not kinds:
        kinds["anon" if one.anonymous else "page-cache"] = 1
    total = sum(kinds.values())
    for kind, seen in kinds.items():
        held.bytes[kind] = held.bytes.get(kind, 0) + one.pages * mmap.PAGESIZE * seen // total


def _plausible(pages: int) -> int:
    """Pages of one list; a number that no machine has is taken for torn."""
    return pages if pages < _PAGES_MAX else 0
