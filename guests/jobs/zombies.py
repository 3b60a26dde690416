"""Removed memory cgroups of every kind: `scan` must count them as the kernel does, name each, and say what pins it.

    shm      a file of a tmpfs that stays
    log      a file of a disk whose pages stay
    moved    memory of a process that went on into another cgroup
    socket   unread bytes of connections that somebody else holds by now
    nothing  a process that ended: none of them may remain

From 7 on, pages are handed on to the parent: those of shm and moved do not remain either. Those of log do, as long as
the file's inode is in memory; by what is not told.
"""

from __future__ import annotations

import array
import mmap
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from guests.jobs.program import document, say

COUNTS = {"shm": 8, "log": 8, "moved": 6, "socket": 4, "nothing": 4}
_SHM, _LOGS = Path("/dev/shm"), Path("/root")
_V1, _V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
# More than what a CPU keeps back from lists and counters.
_BYTES = 1 << 18
_FILES = ("tmpfs", "page-cache")
_MOMENT_S, _SETTLES_S = 4.0, 60.0
# From here on, pages keep no cgroup; from here on, v2 does not tell what is in sockets.
HANDED_ON, _SOCKETS_UNTOLD = (7, 0), (6, 10)


def main() -> int:
    """0 when all were counted, named, and what pins them was told."""
    root = memory_root()
    parent = root / "leaky"
    parent.mkdir()
    if root == _V2:
        (parent / "cgroup.subtree_control").write_text("+memory")
    _connection()  # what that needs is read from the disk once, and out here
    with Makers(root) as makers:
        for kind, count in COUNTS.items():
            for number in range(count):
                makers.leave(parent / f"{kind}-{number}", kind)
        kinds = expected(os.uname().release, root == _V2)
        there = _settled(root, sum(count for count, _ in kinds.values()))
        seen = document("scan")["cgroups"]["memory"]
    say(f"{there} there; scan: {seen['zombies']} by {seen['counted_by']}, by parent {seen['by_parent']}")
    for family in seen["families"]:
        say(f"  {family['pattern']}: {family['zombies']}, pinned by {family['pins']}")
    wrong = [*wrongs(seen, there, kinds)]
    say("\n".join(f"wrong: {one}" for one in wrong) or "all right")
    return 1 if wrong else 0


def memory_root() -> Path:
    """Where memory cgroups are."""
    return _V1 if _V1.exists() else _V2


def version(release: str) -> tuple[int, ...]:
    """The first two numbers of a kernel's release."""
    return tuple(int(part) for part in release.split("-", maxsplit=1)[0].split(".")[:2])


def expected(release: str, v2: bool) -> dict[str, tuple[int, str]]:
    """How many of each kind remain, and what pins them."""
    sockets = "kernel" if not v2 or version(release) < _SOCKETS_UNTOLD else "unknown"
    pins = (
        {"shm": "tmpfs", "log": "page-cache", "moved": "anon"} if version(release) < HANDED_ON else {"log": "unknown"}
    )
    return {kind: (COUNTS[kind], pin) for kind, pin in {**pins, "socket": sockets}.items()}


def wrongs(seen: dict[str, Any], there: int, kinds: dict[str, tuple[int, str]]) -> Iterator[str]:
    """What `scan` did not see as it is."""
    below = sum(one["zombies"] for one in seen["by_parent"] if one["path"] == "/leaky")
    total = sum(count for count, _ in kinds.values())
    if not there == below == seen["zombies"] == total:
        yield f"{total} were made, {there} are there, {seen['zombies']} were counted, {below} below their parent"
    families = {family["pattern"]: family for family in seen["families"]}
    for pattern in families.keys() - {f"/leaky/{kind}-<n>" for kind in kinds}:
        yield f"{pattern} should not be there"
    for kind, (count, pin) in kinds.items():
        family = families.get(f"/leaky/{kind}-<n>", {"zombies": 0, "pins": [], "newest": []})
        if family["zombies"] != count or {*family["newest"]} != {f"/leaky/{kind}-{number}" for number in range(count)}:
            yield f"{kind}: {count} were made, {family['zombies']} named: {family['newest']}"
        if [one["kind"] for one in family["pins"][:1]] != [pin]:
            yield f"{kind}: pinned by {pin}, and {family['pins']} was seen"
        elif pin in _FILES and not any(f"/{kind}-" in file for file in family["pins"][0]["files"]):
            yield f"{kind}: no file is named"


