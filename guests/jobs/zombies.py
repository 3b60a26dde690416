"""Removed memory cgroups that files of a tmpfs keep: `scan` must count as many as the kernel, below their parent.

Says what `scan` saw of them; names and what pins them come from kernel memory, whose layout differs. From 7 on such
files keep no cgroup any more, and none is the right count.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from guests.jobs.program import document, say

COUNT = 24
_NOT_FROM = 7
_PINNED = Path("/dev/shm")
_V1, _V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


def main() -> int:
    """0 when all were counted and their parent was named."""
    root = _V1 if _V1.exists() else _V2
    parent = root / "leaky"
    parent.mkdir()
    if root == _V2:
        (parent / "cgroup.subtree_control").write_text("+memory")
    for number in range(COUNT):
        _leave(parent / f"run-{number}", _PINNED / f"leaky-{number}")
    time.sleep(2)
    there = _dying(root)
    seen = document("scan")["cgroups"]["memory"]
    say(f"{COUNT} made, {there} there; scan: {seen['zombies']} by {seen['counted_by']}, by parent {seen['by_parent']}")
    for family in seen["families"]:
        say(f"  {family['pattern']}: {family['zombies']}, pinned by {family['pins']}")
    return 0 if made(there, os.uname().release) and right(seen, there) else 1


def made(there: int, release: str) -> bool:
    """Whether there is something to count, on a kernel that keeps what was removed."""
    return there == COUNT or int(release.partition(".")[0]) >= _NOT_FROM


def right(seen: dict[str, Any], there: int) -> bool:
    """Whether they were counted, and are below the right parent."""
    below = sum(one["zombies"] for one in seen["by_parent"] if one["path"] == "/leaky")
    return bool(there == below == seen["zombies"])


def _dying(root: Path) -> int:
    """The kernel's own count: of the files of cgroup v2, or of v1's total without the directories."""
    if root == _V2:
        lines = (root / "cgroup.stat").read_text("utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("nr_dying_descendants"))
    rows = (line.split() for line in Path("/proc/cgroups").read_text("utf-8").splitlines())
    total = next(int(row[2]) for row in rows if row[0] == "memory")
    return total - 1 - sum(path.is_dir() for path in root.rglob("*"))


def _leave(cgroup: Path, file: Path) -> None:
    """A cgroup whose one process writes a file and ends; then it is removed."""
    cgroup.mkdir()
    code = f"echo $$ > {cgroup}/cgroup.procs; head -c 65536 /dev/zero > {file}"
    subprocess.run(["/bin/busybox", "sh", "-c", code], check=True)
    cgroup.rmdir()


if __name__ == "__main__":
    sys.exit(main())
