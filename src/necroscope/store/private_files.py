"""Folders and files that only their owner may read, whatever the umask: a store tells everything about a node."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_MODE, FILE_MODE = 0o700, 0o600


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where there are none. One that is there keeps its mode."""
    if not path.parent.exists():
        make_folder(path.parent)
    try:
        path.mkdir(FOLDER_MODE)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(FOLDER_MODE)  # the umask may have taken bits away


def open_new(path: Path, flags: int = os.O_WRONLY) -> int:
    """A descriptor of a new, empty file; what had that name is cut to nothing. Links are not followed."""
    fd = os.open(path, flags | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, FILE_MODE)
    try:
        os.fchmod(fd, FILE_MODE)
    except OSError:
        os.close(fd)
        raise
    return fd


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file, and make it survive the machine."""
    with os.fdopen(open_new(path), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
