"""The process that drops page cache: `python -m necroscope.act.node.drop_child`, with pairs of path and
`major:minor:inode` as JSON on standard input. It may be killed at any moment: nothing of it has to be put back.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def dropped(path: str, identity: str) -> bool:
    """Drop the cache of one file, if it is that one. What is no regular file is not even opened."""
    try:
        if not _same(os.lstat(path), identity):
            return False
        fd = os.open(path, _OPEN)
    except OSError:
        return False
    try:
        if not _same(os.fstat(fd), identity):
            return False
        with contextlib.suppress(OSError):  # what cannot be written back stays
            os.fdatasync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
    return True


def _same(status: os.stat_result, identity: str) -> bool:
    there = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"
    return stat.S_ISREG(status.st_mode) and there == identity


def main() -> None:
    """Drop them all, and say how many."""
    files = json.load(sys.stdin)
    done = sum(dropped(path, identity) for path, identity in files)
    other = len(files) - done
    sys.stdout.write(f"dropped the cache of {done} files" + (f"; {other} are gone or are others now" if other else ""))


if __name__ == "__main__":
    main()
