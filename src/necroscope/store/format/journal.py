"""What is not yet sealed: an append-only file of frames (`frames.py` draws them) that survives the death of its writer.

A frame is written at the end of the file, whole, or the file is cut back to where it was. It is then safe from the
death of the process; from the death of the machine it is safe once synced, which the writer does every few seconds.
Other processes read the file while it grows: a frame that is still coming in is not whole, and is left for later.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from necroscope.store.format.arrow import Tables, time_range
from necroscope.store.format.frames import Contents, encode, frame, header, read
from necroscope.store.private_files import open_new
from necroscope.store.regular_file import read_regular

SUFFIX = ".journal"


@dataclass(frozen=True, slots=True)
class Lost:
    """Rows that were dropped because they could not be written, and from when to when they are missing."""

    samples: int
    from_ns: int
    to_ns: int


class Journal:
    """A journal on disk: a new one to be written, or one that its writer left behind. Nothing is created before the
    first row."""

    def __init__(self, folder: Path, number: int) -> None:
        self.number = number
        self.path = folder / f"{number:08d}{SUFFIX}"
        self._fd = -1
        self._end = 0
        self._index = 0
        self._unwritten: deque[tuple[bytes, Tables]] = deque()
        self._synced = True

    @property
    def unwritten_bytes(self) -> int:
        """What is still only in memory although it should not be."""
        return sum(len(data) for data, _ in self._unwritten)

    @property
    def written_bytes(self) -> int:
        """What this process has written of it."""
        return self._end

    def append(self, tables: Tables) -> None:
        """Keep rows, all or none. Raises OSError when they could not be written; they are kept for `drain` then."""
        self._unwritten.append((frame(self.number, self._index, encode(tables)), tables))
        self._index += 1
        self.drain()

    def drain(self) -> None:
        """Write what could not be written before."""
        while self._unwritten:
            if self._fd < 0:
                self._open()
            self._write(self._unwritten[0][0])
            self._unwritten.popleft()

    def drop(self) -> Lost:
        """Give up what could not be written; nothing may be appended after that."""
        lost = [_lost(tables) for _, tables in self._unwritten]
        self._unwritten.clear()
        return together(lost)

    def sync(self) -> None:
        """Make what is written survive the machine."""
        if not self._synced:
            os.fdatasync(self._fd)
            self._synced = True

    def contents(self) -> Contents:
        """All rows."""
        try:
            return read(read_regular(self.path))
        except FileNotFoundError:
            return Contents(self.number, {}, 0)

    @property
    def gone(self) -> bool:
        """Whether somebody removed its file, which this process still has open."""
        return self._fd >= 0 and os.fstat(self._fd).st_nlink == 0

    def put_back(self) -> None:
        """Write what the removed file had to a new one of the same name. Raises OSError."""
        data = b""
        while block := os.pread(self._fd, 1 << 20, len(data)):
            data += block
        before, self._fd = self._fd, -1
        try:
            self._fd = open_new(self.path, os.O_RDWR)
            self._end = 0
            self._write(data)
        except OSError:
            self._close()
            self._fd = before
            self._end = len(data)
            raise
        os.close(before)

    def remove(self) -> None:
        """Forget the rows; they are sealed."""
        self._close()
        # One that cannot be removed is passed over, because its segment is there.
        with suppress(OSError):
            self.path.unlink()

    def _open(self) -> None:
        self._fd = open_new(self.path, os.O_RDWR)
        self._end = 0
        try:
            self._write(header(self.number))
        except OSError:
            self._close()
            raise

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write(self, data: bytes) -> None:
        """All of the data, or the file is as before."""
        try:
            written = os.pwrite(self._fd, data, self._end)
            while written < len(data):
                written += os.pwrite(self._fd, data[written:], self._end + written)
        except OSError:
            os.ftruncate(self._fd, self._end)
            raise
        self._end += len(data)
        self._synced = False


def together(lost: Collection[Lost]) -> Lost:
    """All of them as one, from the first to the last."""
    return Lost(sum(one.samples for one in lost), min(one.from_ns for one in lost), max(one.to_ns for one in lost))


def _lost(tables: Tables) -> Lost:
    samples = tables["samples"].num_rows if "samples" in tables else 0
    return Lost(samples, *(time_range(tables) or (0, 0)))
