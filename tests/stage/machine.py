"""What a machine holds, to be compared before and after: whatever the lab made must be gone.

Others may work on the same machine: of processes and files, only those count that carry the lab's name or a token that
the test gave its program in the environment.
"""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from necroscope.lab import undo_log

NAME = "necroscope-lab"
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/run/systemd/nspawn/propagate", "/run/systemd/nspawn/unix-export")
_MOVING = ("random", "ns_last_pid", "pty", "sched_domain", "stat_refresh", "dentry-state", "inode", "file-nr", "perf_")


@dataclass(frozen=True)
class Machine:
    """A picture of the machine; two of them are equal when nothing was left behind."""

    cgroups: frozenset[str]
    processes: frozenset[tuple[int, str]]
    mounts: frozenset[str]
    links: frozenset[str]
    files: frozenset[str]
    settings: frozenset[tuple[str, str]]


def picture(token: str) -> Machine:
    """The machine now, without what belongs to living runs that others started."""
    others = _others(token)
    return Machine(_cgroups(others), _processes(token, others), _mounts(), _links(), _files(others), _settings())


def _others(token: str) -> list[str]:
    found = []
    for path in undo_log.place().glob("*.jsonl"):
        one = undo_log.UndoLog(path)
        for entry in one.entries():
            if entry.kind == "owner" and one.owned():
                with contextlib.suppress(OSError):
                    if token.encode() not in Path(f"/proc/{entry.pid}/environ").read_bytes():
                        found.append(one.run)
    return found


def _mine(text: str, others: list[str]) -> bool:
    return NAME in text and not any(other in text for other in others)


def _cgroups(others: list[str]) -> frozenset[str]:
    found = set()
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        found.update(f"{folder}/{name}" for name in names if _mine(f"{folder}/{name}", others))
    return frozenset(found)


def _processes(token: str, others: list[str]) -> frozenset[tuple[int, str]]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            ours = token.encode() in (folder / "environ").read_bytes()
            if (ours or _mine((folder / "cgroup").read_text(), others)) and int(folder.name) != os.getpid():
                found.add((int(folder.name), (folder / "comm").read_text().strip()))
    return frozenset(found)


def _mounts() -> frozenset[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return frozenset(line.split()[4] for line in lines)


def _links() -> frozenset[str]:
    return frozenset(name for _, name in socket.if_nameindex() if name.startswith("nlab"))


def _files(others: list[str]) -> frozenset[str]:
    found = set()
    for place in _PLACES:
        with contextlib.suppress(OSError):
            found.update(str(path) for path in Path(place).iterdir() if _left(path, others))
    return frozenset(found)


def _left(path: Path, others: list[str]) -> bool:
    if path == undo_log.place():
        return not others
    return _mine(path.name, others) or path.name == "netns"


def _settings() -> frozenset[tuple[str, str]]:
    found = set()
    for folder in ("/proc/sys/kernel", "/proc/sys/vm", "/proc/sys/fs", "/proc/sys/net/core"):
        for path in Path(folder).iterdir():
            if path.is_file() and not any(word in path.name for word in _MOVING):
                with contextlib.suppress(OSError):
                    found.add((str(path), path.read_text("utf-8", "replace")))
    return frozenset(found)
