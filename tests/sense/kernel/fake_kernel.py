"""Kernel memory in a dictionary: cgroups, their pages and files, laid out by a BTF of our own or by a real one.

`FakeKernel` is a `KernelMemory`. Nothing in it knows the walk; a test may overwrite any word of it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from kernel.btf_builder import UNION, BtfBuilder
from necroscope.sense.kernel.bpf.memory import Chain
from necroscope.sense.kernel.bpf.programs import SLOTS
from necroscope.sense.kernel.btf import Btf
from necroscope.sense.kernel.files import FileLayout, Files, Mounts
from necroscope.sense.kernel.layout import MemcgLayout
from necroscope.sense.kernel.page_lists import PinLayout
from necroscope.sense.kernel.pins import Pins
from necroscope.sense.kernel.pointers import Pointers
from necroscope.sense.kernel.walker import Walker
from necroscope.sense.kernel.zombies import Ticks, Zombie

HEAP, FOLIOS, IMAGE = 0xFFFF_8880_0000_0000, 0xFFFF_EA00_0000_0000, 0xFFFF_FFFF_8100_0000
RAM = 1 << 30
HZ, NOW = 250, (1 << 32) + 1_000_000
ONLINE, DYING = 2, 16
ZONES, LISTS = 2, 5
MOUNTINFO = b"1 0 0:7 / /dev/shm rw - tmpfs tmpfs rw\n2 0 8:1 / / rw - ext4 /dev/sda1 rw\n"


@dataclass(frozen=True)
class Shape:
    """How kernels differ: the multi-generational LRU; what lies between lists and sizes (6.1, 6.8: more than can be
    read at once); where the populated sets of a cgroup are counted (7.x: in its css); where the pages of sockets are.
    """

    generations: bool = False
    lists: int = LISTS
    between: int = 0
    counted_in_css: bool = False
    sockets: Literal["", "counter", "array", "inside", "pointer", "renumbered"] = ""


_USUAL = Shape()
_POPULATED = ("nr_populated_csets", "self.nr_populated_csets")


@cache
def kernel_btf(shape: Shape = _USUAL) -> Btf:
    """The structs that the walk reads, in an order and at offsets of no real kernel."""
    b = BtfBuilder()
    p, u8, u4 = b.ptr, b.ints[8], b.ints[4]
    head = b.struct("list_head", 16, [("next", p, 0), ("prev", p, 8)])
    ref = b.struct("percpu_ref", 16, [("percpu_count_ptr", u8, 0), ("data", p, 8)])
    b.struct("percpu_ref_data", 16, [("count", u8, 0)])
    css = b.struct(
        "cgroup_subsys_state",
        96,
        [
            ("serial_nr", u8, 0),
            ("cgroup", p, 8),
            ("refcnt", ref, 16),
            ("sibling", head, 32),
            ("children", head, 48),
            ("flags", u4, 64),
            ("parent", p, 72),
            *([("nr_populated_csets", u4, 80)] if shape.counted_in_css else []),
        ],
    )
    b.enum("", {"CSS_NO_REF": 1, "CSS_ONLINE": ONLINE, "CSS_DYING": DYING})
    b.enum("cgroup_subsys_id", {"cpu_cgrp_id": 0, "memory_cgrp_id": 3})
    b.struct(
        "cgroup",
        256,
        [
            ("kn", p, 96),
            ("nr_descendants", u4, 104),
            ("self", css, 128) if shape.counted_in_css else ("nr_populated_csets", u4, 108),
            ("nr_populated_domain_children", u4, 112),
            ("nr_populated_threaded_children", u4, 116),
        ],
    )
    b.struct("kernfs_node", 64, [("id", u8, 8), ("name", p, 24)])
    counter = b.struct("page_counter", 32, [("usage", u8, 8)])
    b.struct(
        "mem_cgroup",
        256,
        [
            ("css", css, 0),
            ("memory", counter, 128),
            ("socket_pressure", u8, 176),
            *_sockets(b, shape, counter),
            ("nodeinfo", b.array(p, 0), 240),
        ],
    )
    lruvec_members = [("lists", b.array(head, shape.lists), 0)]
    if shape.generations:
        lists, sizes = (b.array(b.array(b.array(one, ZONES), 2), 4) for one in (head, u8))
        lrugen = b.struct("lru_gen_folio", 512, [("folios", lists, 0), ("nr_pages", sizes, 256)])
        lruvec_members.append(("lrugen", lrugen, 96))
    lruvec = b.struct("lruvec", 640, lruvec_members)
    at = 800 + shape.between
    b.struct(
        "mem_cgroup_per_node", at + 224, [("lruvec", lruvec, 32), ("lru_zone_size", b.array(u8, ZONES * LISTS), at)]
    )
    inner = b.struct("", 32, [("lru", head, 8), ("mapping", p, 24)])
    b.struct("folio", 64, [("", b.struct("", 64, [("", inner, 0)], UNION), 0)])
    b.struct("page", 64, [("flags", u8, 0)])
    space = b.struct("address_space", 32, [("host", p, 0)])
    first = b.struct("hlist_head", 8, [("first", p, 0)])
    b.struct(
        "inode",
        256,
        [("i_sb", p, 8), ("i_ino", u8, 16), ("i_nlink", u4, 24), ("i_dentry", first, 32), ("i_data", space, 64)],
    )
    b.struct("super_block", 64, [("s_dev", u4, 8), ("s_type", p, 16), ("s_root", p, 24)])
    b.struct("file_system_type", 32, [("name", p, 0)])
    link = b.struct("hlist_bl_node", 16, [("next", p, 0), ("pprev", p, 8)])
    name = b.struct("qstr", 16, [("name", p, 8)])
    alias = b.struct("", 16, [("d_alias", u8, 0)], UNION)
    b.struct("dentry", 96, [("d_hash", link, 8), ("d_parent", p, 24), ("d_name", name, 32), ("d_u", alias, 64)])
    b.struct("task_struct", 128, [("cgroups", p, 72)])
    b.struct("css_set", 128, [("subsys", b.array(p, 8), 32)])
    return Btf(bytes(b))


def _sockets(b: BtfBuilder, shape: Shape, counter: int) -> list[tuple[str, int, int]]:
    """Where the pages of sockets are counted: the third of four statistics, or a counter."""
    if not shape.sockets:
        return []
    if shape.sockets == "counter":
        return [("tcpmem", counter, 192)]
    b.enum("memcg_stat_item", {"MEMCG_SOCK": 2, "MEMCG_NR_STAT": 4})
    array = b.array(b.ints[8], 3 if shape.sockets == "renumbered" else 4)
    if shape.sockets == "array":
        return [("vmstats", array, 192)]
    state = b.struct("memcg_vmstats", 32, [("state", array, 0)])
    return [("vmstats", state if shape.sockets == "inside" else b.ptr, 192)]


class FakeKernel:
    """A machine with a root cgroup; add to it, break it, walk it."""

    def __init__(self, shape: Shape = _USUAL, btf: Btf | None = None) -> None:
        self.btf = btf or kernel_btf(shape)
        self._shape = shape
        self._page_struct = "folio" if self.btf.has_struct("folio") else "page"
        self.words: dict[int, int] = {}
        self.texts: dict[int, bytes] = {}
        self.failed_reads = 0
        self.reads: list[int] = []
        self.before_read: Callable[[], None] = lambda: None
        self._heap, self._folio, self._image, self._serial = HEAP, FOLIOS, IMAGE, 0
        self.task = self.make("task_struct")
        self.filesystems = {
            kind: self._filesystem(kind, device) for kind, device in (("tmpfs", 7), ("ext4", 8 << 20 | 1), ("xfs", 99))
        }
        self.root = self.cgroup(0, "")
        cgroups = self.make("css_set")
        self.put("task_struct", self.task, "cgroups", cgroups)
        memory = self.btf.enum_value("memory_cgrp_id") or 0
        self.words[cgroups + self.btf.offset("css_set", "subsys") + 8 * memory] = self.root

    # -- making objects --------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        address, self._heap = self._heap, self._heap + (size + 63 & ~63)
        for word in range(address, self._heap, 8):
            self.words[word] = 0
        return address

    def make(self, struct_name: str) -> int:
        """An object, with room behind it for a flexible array."""
        return self.allocate(self.btf.sizeof(struct_name) + 64)

    def put(self, struct_name: str, address: int, member: str, value: int) -> None:
        where = self.btf.member(struct_name, member)
        at = address + where.offset
        if where.size == 8:
            self.words[at] = value
        else:
            shift = 8 * (at % 8)
            self.words[at & ~7] = self.words[at & ~7] & ~(0xFFFFFFFF << shift) | value << shift

    def get(self, struct_name: str, address: int, member: str) -> int:
        return self.words[address + self.btf.offset(struct_name, member)]

    def text(self, text: str, static: bool = False) -> int:
        address = self.allocate(64)
        if static:
            address, self._image = self._image, self._image + 64
        self.texts[address] = text.encode()
        return address

    def cgroup(self, parent: int, name: str, online: bool = True, pages: int = 0, born: int = NOW - 10 * HZ) -> int:
        """A memory cgroup, last in its parent's list. Its css has the same address."""
        css, node, cgroup = self.make("mem_cgroup"), self.make("kernfs_node"), self.make("cgroup")
        self._serial += 2
        for member, value in (("serial_nr", self._serial), ("cgroup", cgroup), ("parent", parent)):
            self.put("cgroup_subsys_state", css, member, value)
        self.put("cgroup_subsys_state", css, "flags", ONLINE if online else DYING)
        self.put("cgroup", cgroup, "kn", node)
        self.populate(css, 1, cgroup)
        self.put("kernfs_node", node, "name", self.text(name))
        self.put("kernfs_node", node, "id", 1000 + self._serial)
        self.put("mem_cgroup", css, "memory.usage", pages)
        self.put("mem_cgroup", css, "socket_pressure", born)
        count = self.make("percpu_ref_data")
        self.put("percpu_ref_data", count, "count", 1)
        self.put("cgroup_subsys_state", css, "refcnt.percpu_count_ptr", 0 if online else 3)
        self.put("cgroup_subsys_state", css, "refcnt.data", count)
        self._empty_list(css + self.btf.offset("cgroup_subsys_state", "children"))
        self.words[css + self.btf.offset("mem_cgroup", "nodeinfo")] = self._per_node()
        if parent:
            self._append(parent + self.btf.offset("cgroup_subsys_state", "children"), self.link(css))
        return css

    def populate(self, css: int, sets: int, cgroup: int = 0) -> None:
        """How many sets of processes are in a cgroup."""
        member = next(one for one in _POPULATED if self.btf.has("cgroup", one))
        self.put("cgroup", cgroup or self.get("cgroup_subsys_state", css, "cgroup"), member, sets)

    def link(self, css: int) -> int:
        return css + self.btf.offset("cgroup_subsys_state", "sibling")

    def unlink(self, css: int) -> None:
        """As list_del_rcu does it: the node keeps its way forward and loses its way back."""
        link = self.link(css)
        following, previous = self.words[link], self.words[link + 8]
        self.words[previous], self.words[following + 8] = following, previous
        self.words[link + 8] = 0xDEAD_0000_0000_0122

    def file(self, kind: str, path: str, links: int = 1) -> int:
        """A file; returns its mapping."""
        superblock, root = self.filesystems[kind]
        inode, parent = self.make("inode"), root
        for part in path.strip("/").split("/"):
            entry = self.make("dentry")
            self.put("dentry", entry, "d_parent", parent)
            self.put("dentry", entry, "d_name.name", self.text(part))
            self.put("dentry", entry, "d_hash.pprev", 1)
            parent = entry
        self.put("inode", inode, "i_sb", superblock)
        self.put("inode", inode, "i_ino", 7)
        self.put("inode", inode, "i_nlink", links)
        self.put("inode", inode, "i_dentry.first", parent + self.btf.offset("dentry", "d_u.d_alias", "d_alias"))
        mapping = inode + self.btf.offset("inode", "i_data")
        self.words[mapping] = inode
        return mapping

    def page(self, css: int, lru: int, mapping: int, pages: int = 1) -> int:
        """A folio of the mapping on one of the cgroup's lists."""
        node, folio = self.per_node(css), self._new_folio(mapping)
        head = node + self.btf.offset("mem_cgroup_per_node", "lruvec.lists") + 16 * lru
        self._append(head, folio + self.btf.offset(self._page_struct, "lru"))
        self.words[node + self.btf.offset("mem_cgroup_per_node", "lru_zone_size") + 8 * (LISTS + lru)] += pages
        return folio

    def generation(self, css: int, index: int, mapping: int, pages: int = 1) -> None:
        """A folio on a list of the multi-generational LRU, counted there alone."""
        node = self.per_node(css)
        head = node + self.btf.offset("mem_cgroup_per_node", "lruvec.lrugen.folios") + 16 * index
        self._append(head, self._new_folio(mapping) + self.btf.offset(self._page_struct, "lru"))
        self.words[node + self.btf.offset("mem_cgroup_per_node", "lruvec.lrugen.nr_pages") + 8 * index] += pages

    def sockets(self, css: int, pages: int) -> None:
        """Pages of sockets, where this kernel counts them."""
        if self._shape.sockets == "counter":
            self.put("mem_cgroup", css, "tcpmem.usage", pages)
            return
        array = css + self.btf.offset("mem_cgroup", "vmstats")
        if self._shape.sockets in ("pointer", "renumbered"):
            self.words[array] = array = self.allocate(64)
        self.words[array + 16] = pages

    def per_node(self, css: int) -> int:
        return self.words[css + self.btf.offset("mem_cgroup", "nodeinfo")]

    def _per_node(self) -> int:
        node = self.make("mem_cgroup_per_node")
        lists = node + self.btf.offset("mem_cgroup_per_node", "lruvec.lists")
        for lru in range(LISTS):
            self._empty_list(lists + 16 * lru)
        if self.btf.has("mem_cgroup_per_node", "lruvec.lrugen"):
            folios = self.btf.member("mem_cgroup_per_node", "lruvec.lrugen.folios")
            for index in range(folios.size // 16):
                self._empty_list(node + folios.offset + 16 * index)
        return node

    def _new_folio(self, mapping: int) -> int:
        folio, self._folio = self._folio, self._folio + 64
        for word in range(folio, folio + 64, 8):
            self.words[word] = 0
        self.words[folio + self.btf.offset(self._page_struct, "mapping")] = mapping
        return folio

    def _filesystem(self, kind: str, device: int) -> tuple[int, int]:
        superblock, root = self.make("super_block"), self.make("dentry")
        static, self._image = self._image, self._image + 64
        self.words[static + self.btf.offset("file_system_type", "name")] = self.text(kind, static=True)
        for member, value in (("s_type", static), ("s_dev", device), ("s_root", root)):
            self.put("super_block", superblock, member, value)
        self.put("dentry", root, "d_parent", root)
        self.put("dentry", root, "d_name.name", self.text("/"))
        return superblock, root

    def _empty_list(self, head: int) -> None:
        self.words[head] = self.words[head + 8] = head

    def _append(self, head: int, link: int) -> None:
        last = self.words[head + 8]
        self.words[link], self.words[link + 8] = head, last
        self.words[last] = self.words[head + 8] = link

    # -- KernelMemory ------------------------------------------------------------------------------------

    def gather(self, addresses: Sequence[int], length: int) -> bytes:
        self.before_read()
        return b"".join(self._read(address, length) for address in addresses)

    def strings(self, addresses: Sequence[int]) -> list[bytes]:
        self.before_read()
        return [self.texts.get(address, b"")[:255] for address in addresses]

    def chase(self, node: int, head: int, back: int, length: int, limits: tuple[int, int]) -> Chain:
        self.before_read()
        nodes: list[int] = []
        data = b""
        while len(nodes) < SLOTS:
            if node == head:
                return Chain(tuple(nodes), data, "head")
            if node & 7 or not limits[0] <= node < limits[1]:
                return Chain(tuple(nodes), data, "wild")
            failed, window = self.failed_reads, self._read(node - back, length)
            if self.failed_reads > failed:
                return Chain(tuple(nodes), data, "unreadable")
            nodes.append(node)
            data += window
            node = int.from_bytes(window[back : back + 8], "little")
        return Chain(tuple(nodes), data, "full")

    def current_task(self) -> int:
        return self.task

    def jiffies(self) -> int:
        return NOW

    def _read(self, address: int, length: int) -> bytes:
        if not address:
            return bytes(length)
        self.reads.append(address)
        first = address & ~7
        words = [self.words.get(word) for word in range(first, address + length, 8)]
        if None in words:
            self.failed_reads += 1
            return bytes(length)
        data = struct.pack(f"<{len(words)}Q", *[word & (1 << 64) - 1 for word in words if word is not None])
        return data[address - first : address - first + length]

    # -- walking it ----------------------------------------------------------------------------------------

    def pointers(self) -> Pointers:
        return Pointers(self.task, RAM, [(IMAGE, IMAGE + (1 << 24))], 64)

    def walker(self, on_zombie: Callable[[Zombie], None] | None = None, pins: bool = True) -> Walker:
        layout, pointers = MemcgLayout.of(self.btf), self.pointers()
        files = Files(self, FileLayout.of(self.btf), pointers, Mounts(MOUNTINFO))
        reader = Pins(self, PinLayout.of(self.btf), pointers, files, nodes=1) if pins else None
        return Walker(self, layout, pointers, reader, files, Ticks(NOW, HZ), on_zombie)
