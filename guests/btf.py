"""The description of its own types (BTF) that a kernel carries, out of its image; and excerpts of it, to be kept.

An x86 image holds the kernel packed, at the place that its header tells; an arm64 one is the kernel, or a program that
unpacks it (`zimg`). In the kernel, BTF begins with its own header.
"""

from __future__ import annotations

import lzma
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

from guests.fetching import Unfetchable
from necroscope.errors import Unavailable
from necroscope.sense.kernel.btf import Btf

_HEADER = struct.pack("<HBBI", 0xEB9F, 1, 0, 24)
_SECTORS_AT, _X86_AT, _PAYLOAD_AT = 0x1F1, 0x202, 0x248
_ARM64_AT = 0x38
_PROGRAMS = {b"\x28\xb5\x2f\xfd": "zstd", b"\x02\x21\x4c\x18": "lz4"}
_LIST, _LRU_GEN = "list_head", "lruvec.lrugen"

# What the walk over memory cgroups and its tests ask for, older names too. A name without members: its size alone.
WANTED: dict[str, tuple[str, ...]] = {
    "cgroup_subsys_state": (
        "cgroup",
        "refcnt.percpu_count_ptr",
        "refcnt.data",
        "sibling",
        "sibling.next",
        "sibling.prev",
        "children",
        "children.next",
        "flags",
        "serial_nr",
        "parent",
    ),
    "percpu_ref_data": ("count",),
    "cgroup": (
        "kn",
        "nr_descendants",
        "nr_populated_csets",
        "self.nr_populated_csets",
        "nr_populated_domain_children",
        "nr_populated_threaded_children",
    ),
    "kernfs_node": ("name", "id"),
    "mem_cgroup": (
        "css",
        "memory.usage",
        "socket_pressure",
        "nodeinfo",
        "tcpmem.usage",
        "vmstats",
        "vmstats.state",
    ),
    "memcg_vmstats": ("state",),
    "mem_cgroup_per_node": (
        "lru_zone_size",
        "lruvec.lists",
        _LRU_GEN,
        f"{_LRU_GEN}.folios",
        f"{_LRU_GEN}.lists",
        f"{_LRU_GEN}.nr_pages",
    ),
    "folio": ("lru", "lru.next", "mapping"),
    "page": ("lru", "lru.next", "mapping"),
    "inode": ("i_sb", "i_ino", "i_dentry.first", "i_nlink", "i_data", "i_data.host"),
    "super_block": ("s_type", "s_dev", "s_root"),
    "file_system_type": ("name",),
    "dentry": ("d_parent", "d_name.name", "__d_name.name", "d_hash.pprev", "d_u", "d_u.d_alias", "d_alias"),
    "task_struct": ("cgroups",),
    "css_set": ("subsys",),
}
VALUES = ("memory_cgrp_id", "CSS_ONLINE", "CSS_DYING", "MEMCG_SOCK", "MEMCG_NR_STAT")


def excerpt(btf: Btf, kernel: str, architecture: str) -> dict[str, Any]:
    """What a kernel's BTF says of WANTED and VALUES; None for what it does not have."""
    there = {name: paths for name, paths in WANTED.items() if btf.has_struct(name)}
    return {
        "kernel": kernel,
        "architecture": architecture,
        "sizes": {name: btf.sizeof(name) if name in there else None for name in WANTED},
        "members": {
            name: {path: _member(btf, name, path) if name in there else None for path in paths}
            for name, paths in WANTED.items()
        },
        "values": {name: btf.enum_value(name) for name in VALUES},
    }


def btf_of(image: Path) -> bytes:
    """The BTF in a kernel's image; `Unfetchable` where there is none."""
    kernel = unpacked(image.read_bytes())
    at = kernel.find(_HEADER)
    while at >= 0:
        strings_at, strings = struct.unpack_from("<II", kernel, at + 16)
        data = kernel[at : at + 24 + strings_at + strings]
        if _is_whole(data):
            return data
        at = kernel.find(_HEADER, at + 1)
    raise Unfetchable(f"{image.name} has no BTF")


def unpacked(image: bytes) -> bytes:
    """The kernel in its image."""
    if image[_X86_AT : _X86_AT + 4] == b"HdrS":
        at, size = struct.unpack_from("<II", image, _PAYLOAD_AT)
        begin = (image[_SECTORS_AT] + 1) * 512 + at
        # its last four bytes are the length of what is unpacked
        return _expanded(image[begin : begin + size - 4])
    if image[4:8] == b"zimg":
        at, size = struct.unpack_from("<II", image, 8)
        return _expanded(image[at : at + size])
    if image[_ARM64_AT : _ARM64_AT + 4] == b"ARM\x64":
        return image
    return _expanded(image)


def _expanded(data: bytes) -> bytes:
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(data)
    if data.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(31).decompress(data)
    for magic, program in _PROGRAMS.items():
        if data.startswith(magic):
            return subprocess.run([program, "-dcq"], input=data, check=False, capture_output=True).stdout
    raise Unfetchable(f"a kernel that is packed in a way ({data[:4].hex()}) that is not known")


def _is_whole(data: bytes) -> bool:
    try:
        return Btf(data).has_struct(_LIST)
    except Unavailable:
        return False


def _member(btf: Btf, name: str, path: str) -> list[Any] | None:
    """Offset, size, dimensions, size of an element."""
    if not btf.has(name, path):
        return None
    found = btf.member(name, path)
    return [found.offset, found.size, list(found.counts), found.element_size]
