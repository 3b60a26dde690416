"""Cgroups that a stage owns: made in every hierarchy it needs, removed depth-first, found gone."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

WANTED = {"name=systemd", "memory", "pids", "cpu", "cpuacct"}


def mounts(wanted: set[str] = WANTED) -> list[Path]:
    """Mount points of the hierarchies that carry one of `wanted`, and of cgroup2."""
    found = []
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2" or (kind == "cgroup" and wanted & set(options.split(","))):
            found.append(Path(where))
    return found


def make(name: str) -> list[Path]:
    """A cgroup of this name in every such hierarchy."""
    made = [mount / name for mount in mounts()]
    for path in made:
        path.mkdir()
    return made


def remove(paths: list[Path], patience_s: float = 5.0) -> list[Path]:
    """Remove the cgroups and all below them; whatever is still there after `patience_s` is returned."""
    deadline = time.monotonic() + patience_s
    while True:
        for path in paths:
            for folder, _, _ in os.walk(path, topdown=False):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
        left = [path for path in paths if path.exists()]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


def memory_path(pid: int) -> str:
    """The memory cgroup of a process, as its path below the mount."""
    unified = ""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return path
        unified = path if not controllers else unified
    return unified


def entering(cgroups: list[Path], command: list[str]) -> list[str]:
    """A command line that enters the cgroups first, so that nothing of `command` ever runs outside them."""
    enter = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"'
    return ["sh", "-c", enter, "sh", *(str(path / "cgroup.procs") for path in cgroups), "--", *command]
