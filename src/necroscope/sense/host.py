"""`Host(root)`: the only door to files of a node, live (`/`) or captured (a folder that looks like one).

Paths are logical and absolute (`/proc/stat`) whatever the root. A captured tree is hostile until proven
otherwise: no link is followed, nothing but regular files and directories is opened, every read is bounded. On the live
host links are followed (sysfs is made of them) and reads are bounded too. Whatever cannot be read raises
`Unavailable` with the reason; a caller that can do without it says so and goes on.

A capture also holds what is no file on a live host, under `/necroscope/`: the clocks at the time
of the capture and the readings of sensors that ask sockets or kernel memory. `recorded()` returns those.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from necroscope import clock
from necroscope.clock import ClockReading
from necroscope.errors import BadInput, Unavailable

READ_LIMIT_BYTES = 16 << 20
_SHORT_READ, _LONG_READ = 1 << 14, 1 << 18
RECORDED = "/necroscope"
_EARLIEST_NS = 10**18  # September 2001

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_REGULAR = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_REASONS = {
    errno.ENOENT: "does not exist",
    errno.EACCES: "may not be read",
    errno.EPERM: "may not be read",
    errno.ELOOP: "is a link, and links of a captured host are not followed",
    errno.ENOTDIR: "is not a directory",
    errno.EISDIR: "is a directory",
    errno.EOPNOTSUPP: "is not supported by this kernel",
    errno.ENODEV: "vanished while it was read",
}


class Host:
    """A node's files under one root."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.captured = root.absolute() != Path("/")
        if self.captured and not root.is_dir():
            raise BadInput(
                f"{root} is not a directory.", "give the folder of a captured host, or a bundle with --bundle"
            )

    # -- files --------------------------------------------------------------------------------------

    def read(self, path: str, limit: int = READ_LIMIT_BYTES) -> bytes:
        """The file's bytes. Longer than `limit` is `Unavailable`: half a file is never taken for a whole one."""
        try:
            fd = self._open(path)
            try:
                data = _read_bounded(fd, limit + 1)
            finally:
                os.close(fd)
        except OSError as error:
            raise _unavailable(path, error) from error
        if len(data) > limit:
            raise Unavailable(f"{path} is larger than {limit} bytes")
        return data

    def read_or_none(self, path: str, limit: int = READ_LIMIT_BYTES) -> bytes | None:
        """Like `read`, for a file that may well be absent."""
        try:
            return self.read(path, limit)
        except Unavailable:
            return None

    def short(self, path: str, limit: int = _SHORT_READ) -> bytes | None:
        """A short file's bytes in one read; None where it cannot be read. For files of /proc by the thousand: those
        that describe one process are written out whole by the kernel."""
        if self.captured:
            return self.read_or_none(path, limit)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return os.read(fd, limit)
        except OSError:
            return None
        finally:
            os.close(fd)

    def exists(self, path: str) -> bool:
        """True when the path is there, whatever it is; links of a captured tree are not followed."""
        try:
            self._stat(path)
        except OSError:
            return False
        return True

    def names(self, path: str) -> list[str]:
        """Entries of a directory, sorted."""
        try:
            with self._directory(path) as entries:
                return sorted(entry.name for entry in entries)
        except OSError as error:
            raise _unavailable(path, error) from error

    def entries(self, path: str) -> list[str]:
        """Entries of a directory in the kernel's order, as cheaply as they can be had."""
        if self.captured:
            return self.names(path)
        try:
            return os.listdir(path)  # noqa: PTH208
        except OSError as error:
            raise _unavailable(path, error) from error

    def subdirectories(self, path: str) -> Iterator[tuple[str, bool]]:
        """Directories below `path`, unsorted, each with whether it may have directories of its own.

        kernfs keeps the link count of a directory at 2 + its subdirectories, so a leaf need not be listed:
        that is what makes a tree of 100,000 cgroups cheap. Vanished entries are left out.
        """
        try:
            with self._directory(path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        try:
                            links = entry.stat(follow_symlinks=False).st_nlink
                        except OSError:
                            continue
                        yield entry.name, links != 2
        except OSError as error:
            raise _unavailable(path, error) from error

    def link(self, path: str) -> str:
        """Where a link points, unfollowed. A capture keeps such a link as a small file."""
        try:
            if stat.S_ISLNK(self._stat(path).st_mode):
                return str((self.root / path.lstrip("/")).readlink())
        except OSError as error:
            raise _unavailable(path, error) from error
        return self.read(path, 4096).decode("utf-8", "replace").strip()

    def target(self, path: str) -> str | None:
        """Where a link points, unfollowed; None for what is no link, or not there. Also of a captured tree."""
        try:
            if not self.captured:
                return os.readlink(path)  # noqa: PTH115
            folder, name = self._parent(path)
            try:
                return os.readlink(name, dir_fd=folder)
            finally:
                os.close(folder)
        except (OSError, Unavailable):
            return None

    def live_path(self, path: str) -> Path:
        """The real path of something that only a live host has (a socket, a device)."""
        if self.captured:
            raise Unavailable(f"{path} cannot be asked on a captured host")
        return Path(path)

    # -- what a capture keeps beside files -------------------------------------------------------------

    def clock(self) -> ClockReading:
        """The clocks now; of a captured host, the clocks when it was captured."""
        if not self.captured:
            return clock.now()
        values = self.recorded("clock")
        try:
            reading = ClockReading(**{name: int(values[name]) for name in ClockReading.__slots__})
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise Unavailable("the captured clock cannot be read", "capture the host again") from error
        if not (_EARLIEST_NS < reading.realtime_ns < 1 << 62 and 0 < reading.monotonic_ns <= reading.boottime_ns):
            raise Unavailable("the captured clock shows a time that cannot be", "capture the host again")
        return reading

    def recorded(self, name: str) -> Any:
        """The JSON value a capture holds under `name`; `Unavailable` on a live host and when it is not there."""
        if not self.captured:
            raise Unavailable(f"{name} is read from the live host")
        try:
            return json.loads(self.read(f"{RECORDED}/{name}.json"))
        except (ValueError, RecursionError) as error:
            raise Unavailable(f"the captured {name} cannot be read", "capture the host again") from error

    # -- opening -----------------------------------------------------------------------------------------

    def _open(self, path: str) -> int:
        if not self.captured:
            return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        folder, name = self._parent(path)
        try:
            if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise Unavailable(f"{path} is not a regular file in this captured host")
            return os.open(name, _REGULAR, dir_fd=folder)
        finally:
            os.close(folder)

    def _stat(self, path: str) -> os.stat_result:
        if not self.captured:
            return os.lstat(path)
        folder, name = self._parent(path)
        try:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        finally:
            os.close(folder)

    def _directory(self, path: str) -> _Entries:
        if not self.captured:
            return _Entries(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        folder, name = self._parent(path)
        try:
            return _Entries(os.open(name, _DIRECTORY, dir_fd=folder))
        finally:
            os.close(folder)

    def _parent(self, path: str) -> tuple[int, str]:
        """A descriptor of the folder that holds `path`, reached without following any link, and the last name."""
        parts = [part for part in path.split("/") if part and part != "."]
        if ".." in parts:
            raise Unavailable(f"{path} leaves the captured host")
        fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in parts[:-1]:
            try:
                below = os.open(part, _DIRECTORY, dir_fd=fd)
            finally:
                os.close(fd)
            fd = below
        return fd, parts[-1] if parts else "."


class _Entries:
    """`os.scandir` over a descriptor, closing both."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._scan = os.scandir(fd)

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        return self._scan

    def __exit__(self, *_: object) -> None:
        self._scan.close()
        os.close(self._fd)


def _read_bounded(fd: int, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    # Nearly all files are short, and room for a long one would be asked of the kernel and given back each time.
    while size < limit and (chunk := os.read(fd, min(limit - size, _LONG_READ if size else _SHORT_READ))):
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)


def _unavailable(path: str, error: OSError) -> Unavailable:
    reason = _REASONS.get(error.errno or 0, (error.strerror or "cannot be read").lower())
    denied = error.errno in (errno.EACCES, errno.EPERM)
    return Unavailable(f"{path} {reason}", "run as root" if denied else "")
