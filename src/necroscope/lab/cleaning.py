"""Removes what a run made, by its undo log: processes by pid and start, then what they held.

Everything may be gone already, and everything may be half made. What cannot be removed is reported.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from necroscope import clock
from necroscope.lab.undo_log import PREFIX, Entry, UndoLog, place, start_of

_END_S = 5.0
_RELEASE_S = 20.0
_FEW = 300


def clean_run(undo_log: UndoLog) -> list[str]:
    """Remove everything in the undo log, and the undo log. What is still there is returned, in words."""
    by_kind: dict[str, list[Entry]] = {}
    for entry in undo_log.entries():
        by_kind.setdefault(entry.kind, []).append(entry)
    cgroups = [path for entry in by_kind.get("cgroup", []) for path in in_all_hierarchies(entry.path)]
    lift_limits(cgroups)
    left = [f"process {pid}" for pid in end_processes(by_kind.get("process", []))]
    left += [f"process {pid}" for pid in end_members(cgroups)]
    for entry in by_kind.get("setting", [])[::-1]:
        with contextlib.suppress(OSError):
            Path(entry.path).write_text(entry.old)
    for entry in by_kind.get("link", []):
        _quietly("ip", "link", "delete", entry.path)
    folders = [entry.path for entry in by_kind.get("folder", [])]
    left += [
        f"mount {point}" for point in unmount_below([*folders, *(entry.path for entry in by_kind.get("mount", []))])
    ]
    left += [f"folder {folder}" for folder in folders if not _remove_folder(Path(folder))]
    for entry in by_kind.get("cache", []):
        _remove_cache(Path(entry.path))
    _forget_containers(f"{PREFIX}{undo_log.run}")
    wait_for_release(cgroups)
    left += [f"cgroup {path}" for path in remove_cgroups(cgroups)]
    if not left:
        undo_log.close()
        with contextlib.suppress(OSError):
            place().rmdir()
    return left


# -- processes -------------------------------------------------------------------------------------------


def end_processes(entries: list[Entry]) -> list[int]:
    """Kill processes that are still the ones that were written down; the pids of those that outlive it."""
    return _killed(lambda: [one.pid for one in entries if one.start and start_of(one.pid) == one.start], _END_S)


def _killed(living: Callable[[], Iterable[int]], patience_s: float) -> list[int]:
    """Kill processes until none of them lives; those that outlive it."""
    ends = clock.elapsed_s() + patience_s
    while left := list(living()):
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if clock.elapsed_s() > ends:
            return left
        clock.sleep(0.02)
    return []


def members(cgroups: list[Path]) -> set[int]:
    """Pids in the cgroups and below them."""
    found: set[int] = set()
    for cgroup in cgroups:
        for folder, _, _ in os.walk(cgroup):
            with contextlib.suppress(OSError, ValueError):
                found.update(int(pid) for pid in Path(folder, "cgroup.procs").read_text().split())
    return found - {0, os.getpid()}


def end_members(cgroups: list[Path]) -> list[int]:
    """Kill whatever still runs in cgroups of our own; what outlived it."""
    return _killed(lambda: members(cgroups), _END_S)


# -- cgroups ---------------------------------------------------------------------------------------------


def hierarchies() -> list[Path]:
    """Where cgroup hierarchies are mounted, v1 and v2."""
    lines = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return [Path(where) for _, where, kind, *_ in lines if kind in ("cgroup", "cgroup2")]


def in_all_hierarchies(name: str) -> list[Path]:
    """The lab's cgroup in every hierarchy that has it. A name that is not the lab's own is not touched."""
    if not name.startswith(PREFIX) or "/" in name:
        return []
    return [mount / name for mount in hierarchies() if (mount / name).is_dir()]


def lift_limits(cgroups: list[Path]) -> None:
    """Nobody shall be held up, or killed, by a memory limit while things are taken down."""
    for cgroup in cgroups:
        for folder, _, _ in os.walk(cgroup):
            for control, free in (("memory.limit_in_bytes", "-1"), ("memory.max", "max"), ("memory.high", "max")):
                path = Path(folder, control)
                if path.exists():
                    with contextlib.suppress(OSError):
                        path.write_text(free)


def remove_cgroups(cgroups: list[Path], patience_s: float = _END_S) -> list[Path]:
    """Remove cgroups and all below them; what is still there is returned."""
    ends = clock.elapsed_s() + patience_s
    while left := [path for path in cgroups if path.exists()]:
        for path in left:
            for folder, _, _ in os.walk(path, topdown=False):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
        if clock.elapsed_s() > ends:
            break
        clock.sleep(0.02)
    return left


def wait_for_release(cgroups: list[Path], patience_s: float = _RELEASE_S) -> None:
    """Wait until the kernel has released the zombies below, as far as they can be counted."""
    from necroscope.lab.actors.zombie_count import zombies_below
    from necroscope.lab.environment.cgroup_tree import dying_descendants

    ends = clock.elapsed_s() + patience_s
    for cgroup in cgroups:
        count = dying_descendants if (cgroup / "cgroup.stat").exists() else zombies_below
        if (cgroup / "memory.stat").exists():
            before = _FEW
            while (left := count(cgroup)) and clock.elapsed_s() < ends:
                # twice few: a count among thousands that are just being released may come out too small
                if max(before, left) < _FEW:
                    _give_up_cache(cgroup)
                before = left
                clock.sleep(0.1)


def _give_up_cache(cgroup: Path) -> None:
    """Files of the host that somebody below read first are charged there, and pin: their pages are given up.

    With many zombies below this would be the very thing that takes a core.
    """
    for control, text in (("memory.force_empty", "0"), ("memory.reclaim", "64M")):
        path = cgroup / control
        if path.exists():
            with contextlib.suppress(OSError):
                path.write_text(text)


# -- mounts and files ------------------------------------------------------------------------------------


def unmount_below(folders: list[str]) -> list[str]:
    """Unmount all that is mounted at or below the folders, the last first; what stays is returned."""
    points = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    mine = [point for point in points if any(point == one or point.startswith(f"{one}/") for one in folders)]
    for point in reversed(mine):
        if not _quietly("umount", point):
            _quietly("umount", "--lazy", point)
    still = Path("/proc/self/mounts").read_text().split()
    return [point for point in mine if point in still]


def _remove_folder(folder: Path) -> bool:
    if PREFIX not in str(folder):
        return True
    for file in folder.rglob("*"):
        _forget(file)
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def remove_stale_recordings(prefix: str) -> None:
    """Recordings that were only made to be shown (`<prefix><pid>-...`), and whose maker is gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        pid = folder.name.removeprefix(prefix).partition("-")[0]
        if pid.isdecimal() and not start_of(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _remove_cache(folder: Path) -> None:
    """A cache that a tool of ours made where there was none before: only ever such a folder, never a deeper tree."""
    if folder.name == "cache" and folder.parent.name == "containers":
        shutil.rmtree(folder, ignore_errors=True)


def _forget_containers(cgroup: str) -> None:
    """What the container runtime remembers of containers below the run's cgroup."""
    for state in Path("/run/runc").glob("*/state.json"):
        with contextlib.suppress(OSError):
            if f"/{cgroup}/" in state.read_text("utf-8", "replace"):
                shutil.rmtree(state.parent, ignore_errors=True)


def _forget(file: Path) -> None:
    """A file's pages leave the page cache with it, and with them what they pin."""
    with contextlib.suppress(OSError):
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)


def _quietly(*command: str) -> bool:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(command, check=False, capture_output=True, timeout=10).returncode == 0
    return False
