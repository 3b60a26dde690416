"""Names of files, from inodes in kernel memory to absolute paths of this mount namespace.

An inode knows its directory entries; those lead to the root of their file system; `/proc/self/mountinfo` tells where
that file system is mounted. A file that nobody can open by name any more ends in ` (deleted)`; a file whose file
system is not mounted where we stand reads `tmpfs:/path/inside`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from necroscope.sense.kernel.bpf.memory import KernelMemory
from necroscope.sense.kernel.btf import Btf
from necroscope.sense.kernel.layout import Window
from necroscope.sense.kernel.pointers import Pointers

_DEPTH = 64
_ENTRIES_KEPT = 20_000
# their pages are the only copy: they go when the file goes
_IN_MEMORY = frozenset((b"tmpfs", b"devtmpfs", b"ramfs", b"rootfs", b"hugetlbfs"))


class Inode(NamedTuple):
    """An inode as it was seen: enough to know it again."""

    address: int
    number: int
    superblock: int


class Superblock(NamedTuple):
    """A mounted file system."""

    kind: bytes
    device: tuple[int, int]
    root: int

    @property
    def in_memory(self) -> bool:
        """True where files have no disk behind them."""
        return self.kind in _IN_MEMORY


class _Entry(NamedTuple):
    name: bytes
    parent: int
    hashed: bool


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How inodes, directory entries and file systems hang together."""

    inode: Window  # superblock, number, first directory entry, links, owner of its pages
    inode_mapping: int
    superblock: Window  # type, device, root
    kind_name: int
    entry: Window  # parent, name, hash link
    entry_alias: int

    @classmethod
    def of(cls, btf: Btf) -> FileLayout:
        """From the kernel's own description."""
        return cls(
            inode=Window.of(btf, "inode", "i_sb", "i_ino", "i_dentry.first", "i_nlink", "i_data.host"),
            inode_mapping=btf.offset("inode", "i_data"),
            superblock=Window.of(btf, "super_block", "s_type", "s_dev", "s_root"),
            kind_name=btf.offset("file_system_type", "name"),
            entry=Window.of(btf, "dentry", "d_parent", "d_name.name|__d_name.name", "d_hash.pprev"),
            entry_alias=btf.offset("dentry", "d_u.d_alias", "d_alias"),
        )


