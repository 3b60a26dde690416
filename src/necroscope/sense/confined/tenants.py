"""Whose a process is. Files of one tenant name frames of that tenant only, and one tenant's delays are its own.

A tenant is a user of this node, also in user namespaces that this user made (their owner counts, so that a range of
subordinate ids buys nothing). In other mount namespaces the same user is another tenant: without a user namespace only
root can have put a process there, and a container's uid 0 or 1000 is not ours.
Only files of procfs are looked at, which no process can hold up.
"""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass
from pathlib import Path

_GET_PARENT, _GET_OWNER_UID = 0xB702, 0xB704
_DEEPEST = 33
_MOST = 1 << 16
GONE = 0
"""The tenant of processes that are no more: nothing of theirs is opened but what everybody may read."""

Key = tuple[str, int, int]
_HOST_ROOT: Key = ("uid", 0, 0)


@dataclass(frozen=True, slots=True)
class Namespaces:
    """The recorder's own, which sets others apart."""

    user: int
    mount: int


class Tenants:
    """Numbers for tenants; a number is never given twice."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._texts: dict[int, str] = {GONE: "a process that is gone"}
        self._of_space: dict[int, int] = {}
        self._next = GONE + 1
        self._own = Namespaces(_namespace("self", "user"), _namespace("self", "mnt"))

    def text(self, number: int) -> str:
        """How a tenant is called in an event."""
        return self._texts.get(number, "a tenant of before")

    def trusted(self, number: int) -> bool:
        """Whether it is root of this node itself."""
        return number == self._numbers.get(_HOST_ROOT)

    def of_space(self, space: int, pid: int) -> int:
        """The tenant of an address space, looked up once: what a process is can change, and its number be reused."""
        found = self._of_space.get(space)
        if found is None:
            if len(self._of_space) >= _MOST:
                self._of_space.clear()
            found = self._of_space[space] = self.of_process(pid)
        return found

    def of_process(self, pid: int) -> int:
        """The tenant of a process now."""
        try:
            key = self._key(pid)
        except OSError:
            return GONE
        number = self._numbers.get(key)
        if number is None:
            if len(self._numbers) >= _MOST:
                self._numbers.clear()
                self._texts = {GONE: self._texts[GONE]}
            number = self._numbers[key] = self._next
            self._texts[number] = _text(key)
            self._next += 1
        return number

    def _key(self, pid: int) -> Key:
        uid = Path(f"/proc/{pid}").stat().st_uid
        try:
            user = _namespace(pid, "user")
        except PermissionError:
            return "uid", uid, 0
        if user != self._own.user:
            return self._owner(pid, user)
        mount = _namespace(pid, "mnt")
        return "uid", uid, 0 if mount == self._own.mount else mount

    def _owner(self, pid: int, user: int) -> Key:
        """Who made the outermost user namespace below ours that the process is in."""
        fd = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        try:
            for _ in range(_DEEPEST):
                parent = fcntl.ioctl(fd, _GET_PARENT)
                if os.fstat(parent).st_ino == self._own.user:
                    os.close(parent)
                    break
                os.close(fd)
                fd = parent
            room = fcntl.ioctl(fd, _GET_OWNER_UID, struct.pack("=I", 0))
            owner = int(struct.unpack("=I", room)[0])
            return ("uid", owner, 0) if owner else ("user namespace", os.fstat(fd).st_ino, 0)
        except OSError:
            return "user namespace", user, 0
        finally:
            os.close(fd)


def _namespace(pid: int | str, kind: str) -> int:
    return Path(f"/proc/{pid}/ns/{kind}").stat().st_ino


def _text(key: Key) -> str:
    kind, number, mount = key
    return f"{kind} {number} in mount namespace {mount}" if mount else f"{kind} {number}"
