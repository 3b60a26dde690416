"""Opening a path below a root without leaving it: openat2, and a walk by hand where the kernel has none (before 5.6).

A path is found first (`O_PATH`, which opens nothing: no device is touched, no FIFO woken), looked at, and only a
regular file is opened for reading.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct

from necroscope.sense.confined.refusal import Refusal

_OPENAT2 = 437
_NO_MAGICLINKS, _IN_ROOT = 0x02, 0x10
_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FUSE_MAGIC = 0x65735546
_REASONS = {
    errno.EACCES: Refusal.DENIED,
    errno.EPERM: Refusal.DENIED,
    errno.ELOOP: Refusal.LINK,
    errno.EXDEV: Refusal.LINK,
}


class Refused(Exception):
    """The file is not handed out."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason = reason


def refused(error: OSError) -> Refused:
    """An error of the kernel as a reason."""
    return Refused(_REASONS.get(error.errno or 0, Refusal.GONE))


def open_regular(root: int, path: str) -> int:
    """A regular file below the directory `root`, open for reading. Raises `Refused`."""
    try:
        place = locate(root, path)
    except OSError as error:
        raise refused(error) from error
    try:
        _check(place)
        return os.open(f"/proc/self/fd/{place}", _READ)
    except OSError as error:
        raise refused(error) from error
    finally:
        os.close(place)


def locate(root: int, path: str) -> int:
    """What the path names, as a descriptor that can only be looked at."""
    try:
        return _openat2(root, path)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
    return walk(root, path)


def walk(root: int, path: str) -> int:
    """Component by component, following no link at all."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        raise OSError(errno.ELOOP, "the path has no last name, or goes up")
    here = os.dup(root)
    for part in parts[:-1]:
        try:
            below = os.open(part, _PATH, dir_fd=here)
        finally:
            os.close(here)
        here = below
    try:
        found = os.open(parts[-1], _PATH, dir_fd=here)
    finally:
        os.close(here)
    return found


def _check(place: int) -> None:
    mode = os.fstat(place).st_mode
    if stat.S_ISLNK(mode):
        raise Refused(Refusal.LINK)
    if not stat.S_ISREG(mode):
        raise Refused(Refusal.NOT_REGULAR)
    if file_system(place) == _FUSE_MAGIC:
        # A read that its daemon does not answer cannot even be killed.
        raise Refused(Refusal.FUSE)


def file_system(fd: int) -> int:
    """The magic number of the file system; 0 when it cannot be asked. Python's own call leaves it out."""
    room = ctypes.create_string_buffer(256)
    if _libc().fstatfs(fd, room) != 0:
        return 0
    return int.from_bytes(room.raw[: struct.calcsize("@l")], "little") & 0xFFFFFFFF


def _openat2(root: int, path: str) -> int:
    how = struct.pack("=QQQ", _PATH, 0, _IN_ROOT | _NO_MAGICLINKS)
    name = os.fsencode(path)
    fd = int(_libc().syscall(_OPENAT2, root, ctypes.c_char_p(name), ctypes.c_char_p(how), len(how)))
    if fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return fd


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
