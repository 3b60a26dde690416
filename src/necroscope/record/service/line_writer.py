"""Lines on their way to standard error, without ever waiting: a journal that stalls must not hold up a recorder.

A thread writes. What it cannot write in time is dropped, and how many lines that were is the next line.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Mapping
from contextlib import suppress

_MOST = 1_000


class LineWriter:
    """Takes lines of text. `close` waits a moment for what is left."""

    def __init__(self, descriptor: int = 2) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue(_MOST)
        self._descriptor, self._dropped = descriptor, 0
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Hand over a line."""
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._dropped += 1

    def close(self, patience_s: float = 2.0) -> None:
        """The end; lines that nobody takes in time are lost."""
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(patience_s)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            dropped, self._dropped = self._dropped, 0
            if dropped:
                self._put(f"{dropped} lines of this log were dropped: nobody took them")
            self._put(line)

    def _put(self, line: str) -> None:
        data = memoryview(f"{line}\n".encode("utf-8", "replace"))
        with suppress(OSError):
            while data:
                data = data[os.write(self._descriptor, data) :]


def to_journal(environment: Mapping[str, str] = os.environ, descriptor: int = 2) -> bool:
    """Whether standard error leads to the journal: systemd names its device and inode in JOURNAL_STREAM."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return False
    return environment.get("JOURNAL_STREAM", "") == f"{found.st_dev}:{found.st_ino}"
