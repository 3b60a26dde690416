"""What a run of the lab makes, written down before it is made, so that whoever comes later can remove it.

One file for each run, `<run>.jsonl`, in /run/necroscope-lab (of another user than root: in the XDG runtime folder), one
JSON object a line:

    {"kind": "owner",   "pid": 71, "start": 8123}           the runner; while it lives, nobody else cleans
    {"kind": "process", "pid": 72, "start": 8125}           start: clock ticks since boot, /proc/PID/stat
    {"kind": "cgroup",  "path": "necroscope-lab-..."}       its name in every hierarchy
    {"kind": "folder",  "path": "/dev/shm/necroscope-lab-..."}
    {"kind": "mount",   "path": "..."}   {"kind": "link", "path": "device"}
    {"kind": "setting", "path": "/proc/sys/...", "old": "1"}
    {"kind": "cache",   "path": "/var/lib/containers/cache"}    was not there before

Lines are appended with one write each: after `kill -9` the last one is whole or absent.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PREFIX = "necroscope-lab-"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a run made or is about to make."""

    kind: str
    path: str = ""
    pid: int = 0
    start: int = 0
    old: str = ""


class UndoLog:
    """The undo log of one run. `add` returns only when the line is with the kernel."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def run(self) -> str:
        """The run's id."""
        return self.path.stem

    def add(self, entry: Entry) -> None:
        """Write down one thing."""
        line = json.dumps({"kind": entry.kind, **_filled(entry)}) + "\n"
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, line.encode())
        finally:
            os.close(fd)

    def entries(self) -> list[Entry]:
        """All that was written down, in order; a torn line at the end is left out."""
        try:
            text = self.path.read_text("utf-8", "replace")
        except OSError:
            return []
        return [entry for entry in map(_parse, text.splitlines()) if entry is not None]

    def owned(self) -> bool:
        """True while the runner lives."""
        return any(entry.kind == "owner" and start_of(entry.pid) == entry.start for entry in self.entries())

    def close(self) -> None:
        """Everything is gone: forget it."""
        self.path.unlink(missing_ok=True)


def place() -> Path:
    """Where undo logs are."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/tmp/{PREFIX}{os.geteuid()}"
    return Path("/run/necroscope-lab") if os.geteuid() == 0 else Path(runtime) / "necroscope-lab"


@contextlib.contextmanager
def one_at_a_time(waiting: Callable[[], None]) -> Iterator[None]:
    """Two incidents on one machine would be each other's noise: wait for a run that goes on; `waiting` is called.

    The folder above the logs is locked: it stays, whoever comes and goes, and the kernel unlocks it when a run dies.
    """
    place().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(place().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def open_undo_log(run: str) -> UndoLog:
    """A new undo log, owned by this process."""
    place().mkdir(mode=0o700, parents=True, exist_ok=True)
    undo_log = UndoLog(place() / f"{run}.jsonl")
    undo_log.add(process_entry("owner", os.getpid()))
    return undo_log


def abandoned() -> list[UndoLog]:
    """Undo logs of runs whose runner is gone."""
    found = [UndoLog(path) for path in sorted(place().glob("*.jsonl"))] if place().is_dir() else []
    return [undo_log for undo_log in found if not undo_log.owned()]


def process_entry(kind: str, pid: int) -> Entry:
    """A process, distinguished from a later one with its number."""
    return Entry(kind, pid=pid, start=start_of(pid))


def start_of(pid: int) -> int:
    """When a process began, in clock ticks since boot; 0 when there is none, or only its remains."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return 0 if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, IndexError, ValueError):
        return 0


def _filled(entry: Entry) -> dict[str, object]:
    values = {"path": entry.path, "pid": entry.pid, "start": entry.start, "old": entry.old}
    return {name: value for name, value in values.items() if value}


def _parse(line: str) -> Entry | None:
    try:
        row = json.loads(line)
        return Entry(
            str(row["kind"]),
            str(row.get("path", "")),
            int(row.get("pid", 0)),
            int(row.get("start", 0)),
            str(row.get("old", "")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
