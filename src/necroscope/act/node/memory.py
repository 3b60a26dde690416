"""Zombies and what pins them, the page cache, and directories of memory cgroups, on the live kernel."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from necroscope import clock
from necroscope.act import runner
from necroscope.act.node.doors import HeldZombie
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import Mount, layout
from necroscope.sense.host import Host
from necroscope.sense.kernel.memcg_walk import walk_memcgs
from necroscope.sense.kernel.zombies import Zombie

WALK_S = 30.0
DIRECTORIES_MOST = 10_000
YOUNG_S = 60.0
SEEN_S, DROP_S = 1.0, 60.0
AGAIN, AGAIN_S = 3, 0.1
_OWNED = (".slice", ".service", ".scope", ".mount", ".swap", ".socket", ".automount", ".target", ".device")


class LiveMemory:
    """The memory cgroups of this node."""

    def __init__(self, host: Host | None = None, young_s: float = YOUNG_S) -> None:
        self._host, self._young_s = host or Host(), young_s
        self._used: dict[str, int] = {}
        self._looked_s = -SEEN_S

    def zombies(self, below: str) -> list[HeldZombie]:
        """The zombies below a cgroup, each with what pins it. The kernel takes pages off their lists for moments: where
        that hides what pins one, all are looked at again."""
        found = self._zombies(below)
        for _ in range(AGAIN):
            if all(one.kinds and "unknown" not in one.kinds for one in found):
                break
            clock.sleep(AGAIN_S)
            found = self._zombies(below)
        return found

    def _zombies(self, below: str) -> list[HeldZombie]:
        found: list[HeldZombie] = []
        start = below.rstrip("/") + "/"

        def take(zombie: Zombie) -> None:
            if zombie.path.startswith(start):
                found.append(HeldZombie(zombie.path, tuple(pin.kind for pin in zombie.pins), zombie.files))

        walked = walk_memcgs(self._host, WALK_S, take)
        if any("time" in reason for reason in walked.reasons):
            raise Unavailable("there are too many cgroups to look at what pins each", "name a smaller subtree")
        return found

    def count(self, below: str) -> int:
        """How many zombies there are below a cgroup; of a walk that was cut short, how many it came to."""
        start = below.rstrip("/") + "/"
        walked = walk_memcgs(self._host, WALK_S, files_of_each=False)
        return sum(row.zombies for row in walked.by_parent if f"{row.path.rstrip('/')}/".startswith(start))

    def identity(self, path: str) -> str:
        """`device:inode` of a path, not followed."""
        try:
            status = os.lstat(path)
        except OSError:
            return ""
        return _identity(status)

    def directory(self, cgroup: str) -> str:
        """The directory of a live memory cgroup."""
        mount = self._mount()
        if not f"{cgroup}/".startswith(f"{mount.root.rstrip('/')}/") or ".." in cgroup.split("/"):
            return ""
        path = mount.path + cgroup.removeprefix(mount.root.rstrip("/"))
        return path.rstrip("/") or "/" if Path(path).is_dir() else ""

    def empty_directories(self, below: str) -> list[tuple[str, str]]:
        """Empty directories below, deepest first: without a process, old enough, and not systemd's."""
        top = self.directory(below)
        if not top:
            return []
        oldest_s = clock.now().realtime_ns / clock.NS - self._young_s
        found: list[tuple[str, str]] = []
        full: set[str] = set()
        for folder, names, _ in os.walk(top, topdown=False):
            keeps = any(f"{folder}/{name}" in full for name in names)
            if folder == top:
                continue
            status = os.lstat(folder)
            if keeps or folder.endswith(_OWNED) or status.st_ctime > oldest_s or _populated(folder):
                full.add(folder)
            elif len(found) < DIRECTORIES_MOST:
                found.append((folder, _identity(status)))
        return found

    def drop_cache(self, files: Sequence[tuple[str, str]]) -> str:
        """Write back and drop the page cache of files that are still who they were, in a child: a disk, or a file
        system of somebody's own, may never answer."""
        ran = runner.run_module("necroscope.act.node.drop_child", [], DROP_S, json.dumps(list(files)).encode())
        if ran.status != 0:
            end = f"stopped after {DROP_S:g} s" if ran.stopped else "broke off"
            raise Unavailable(f"dropping the cache of {len(files)} files {end}", "some of them may be dropped")
        return ran.words

    def reclaim(self, directory: str, budget_s: float) -> str:
        """Reclaim in a child, which is killed when the budget is spent."""
        ran = runner.run_module("necroscope.act.node.reclaim_child", [directory], budget_s)
        if ran.status == 2:
            raise Unavailable(
                "this kernel offers no reclaim of a subtree", "it has neither memory.reclaim nor force_empty"
            )
        end = f"stopped after its budget of {budget_s:g} s" if ran.stopped else f"done in {ran.wall_s:.2f} s"
        return f"{end}, {ran.kernel_s:.2f} s in the kernel"

    def remove(self, directories: Sequence[tuple[str, str]]) -> str:
        """Remove each that is still who it was; the kernel refuses those that are in use."""
        gone = kept = 0
        for path, identity in directories:
            try:
                if self.identity(path) != identity:
                    raise OSError
                os.rmdir(path)  # noqa: PTH106
                gone += 1
            except OSError:
                kept += 1
        return f"removed {gone}" + (f"; {kept} are in use, gone or others now" if kept else "")

    def user_of(self, identity: str) -> int | None:
        """A process that has a file open or mapped, as of a second ago at most; None where none is seen to."""
        if clock.elapsed_s() - self._looked_s > SEEN_S:
            self._used = {}
            for pid in map(int, filter(str.isdecimal, _names("/proc"))):
                for used in _used_by(pid):
                    self._used.setdefault(used, pid)
            self._looked_s = clock.elapsed_s()
        return self._used.get(identity)

    def _mount(self) -> Mount:
        mount = layout(self._host).mount_of("memory")
        if mount is None:
            raise Unavailable("no mounted hierarchy has the memory controller", "mount it first")
        return mount


def _identity(status: os.stat_result) -> str:
    return f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"


def _populated(folder: str) -> bool:
    """Whether a cgroup holds a process; one that does not tell is taken to."""
    try:
        with open(f"{folder}/cgroup.procs", "rb") as file:
            return bool(file.read(16))
    except OSError:
        return True


def _used_by(pid: int) -> Iterator[str]:
    """Files that a process has open or mapped, as far as it can be looked at."""
    for name in _names(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            yield _identity(Path(f"/proc/{pid}/fd/{name}").stat())
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/maps").read_bytes().splitlines():
            _, _, _, device, inode, *_ = line.split()
            if inode != b"0":
                major, _, minor = device.partition(b":")
                yield f"{int(major, 16)}:{int(minor, 16)}:{int(inode)}"


def _names(folder: str) -> list[str]:
    try:
        return [path.name for path in Path(folder).iterdir()]
    except OSError:
        return []
