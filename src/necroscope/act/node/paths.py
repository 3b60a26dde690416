"""Files, links and folders as text that can be compared and put back, below one root.

    absent
    link TARGET
    folder MODE UID GID
    file MODE UID GID base64:BYTES          up to `KEPT_MOST` bytes
    file MODE UID GID sha256:HEX:SIZE       larger: can be compared, not put back
    other TYPE

No component of a path may be a link: what is written lies where its path says. A file appears whole or not at all: it
is written and synced beside its place, then linked there, which fails where something has come meanwhile.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from necroscope.errors import Unavailable
from necroscope.vocabulary.plan import ABSENT

KEPT_MOST = 128 << 10
_READ_MOST = 64 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHER_ROOT = re.compile(r"(/proc/\d+/root)(/.*)")


class LivePaths:
    """The paths below one root: the node's own, or that of a container with a systemd of its own."""

    def __init__(self, root: str = "/") -> None:
        self._root = root

    def state(self, path: str) -> str:
        """What is there."""
        try:
            with self._parent(path) as (folder, name):
                return _state(folder, name)
        except (FileNotFoundError, NotADirectoryError):
            return ABSENT
        except OSError as error:
            raise Unavailable(f"{path} cannot be looked at: {error.strerror}", "run as root") from error

    def set(self, path: str, state: str) -> None:
        """Make it so, and make that survive the machine."""
        try:
            with self._parent(path) as (folder, name):
                _remove(folder, name) if state == ABSENT else _make(folder, name, state)
                os.fsync(folder)
        except OSError as error:
            raise Unavailable(f"{path} cannot be changed: {error.strerror}") from error

    def unlink(self, path: str, identity: str) -> bool:
        """Remove a file if it is the one with this `major:minor:inode`; whether it was."""
        try:
            with self._parent(path) as (folder, name):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                same = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}" == identity
                if not same or not stat.S_ISREG(status.st_mode):
                    return False
                os.unlink(name, dir_fd=folder)
        except OSError:
            return False
        return True

    def tidy(self, path: str) -> None:
        """Remove what a killed `set` left beside the path."""
        with contextlib.suppress(OSError), self._parent(path) as (folder, name):
            os.unlink(_beside(name), dir_fd=folder)

    @contextlib.contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder of a path, reached without following a link, and the last name."""
        other = _OTHER_ROOT.fullmatch(path)
        root, inside = (other[1], other[2]) if other else (self._root, path)
        *above, name = [part for part in inside.split("/") if part]
        if ".." in above or name == "..":
            raise Unavailable(f"{path} is no plain path")
        # The root itself may be reached through a link of the kernel's own: /proc/PID/root.
        fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in above:
                below = os.open(part, _FOLDER, dir_fd=fd)
                os.close(fd)
                fd = below
            yield fd, name
        finally:
            os.close(fd)


def file_state(data: bytes, mode: int = 0o644, owner: tuple[int, int] = (0, 0)) -> str:
    """The state of a file that holds these bytes."""
    if len(data) > KEPT_MOST:
        return f"file {mode:04o} {owner[0]} {owner[1]} sha256:{hashlib.sha256(data).hexdigest()}:{len(data)}"
    return f"file {mode:04o} {owner[0]} {owner[1]} base64:{base64.b64encode(data).decode()}"


def folder_state(mode: int = 0o755, owner: tuple[int, int] = (0, 0)) -> str:
    """The state of a folder."""
    return f"folder {mode:04o} {owner[0]} {owner[1]}"


def link_state(target: str) -> str:
    """The state of a link."""
    return f"link {target}"


def bytes_of(state: str) -> bytes | None:
    """The bytes that a file's state holds; None where it holds none."""
    return base64.b64decode(state.partition(" base64:")[2]) if " base64:" in state else None


def can_be_put_back(state: str) -> bool:
    """Whether a state says enough to make it anew."""
    return state == ABSENT or state.startswith(("link ", "folder ")) or " base64:" in state


def _state(folder: int, name: str) -> str:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    mode, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
    if stat.S_ISLNK(status.st_mode):
        return link_state(os.readlink(name, dir_fd=folder))
    if stat.S_ISDIR(status.st_mode):
        return folder_state(mode, owner)
    if not stat.S_ISREG(status.st_mode):
        return f"other {stat.S_IFMT(status.st_mode):o}"
    if status.st_size > _READ_MOST:
        return f"file {mode:04o} {owner[0]} {owner[1]} inode:{status.st_dev}:{status.st_ino}:{status.st_size}"
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(fd, "rb") as file:
        return file_state(file.read(_READ_MOST + 1), mode, owner)


def _remove(folder: int, name: str) -> None:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        os.rmdir(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


def _make(folder: int, name: str, state: str) -> None:
    kind, _, rest = state.partition(" ")
    if kind == "link":
        os.symlink(rest, name, dir_fd=folder)
        return
    mode, uid, gid = rest.split(" ")[:3]
    if kind == "folder":
        os.mkdir(name, int(mode, 8), dir_fd=folder)
        fd = os.open(name, _FOLDER, dir_fd=folder)
        _settle(fd, mode, uid, gid)
        return
    data = bytes_of(state)
    if kind != "file" or data is None:
        raise Unavailable(f"{name} cannot be put back: its bytes were not kept")
    beside = _beside(name)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside, dir_fd=folder)
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(fd, left) :]
        os.fsync(fd)
    finally:
        _settle(fd, mode, uid, gid)
    try:
        os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    finally:
        os.unlink(beside, dir_fd=folder)


def _settle(fd: int, mode: str, uid: str, gid: str) -> None:
    try:
        os.fchown(fd, int(uid), int(gid))
        os.fchmod(fd, int(mode, 8))
    finally:
        os.close(fd)


def _beside(name: str) -> str:
    return f".necroscope-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"


def resolved(path: str) -> str:
    """An absolute path without links above its last name, as `LivePaths` wants it."""
    if _OTHER_ROOT.fullmatch(path):
        return path
    whole = Path(path).absolute()
    return str(whole.parent.resolve() / whole.name)
