"""Processes of a stage: found by parentage, ended by pid."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path


def children(pid: int) -> list[int]:
    """Direct children of a process, the oldest first."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_bytes().rpartition(b")")[2].split()
            if int(fields[1]) == pid:
                found.append((int(fields[19]), int(stat.parent.name)))
    return [child for _, child in sorted(found)]


def end(process: subprocess.Popen[bytes], sign: signal.Signals = signal.SIGKILL) -> None:
    """End a child of ours and wait for it; a polite signal is followed by SIGKILL after three seconds."""
    if process.poll() is None:
        process.send_signal(sign)
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait(5)


def wait_for(condition: Callable[[], bool], what: str, patience_s: float = 10.0) -> None:
    """Wait until `condition` holds; TimeoutError says what did not come."""
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come within {patience_s:g} s")
        time.sleep(0.03)
