"""Reading what others may have put into a store: regular files and nothing else, and no link is followed.

A pipe or a device in the place of a file must not hold up the recorder, nor a link show it somebody else's file.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def open_regular(path: Path) -> int:
    """A descriptor to read a regular file with. OSError for whatever else is there."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    except OSError:
        os.close(fd)
        raise
    return fd


def read_regular(path: Path, most: int = -1) -> bytes:
    """The bytes of a regular file, or its first `most`."""
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read(most)


def is_regular(path: Path) -> bool:
    """Whether there is a regular file, and no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
