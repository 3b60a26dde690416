"""Acting with the rights of another process: its file-system user, group and groups, and none of root's own.

With CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH given up (`privileges`), the kernel then opens nothing for us that the
process could not have opened itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass

from necroscope.sense.confined.in_root import Refused
from necroscope.sense.confined.refusal import Refusal

NOBODY = 65534
_STATUS_BYTES = 1 << 16
_GROUPS = 4096
_PDEATHSIG, _SIGKILL = 1, 9


@dataclass(frozen=True, slots=True)
class Credentials:
    """From /proc/PID/status. `uids` are real, effective, saved and file-system; `own_pid` is the innermost."""

    uids: tuple[int, ...]
    gid: int
    groups: tuple[int, ...]
    own_pid: int

    @property
    def uid(self) -> int:
        """The user whose rights count for files."""
        return self.uids[3]

    @property
    def single_user(self) -> bool:
        """Whether the process has one user; one that runs setuid has two, and speaks for neither."""
        return len(set(self.uids)) == 1


STRANGER = Credentials((NOBODY,) * 4, NOBODY, (), 0)
"""Whose rights count when a process is gone: those that everybody has."""


def of_process(pid: int) -> Credentials:
    """The rights of a process. Raises `Refused` when it is gone."""
    try:
        fd = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return parse_status(os.read(fd, _STATUS_BYTES), pid)
        finally:
            os.close(fd)
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise Refused(Refusal.GONE) from error


def parse_status(text: bytes, pid: int) -> Credentials:
    """The fields that count; `ValueError`, `KeyError` or `IndexError` for what is no status."""
    fields = dict(line.partition(b":\t")[::2] for line in text.split(b"\n")[1:])
    numbers = {name: tuple(map(int, fields[name].split())) for name in (b"Uid", b"Gid", b"Groups")}
    inner = fields.get(b"NSpid", str(pid).encode()).split()
    return Credentials(numbers[b"Uid"][:4], numbers[b"Gid"][3], numbers[b"Groups"][:_GROUPS], int(inner[-1]))


@contextlib.contextmanager
def acting_as(whom: Credentials) -> Iterator[None]:
    """With these rights on files; without root, with what rights there are."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None)
    try:
        os.setgroups(list(whom.groups))
        libc.setfsgid(whom.gid)
        libc.setfsuid(whom.uid)
        if libc.setfsuid(-1) != whom.uid:
            raise Refused(Refusal.DENIED)
        libc.prctl(_PDEATHSIG, _SIGKILL, 0, 0, 0)  # forgotten whenever the user changes
        yield
    finally:
        libc.setfsuid(0)
        libc.setfsgid(0)
        os.setgroups([])
