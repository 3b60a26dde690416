"""BTF out of kernels' images, and excerpts of it."""

from __future__ import annotations

import gzip
import json
import lzma
import struct
from pathlib import Path

import pytest
from guests.btf import VALUES, WANTED, btf_of, excerpt, unpacked
from guests.excerpts import text
from guests.fetching import Unfetchable
from kernel.btf_builder import BtfBuilder

from necroscope.sense.kernel.btf import Btf

KERNEL = b"code and data, and what is packed in them. " * 9


def types() -> bytes:
    b = BtfBuilder()
    head = b.struct("list_head", 16, [("next", b.ptr, 0), ("prev", b.ptr, 8)])
    b.struct("folio", 64, [("lru", head, 8), ("mapping", b.ptr, 24)])
    b.struct("css_set", 96, [("subsys", b.array(b.ptr, 12), 0)])
    b.enum("", {"CSS_ONLINE": 2})
    return bytes(b)


def x86_image(payload: bytes) -> bytes:
    head = bytearray(0x400)
    head[0x1F1], head[0x202:0x206] = 3, b"HdrS"
    struct.pack_into("<II", head, 0x248, 0x100, len(payload) + 4)
    return bytes(head) + bytes(0x400 + 0x100) + payload + struct.pack("<I", len(KERNEL)) + b"what follows"


def test_the_kernel_in_its_image() -> None:
    assert unpacked(x86_image(lzma.compress(KERNEL))) == KERNEL
    assert unpacked(gzip.compress(KERNEL)) == KERNEL
    packed = gzip.compress(KERNEL)
    assert unpacked(b"MZ\0\0zimg" + struct.pack("<II", 64, len(packed)) + bytes(48) + packed) == KERNEL
    plain = bytes(0x38) + b"ARM\x64" + KERNEL
    assert unpacked(plain) == plain
    with pytest.raises(Unfetchable, match="packed in a way"):
        unpacked(x86_image(b"BZh9"))


def test_types_are_found_behind_what_only_looks_like_them(tmp_path: Path) -> None:
    image, header = tmp_path / "vmlinuz", types()[:8]
    image.write_bytes(bytes(0x38) + b"ARM\x64" + header + b"no types" * 9 + types() + KERNEL)
    assert btf_of(image) == types()
    image.write_bytes(bytes(0x38) + b"ARM\x64" + header + b"no types" * 9)
    with pytest.raises(Unfetchable, match="has no BTF"):
        btf_of(image)


def test_an_excerpt_tells_what_is_there_and_what_is_not() -> None:
    document = json.loads(text(excerpt(Btf(types()), "6.1.0-50-cloud-amd64", "amd64")))
    assert (document["kernel"], document["architecture"]) == ("6.1.0-50-cloud-amd64", "amd64")
    assert (document["sizes"].keys(), document["members"].keys()) == (WANTED.keys(), WANTED.keys())
    assert (document["sizes"]["folio"], document["sizes"]["page"]) == (64, None)
    assert document["members"]["folio"] == {"lru": [8, 16, [], 0], "lru.next": [8, 8, [], 0], "mapping": [24, 8, [], 0]}
    assert document["members"]["css_set"]["subsys"] == [0, 96, [12], 8]
    assert document["members"]["cgroup"]["kn"] is None
    assert document["values"] == {name: 2 if name == "CSS_ONLINE" else None for name in VALUES}
