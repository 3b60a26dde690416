"""cpio archives as the kernel unpacks them (`newc`): a header of 13 hexadecimal numbers, name and content, each padded.

070701 inode mode uid gid links mtime size major minor rmajor rminor namesize check
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_MAGIC = "070701"
_END = "TRAILER!!!"


@dataclass(frozen=True)
class Member:
    """A file or folder: path without a leading slash, content, type and permissions as `stat` has them."""

    path: str
    content: bytes
    mode: int


def cpio(members: Iterable[Member]) -> bytes:
    """The archive; a folder comes before what is in it."""
    parts = [_record(number, one) for number, one in enumerate(members, 1)]
    return b"".join([*parts, _record(0, Member(_END, b"", 0))])


def _record(inode: int, member: Member) -> bytes:
    name = member.path.encode() + b"\0"
    numbers = (inode, member.mode, 0, 0, 1, 0, len(member.content), 0, 0, 0, 0, len(name), 0)
    header = (_MAGIC + "".join(f"{number:08x}" for number in numbers)).encode()
    return _padded(header + name) + _padded(member.content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
