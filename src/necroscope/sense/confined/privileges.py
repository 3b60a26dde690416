"""What a child gives up before it touches anything that another user had a hand in. Every step is one prctl or rlimit.

It dies with the recorder, cannot gain rights by exec, cannot be traced, leaves no core, starts no process, writes no
file, and has a bounded heap.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
import signal
from collections.abc import Iterable

CAP_SETGID, CAP_SETUID, CAP_SYS_PTRACE = 6, 7, 19
_CAPABILITIES = 64
_PDEATHSIG, _DUMPABLE, _SET_NAME, _CAPBSET_DROP, _NO_NEW_PRIVS = 1, 4, 15, 24, 38
_CAPABILITY_VERSION_3 = 0x20080522
_NOBODY = 65534
_CPU_S = 600


def prepare(name: str, parent: int) -> None:
    """Tied to the recorder's life, untraceable, and called by a name that `ps` shows."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit(1)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a terminal's Ctrl-C is the recorder's, which ends its children
    libc.prctl(_SET_NAME, name.encode(), 0, 0, 0)
    os.chdir("/")
    os.umask(0o077)


def limit(heap_bytes: int, files: int) -> None:
    """Bound what the process may hold: `heap_bytes` more than now, `files` descriptors, no file and no process."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    heap = data_bytes() + heap_bytes
    for what, most in (
        (resource.RLIMIT_DATA, heap),
        (resource.RLIMIT_AS, size_bytes() + heap_bytes + (32 << 20)),
        (resource.RLIMIT_NOFILE, files),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, _CPU_S),
    ):
        resource.setrlimit(what, (most, most))


def keep_capabilities(kept: Iterable[int]) -> None:
    """Give up all other capabilities, also for what is executed later."""
    libc = ctypes.CDLL(None, use_errno=True)
    for one in range(_CAPABILITIES):
        if one not in kept:
            libc.prctl(_CAPBSET_DROP, one, 0, 0, 0)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.geteuid() != 0:
        return
    bits = sum(1 << one for one in kept)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    # effective, permitted, inheritable; of the first 32 capabilities, then of the others
    low, high = bits & 0xFFFFFFFF, bits >> 32
    permitted = _permitted()
    low, high = low & permitted, high & permitted >> 32
    data = (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)
    if libc.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up")


def become_nobody() -> None:
    """Another user, without groups and capabilities. Where that user does not exist, at least no capabilities."""
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    keep_capabilities(())
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)  # forgotten when the user changes


def data_bytes() -> int:
    """The heap as RLIMIT_DATA counts it."""
    return _status(b"VmData") << 10


def size_bytes() -> int:
    """The address space as RLIMIT_AS counts it."""
    return _status(b"VmSize") << 10


def _permitted() -> int:
    found = re.search(rb"^CapPrm:\s+([0-9a-f]+)", _text(), re.MULTILINE)
    return int(found[1], 16) if found else 0


def _status(field: bytes) -> int:
    found = re.search(rb"^" + field + rb":\s+(\d+) kB", _text(), re.MULTILINE)
    return int(found[1]) if found else 0


def _text() -> bytes:
    fd = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 1 << 14)
    finally:
        os.close(fd)
