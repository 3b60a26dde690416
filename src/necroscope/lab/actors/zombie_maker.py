"""The process that makes zombies, one after the other: enter a cgroup, leave a page behind, leave, remove it.

Run by `zombies` as `python -m necroscope.lab.actors.zombie_maker KIND COUNT PARENT HOME FOLDER`, with one name per line
on standard input. Files are named like the cgroups; where names come again, by numbers. It prints `ready` when all are
made; a maker of anonymous pages then lives, and with it its zombies, until its standard input ends. It stays on one
CPU: pages wait in a batch of their CPU until a process ends there.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from necroscope.lab.actors.timing import answer

PAGE = b"necroscope" + bytes(mmap.PAGESIZE - 10)
_REMOVAL_TRIES = 2000


def make_all(kind: str, names: list[str], parent: Path, home: Path, folder: Path) -> object:
    """One zombie for each name. What is returned has to be kept for as long as the zombies shall stay."""
    master = os.getppid()
    home_fd = os.open(home / "cgroup.procs", os.O_WRONLY)
    held = mmap.mmap(-1, max(1, len(names)) * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.madvise(mmap.MADV_NOHUGEPAGE)
    once = len(set(names)) == len(names)
    try:
        for index, name in enumerate(names):
            if os.getppid() != master:
                raise SystemExit("whoever wanted these zombies is gone")
            if kind == "anon":
                make_one(parent / name, home_fd, partial(held.__setitem__, index * mmap.PAGESIZE, 1))
            else:
                _make_with_file(
                    parent / name, home_fd, folder / (name if once else str(index)), sync=kind == "page-cache"
                )
    finally:
        os.close(home_fd)
    return held


def _make_with_file(cgroup: Path, home_fd: int, file: Path, sync: bool) -> None:
    # the file is made and synced outside, or blocks of its directory would be charged to the cgroup as well
    fd = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        make_one(cgroup, home_fd, lambda: os.write(fd, PAGE))
        if sync:
            os.fsync(fd)
    finally:
        os.close(fd)


def make_one(cgroup: Path, home_fd: int, charge: Callable[[], object]) -> None:
    """Enter a new cgroup, charge something to it, go home, remove it."""
    cgroup.mkdir()
    try:
        enter = os.open(cgroup / "cgroup.procs", os.O_WRONLY)
        try:
            os.write(enter, b"0")
        finally:
            os.close(enter)
        charge()
    finally:
        os.write(home_fd, b"0")
        _remove(cgroup)


def _remove(cgroup: Path) -> None:
    for _ in range(_REMOVAL_TRIES):
        try:
            cgroup.rmdir()
        except OSError:
            time.sleep(0.001)
        else:
            return
    cgroup.rmdir()


def _drain() -> None:
    """Let a process end on this CPU: that empties the CPU's batch of pages onto their lists."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def main() -> None:
    """See the module."""
    kind, count, parent, home, folder = sys.argv[1:]
    names = [sys.stdin.readline().rstrip("\n") for _ in range(int(count))]
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    held = make_all(kind, names, Path(parent), Path(home), Path(folder))
    _drain()
    answer("ready")
    if kind == "anon":
        sys.stdin.read()
    del held


if __name__ == "__main__":
    main()
