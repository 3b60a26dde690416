"""Files that are written by others, followed by shell patterns: new lines, each once, within bounds.

What is in a file when it is first seen at the start is old; a file that comes later is read from its beginning. A file
that was rotated is read to its end before the new one of its name is begun; one that was cut is read from its
beginning. Only regular files are opened, the last part of a path is never a link. Not for several threads at once, and
not for a thread that may not wait: a file may lie on a file system that hangs.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from necroscope import clock

MOST_FILES = 256
MOST_BYTES_A_FILE, MOST_BYTES = 256 << 10, 4 << 20
"""Read in one look; what is beyond it is read at the next."""
LONGEST_LINE = 8_192
SEARCH_S = 5.0
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(slots=True)
class _File:
    fd: int
    inode: int
    at: int
    rest: bytes = b""
    skipping: bool = False


class Followed:
    """Files that match the patterns."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._files: dict[str, _File] = {}
        self._next_s = 0.0
        self._began = False
        self.left_out = 0
        """Files beyond the most, at the last search."""

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """What was written since the last look: path and line, without its end. A line that is too long is left out."""
        if clock.elapsed_s() >= self._next_s:
            self._search()
        left = MOST_BYTES
        for path in list(self._files):
            read = yield from self._new(path, min(left, MOST_BYTES_A_FILE))
            left -= read
            if left <= 0:
                return

    def close(self) -> None:
        """Let go of all files."""
        for file in self._files.values():
            os.close(file.fd)
        self._files.clear()

    def _search(self) -> None:
        self._next_s = clock.elapsed_s() + SEARCH_S
        found = dict.fromkeys(path for one in self._patterns for path in glob.iglob(one))  # noqa: PTH207
        self.left_out = max(0, len(found) - MOST_FILES)
        for path in list(found)[:MOST_FILES]:
            if path not in self._files:
                self._open(path, at_end=not self._began)
        for path in [one for one in self._files if one not in found]:
            os.close(self._files.pop(path).fd)
        self._began = True

    def _open(self, path: str, at_end: bool) -> None:
        with suppress(OSError):
            fd = os.open(path, _FLAGS)
            status = os.fstat(fd)
            if not Path(path).is_file():
                os.close(fd)
                return
            self._files[path] = _File(fd, status.st_ino, status.st_size if at_end else 0)

    def _new(self, path: str, most: int) -> Generator[tuple[str, bytes], None, int]:
        """Lines of one file; returns how many bytes were read."""
        file = self._files[path]
        try:
            if os.fstat(file.fd).st_size < file.at:
                file.at, file.rest = 0, b""
            data = os.pread(file.fd, most, file.at)
        except OSError:
            return 0
        file.at += len(data)
        if data:
            yield from ((path, line) for line in _whole(file, data))
        elif self._rotated(path, file):
            os.close(file.fd)
            del self._files[path]
            self._open(path, at_end=False)
        return len(data)

    def _rotated(self, path: str, file: _File) -> bool:
        try:
            return Path(path).lstat().st_ino != file.inode
        except OSError:
            return False


def _whole(file: _File, data: bytes) -> Iterator[bytes]:
    """Whole lines; the rest is kept for the next look, unless it is too long to be one."""
    *lines, rest = (file.rest + data).split(b"\n")
    for line in lines:
        if file.skipping:
            file.skipping = False
        elif len(line) <= LONGEST_LINE:
            yield line.rstrip(b"\r")
    file.rest = rest
    if len(rest) > LONGEST_LINE:
        file.rest, file.skipping = b"", True