def _dying(root: Path) -> int:
    """The kernel's own count: of the files of cgroup v2, or of v1's total without the directories."""
    if root == _V2:
        lines = (root / "cgroup.stat").read_text("utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("nr_dying_descendants"))
    rows = (line.split() for line in Path("/proc/cgroups").read_text("utf-8").splitlines())
    total = next(int(row[2]) for row in rows if row[0] == "memory")
    return total - 1 - sum(path.is_dir() for path in root.rglob("*"))


def _settled(root: Path, total: int) -> int:
    """The kernel's count when it is `total`, or after a minute: it lets go of some later."""
    began_s = time.monotonic()
    time.sleep(_MOMENT_S)
    while (there := _dying(root)) != total and time.monotonic() - began_s < _SETTLES_S:
        time.sleep(1.0)
    say(f"{there} there after {time.monotonic() - began_s:.0f} s")
    return there


class Makers:
    """Processes that do something in a cgroup and leave it behind; those that stay alive end with the block."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._alive: list[int] = []
        self._held: list[int] = []

    def __enter__(self) -> Makers:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self._alive:
            os.kill(pid, 9)
            os.waitpid(pid, 0)

    def leave(self, cgroup: Path, kind: str) -> None:
        """Make a cgroup, have something done in it, and remove it."""
        cgroup.mkdir()
        with suppress(OSError):  # v1 accounts sockets where there is a limit
            (cgroup / "memory.kmem.tcp.limit_in_bytes").write_text(str(1 << 30))
        here, there = socket.socketpair()
        pid = os.fork()
        if not pid:
            _within(cgroup, there, {"shm": _file, "log": _file, "moved": self._move}.get(kind, _nothing), kind)
        if kind == "socket":
            _, fds, _, _ = socket.recv_fds(here, 1, 2)
            self._held += fds
        else:
            here.recv(1)
        if kind == "moved":
            self._alive.append(pid)
        else:
            os.waitpid(pid, 0)
        cgroup.rmdir()
        here.close()
        there.close()

    def _move(self, cgroup: Path) -> None:
        self._memory = mmap.mmap(-1, _BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._memory.write(bytes(_BYTES))
        (self._root / "cgroup.procs").write_text(str(os.getpid()))


def _within(cgroup: Path, there: socket.socket, do: Callable[[Path], None], kind: str) -> None:
    """In the new process: enter the cgroup, do it, tell that it is done. Never returns."""
    (cgroup / "cgroup.procs").write_text(str(os.getpid()))
    if kind == "socket":
        ends = _connection()
        socket.send_fds(there, [b"x"], array.array("i", [one.fileno() for one in ends]).tolist())
        os._exit(0)
    do(cgroup)
    there.send(b"x")
    if kind == "moved":
        time.sleep(600)
    os._exit(0)


def _file(cgroup: Path) -> None:
    folder = _SHM if cgroup.name.startswith("shm") else _LOGS
    with (folder / cgroup.name).open("wb") as file:
        file.write(bytes(_BYTES))
        file.flush()
        os.fsync(file.fileno())


def _nothing(_: Path) -> None:
    pass


def _connection() -> tuple[socket.socket, socket.socket]:
    """A connection, and what nobody has read of it."""
    listening = socket.create_server(("127.0.0.1", 0))
    writing = socket.create_connection(listening.getsockname())
    reading, _ = listening.accept()
    writing.setblocking(False)
    with suppress(BlockingIOError):
        for _ in range(64):
            writing.send(bytes(1 << 14))
    return writing, reading


if __name__ == "__main__":
    sys.exit(main())
