"""Cgroups of our own making on the live host: where they go, how v2 hands memory down, how a tree is removed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import Mount, layout
from necroscope.sense.host import Host


def remove_tree(top: Path, patience_s: float = 5.0) -> None:
    """Depth-first; a cgroup whose last process is just leaving refuses for a moment."""
    ends = clock.elapsed_s() + patience_s
    while top.exists():
        for folder, _, _ in os.walk(top, topdown=False):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
        if clock.elapsed_s() > ends:
            return
        clock.sleep(0.02 if top.exists() else 0)


def memory_mount() -> Mount:
    """Where the hierarchy with the memory controller is mounted."""
    mount = layout(Host()).mount_of("memory")
    if mount is None:
        raise Unavailable("no mounted hierarchy has the memory controller", "mount it first")
    return mount


def home(mount: Mount) -> Path:
    """The cgroup we are in, to which a maker returns."""
    unified = "/"
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(",") and not mount.v2:
            return Path(mount.path + path.removeprefix(mount.root.rstrip("/")))
        unified = path if not controllers else unified
    return Path(mount.path + unified.removeprefix(mount.root.rstrip("/")))


def enable_memory(cgroup: Path) -> bool:
    """Hand the memory controller down (v2); True when that was not so before."""
    control = cgroup / "cgroup.subtree_control"
    if "memory" in control.read_text().split():
        return False
    write(control, "+memory")
    return True


def dying_descendants(cgroup: Path) -> int | None:
    """Removed cgroups below that are kept (v2); None where the kernel does not say."""
    try:
        lines = (cgroup / "cgroup.stat").read_text().splitlines()
    except OSError:
        return None
    values = dict(line.split() for line in lines)
    return int(values["nr_dying_descendants"]) if "nr_dying_descendants" in values else None


def write(path: Path, text: str) -> None:
    """One write to a control file, which takes effect at once or raises."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
