"""Who could change what a path names: root and this program's own user may, anybody else may not.

A path is safe when every part of it belongs to root or to this program's user, and no folder on the way may be written
by others, except sticky ones (/tmp): there, nobody can replace what belongs to somebody else. Links are followed and
what they lead through is held to the same rule. Nobody else can then change the answer between question and use.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from necroscope.errors import Unavailable

_LINKS_MOST = 40
_INITIAL = ["0", "0", "4294967295"]


def privileged() -> bool:
    """Whether this program may do more than an ordinary user: it is root, or has capabilities."""
    return os.geteuid() == 0 or _capabilities() != 0


def weak_part(path: str | Path, links: int = _LINKS_MOST) -> str:
    """The first part of an absolute path that somebody else could change; empty when there is none.

    Raises `OSError` where the path leads nowhere."""
    path = Path(path)
    owners = _owners()
    for part in (*reversed(path.parents), path):
        own = part.lstat()
        if own.st_uid not in owners:
            return str(part)
        # Links in /proc are the kernel's: they lead where no text of theirs does.
        if stat.S_ISLNK(own.st_mode) and not str(part).startswith("/proc/"):
            if not links:
                return str(part)
            target = part.parent.resolve() / part.readlink()
            if weak := weak_part(target, links - 1):
                return weak
        if _writable(part.stat()):
            return str(part)
    return ""


def check_socket(path: str | Path) -> None:
    """Raises `Unavailable` when somebody else than root or this program's user could be listening at this path.

    A path that leads nowhere is left to whoever connects to it."""
    try:
        weak = weak_part(Path(path).absolute())
    except OSError:
        return
    if weak:
        raise Unavailable(
            f"{path} is not asked: {weak} may be changed by others than root", "run as the user that it belongs to"
        )


def _writable(status: os.stat_result) -> bool:
    """Whether others may write it; of sockets and devices, writing says nothing about who is behind them."""
    mode = status.st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return False
    if stat.S_ISDIR(mode) and mode & stat.S_ISVTX:
        return status.st_uid not in _owners()
    groups = {0} if os.geteuid() == 0 else {0, os.getegid()}
    others = bool(mode & stat.S_IWOTH) or bool(mode & stat.S_IWGRP and status.st_gid not in groups)
    return others or status.st_uid not in _owners()


def _owners() -> set[int]:
    """Root and oneself; in a user namespace also who has no number there, as the host's root has none."""
    owners = {0, os.geteuid()}
    if _own_file("uid_map").split() not in (_INITIAL, []):
        owners.add(int(_text("/proc/sys/kernel/overflowuid") or 65534))
    return owners


def _capabilities() -> int:
    lines = [line.split() for line in _own_file("status").splitlines() if line.startswith("CapEff:")]
    return int(lines[0][1], 16) if lines else 0


def _own_file(name: str) -> str:
    return _text(f"/proc/self/{name}")


def _text(path: str) -> str:
    try:
        return Path(path).read_text("ascii", "replace")
    except OSError:
        return ""
