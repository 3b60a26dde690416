"""What keeps a removed memory cgroup: the pages still charged to it, by kind, and the files they belong to.

A cgroup's pages hang on lists (`page_lists`). The first few folios of a list tell its kinds:

    anon        the mapping is marked as anonymous: a live process holds memory of a cgroup it has left
    tmpfs       the mapping belongs to a file that exists in memory only
    page-cache  the mapping belongs to a file on a disk
    unknown     none of them could be read, and the list may hold either of the first two

Bytes of a list are divided in proportion to the kinds seen. What is charged beside the lists is another matter
(`socket_memory`).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress

from necroscope.sense.kernel.bpf.memory import KernelMemory
from necroscope.sense.kernel.bpf.programs import LENGTH_MAX
from necroscope.sense.kernel.files import Files, Inode
from necroscope.sense.kernel.page_lists import ListSet, PinLayout
from necroscope.sense.kernel.pointers import Pointers
from necroscope.sense.kernel.socket_memory import SocketMemory
from necroscope.vocabulary.model import PinKind

FOLIOS_SEEN = 8
_PAGES_MAX = 1 << 40
_ANON_BITS = 3


@dataclass(slots=True)
class HeldMemory:
    """What one zombie holds: bytes by kind, and some inodes by kind. `on_lists` is the sum of its lists, in pages;
    `in_sockets` is known only of those that have none there."""

    bytes: dict[PinKind, int] = field(default_factory=dict)
    inodes: dict[PinKind, list[Inode]] = field(default_factory=dict)
    on_lists: int = 0
    in_sockets: int = 0


@dataclass(slots=True)
class _List:
    """A list that is being looked at: whose it is, how many pages, and what its first folios map."""

    owner: int
    by_name: PinKind
    pages: int
    head: int
    following: int
    mappings: list[int] = field(default_factory=list)


class Pins:
    """Reads what zombies hold, many at a time."""

    def __init__(self, memory: KernelMemory, layout: PinLayout, pointers: Pointers, files: Files, nodes: int) -> None:
        self._memory, self._layout, self._pointers, self._files = memory, layout, pointers, files
        self._sockets = SocketMemory(memory, layout.sockets, pointers)
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
        self._look_beside(css, [index for index, one in enumerate(held) if not one.on_lists], held)
        return held

    def _look_beside(self, css: Sequence[int], bare: list[int], held: list[HeldMemory]) -> None:
        for index, pages in zip(bare, self._sockets.pages([css[index] for index in bare]), strict=True):
            held[index].in_sockets = pages

    # -- lists -------------------------------------------------------------------------------------------

    def _lists(self, css: Sequence[int], held: list[HeldMemory]) -> list[_List]:
        """The lists that hold pages, of every zombie on every node."""
        owners, places = self._places(css)
        found = [one for lists in self._layout.lists for one in self._of_set(lists, owners, places)]
        for one in found:
            held[one.owner].on_lists += one.pages
        return found

    def _places(self, css: Sequence[int]) -> tuple[list[int], list[int]]:
        data = self._memory.gather([one + self._layout.nodes for one in css], 8 * self._nodes)
        pointers = struct.unpack(f"<{len(css) * self._nodes}Q", data)
        places = self._pointers.heap(pointers)
        owners = [index // self._nodes for index in range(len(places)) if places[index]]
        return owners, [place for place in places if place]

    def _of_set(self, lists: ListSet, owners: list[int], places: list[int]) -> Iterator[_List]:
        """The lists of one set that hold pages. Heads are read where there are pages only."""
        data = self._memory.gather([place + lists.sizes_at for place in places], lists.sizes.size)
        nothing, step = bytes(lists.sizes.size), lists.sizes.size
        full = [index for index in range(len(places)) if data[index * step : (index + 1) * step] != nothing]
        heads = self._memory.gather([places[index] + lists.heads_at for index in full], lists.heads_length)
        for row, index in enumerate(full):
            first = places[index] + lists.heads_at
            links = struct.unpack_from(f"<{2 * len(lists.by_name)}Q", heads, row * lists.heads_length)
            for number, pages in enumerate(_pages(lists, lists.sizes.unpack_from(data, index * step))):
                if pages:
                    head = first + 16 * number
                    yield _List(owners[index], lists.by_name[number], pages, head, links[2 * number])

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
        kinds[one.by_name] = 1
    total = sum(kinds.values())
    for kind, seen in kinds.items():
        held.bytes[kind] = held.bytes.get(kind, 0) + one.pages * mmap.PAGESIZE * seen // total


def _pages(lists: ListSet, sizes: tuple[int, ...]) -> list[int]:
    """Pages of each list, over all zones. A number that no machine has is taken for torn; batches of updates make some
    negative for a moment."""
    pages = [0] * len(lists.by_name)
    for place in compress(range(len(sizes)), sizes):
        if 0 < sizes[place] < _PAGES_MAX:
            pages[lists.list_of[place]] += sizes[place]
    return pages