class Files:
    """Looks inodes up. What it learns about file systems and directories is kept for this walk only."""

    def __init__(self, memory: KernelMemory, layout: FileLayout, pointers: Pointers, mounts: Mounts) -> None:
        self._memory, self._layout, self._pointers, self._mounts = memory, layout, pointers, mounts
        self._superblocks: dict[int, Superblock | None] = {}
        self._entries: dict[int, _Entry] = {}

    def inodes(self, mappings: list[int]) -> dict[int, Inode]:
        """The inodes whose pages the mappings are; what does not point back at its mapping is left out."""
        layout = self._layout
        addresses = self._pointers.heap([mapping - layout.inode_mapping for mapping in mappings])
        found = {}
        for mapping, address, row in zip(mappings, addresses, self._inode_rows(addresses), strict=True):
            superblock, number = row[0], row[1]
            if address and row[4] == address and self.superblock(superblock) is not None:
                found[mapping] = Inode(address, number, superblock)
        return found

    def superblock(self, address: int) -> Superblock | None:
        """A file system by its address; None when that is none."""
        if address not in self._superblocks:
            self._superblocks[address] = self._read_superblock(address)
        return self._superblocks[address]

    def identity(self, inode: Inode) -> str:
        """`major:minor:inode`, as `stat` shows it where a file system has one device; empty for none."""
        superblock = self.superblock(inode.superblock)
        return "" if superblock is None else f"{superblock.device[0]}:{superblock.device[1]}:{inode.number}"

    def names(self, inodes: list[Inode]) -> list[str | None]:
        """Absolute names; None for an inode that became another one meanwhile."""
        addresses = [inode.address for inode in inodes]
        rows = list(self._inode_rows(addresses))
        aliases = self._pointers.heap([row[2] for row in rows])
        entries = [alias - self._layout.entry_alias if alias else 0 for alias in aliases]
        self._learn(filter(None, entries))
        names = [self._name(inode, entry, row[3]) for inode, entry, row in zip(inodes, entries, rows, strict=True)]
        if len(self._entries) > _ENTRIES_KEPT:
            self._entries.clear()
        again = self._inode_rows(addresses)
        return [
            name if row[0] == now[0] == inode.superblock and row[1] == now[1] == inode.number else None
            for name, inode, row, now in zip(names, inodes, rows, again, strict=True)
        ]

    def _inode_rows(self, addresses: list[int]) -> Iterable[tuple[int, ...]]:
        window = self._layout.inode
        return window.rows(
            self._memory.gather([address + window.start if address else 0 for address in addresses], window.length)
        )

    def _read_superblock(self, address: int) -> Superblock | None:
        window = self._layout.superblock
        (address,) = self._pointers.heap([address])
        if not address:
            return None
        kind, device, root = next(window.rows(self._memory.gather([address + window.start], window.length)))
        (kind,) = self._pointers.static([kind])
        name_at = int.from_bytes(self._memory.gather([kind + self._layout.kind_name], 8), "little") if kind else 0
        (name,) = self._memory.strings(self._pointers.static([name_at]))
        return Superblock(name, (device >> 20, device & 0xFFFFF), root) if name else None

    def _learn(self, addresses: Iterable[int]) -> None:
        """Read directory entries and all those above them."""
        window, wanted = self._layout.entry, {one for one in addresses if one not in self._entries}
        for _ in range(_DEPTH):
            batch = self._pointers.heap(list(wanted))
            batch = [address for address in batch if address]
            if not batch:
                return
            rows = list(window.rows(self._memory.gather([one + window.start for one in batch], window.length)))
            names = self._memory.strings(self._pointers.anywhere([row[1] for row in rows]))
            for address, row, name in zip(batch, rows, names, strict=True):
                self._entries[address] = _Entry(name, row[0], row[2] != 0)
            wanted = {row[0] for row in rows if row[0] not in self._entries}

    def _name(self, inode: Inode, entry: int, links: int) -> str:
        superblock = self.superblock(inode.superblock)
        if superblock is None:
            return f"inode {inode.number}"
        if superblock.kind == b"bdev":
            # the inode of a block device is numbered by its device
            return f"block device {inode.number >> 20}:{inode.number & 0xFFFFF}"
        known = self._entries.get(entry)
        path = self._path(entry, superblock.root)
        if path is None:
            path = b"/<inode %d>" % inode.number
        gone = " (deleted)" if links == 0 or (known is not None and not known.hashed) else ""
        return self._mounts.absolute(superblock.device, superblock.kind, path) + gone

    def _path(self, entry: int, root: int) -> bytes | None:
        """The path from the root of the file system; None when the entries do not lead there."""
        parts: list[bytes] = []
        for _ in range(_DEPTH):
            if entry == root:
                return b"/" + b"/".join(reversed(parts))
            known = self._entries.get(entry)
            if known is None or known.parent == entry:
                # memfd and System V memory hang on no root: their name stands alone
                return b"/" + known.name if known is not None and not parts and known.name not in (b"", b"/") else None
            parts.append(known.name)
            entry = known.parent
        return None


class Mounts:
    """Where file systems are mounted in this mount namespace."""

    def __init__(self, mountinfo: bytes) -> None:
        self._by_device: dict[tuple[int, int], list[tuple[bytes, bytes]]] = {}
        visible = {line[2]: line for line in _mount_lines(mountinfo)}
        for device, root, point in visible.values():
            self._by_device.setdefault(device, []).append((root, point))

    def absolute(self, device: tuple[int, int], kind: bytes, path: bytes) -> str:
        """Where the file `path` of a file system is; `kind:path` when that is not mounted here."""
        best: tuple[int, bytes] | None = None
        for root, point in self._by_device.get(device, ()):
            inside = _below(path, root)
            if inside is not None:
                # a mount of the whole file system is the clearest; else the one that needs least guessing
                rank = 1 << 16 if root == b"/" else len(root)
                if best is None or rank > best[0]:
                    best = rank, point.rstrip(b"/") + inside
        return os.fsdecode(best[1] if best else kind + b":" + path)


def _below(path: bytes, root: bytes) -> bytes | None:
    root = root.rstrip(b"/")
    return path[len(root) :] if path.startswith(root + b"/") else None


def _mount_lines(mountinfo: bytes) -> Iterable[tuple[tuple[int, int], bytes, bytes]]:
    """Device, root and mount point of each line; a later mount on the same point hides the earlier one."""
    for line in mountinfo.splitlines():
        fields = line.split(b" ")
        device = re.fullmatch(rb"(\d+):(\d+)", fields[2]) if len(fields) > 4 else None
        if device:
            yield (int(device[1]), int(device[2])), _unescape(fields[3]), _unescape(fields[4])


def _unescape(field: bytes) -> bytes:
    return re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8) & 0xFF]), field)
