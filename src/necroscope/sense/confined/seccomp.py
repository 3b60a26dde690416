"""The system calls that the parser may use; all others fail. A filter of a few BPF instructions, built here.

    architecture other than ours       -> kill
    number in the list                 -> allow
    anything else                      -> EPERM

x86-64 and arm64. Elsewhere, and on kernels without seccomp, the parser runs with its other limits only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

_NO_NEW_PRIVS, _SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_KILL, _ALLOW = 0x80000000, 0x7FFF0000
_EPERM = 0x00050000 | errno.EPERM
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data

# number on x86-64, number on arm64
_CALLS: dict[str, tuple[int, ...]] = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "fstat": (5, 80), "newfstatat": (262, 79), "lseek": (8, 62),
    "pread64": (17, 67), "poll": (7,), "ppoll": (271, 73), "fcntl": (72, 25),
    "sendto": (44, 206), "recvfrom": (45, 207), "sendmsg": (46, 211), "recvmsg": (47, 212),
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216), "madvise": (28, 233),
    "brk": (12, 214), "futex": (202, 98), "sched_yield": (24, 124), "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "setitimer": (38, 103), "gettimeofday": (96, 169), "clock_gettime": (228, 113), "getrusage": (98, 165),
    "getpid": (39, 172), "gettid": (186, 178), "getrandom": (318, 278), "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


def program(machine: str) -> bytes:
    """The filter for an architecture; empty where there is none."""
    if machine not in _MACHINES:
        return b""
    architecture, column = _MACHINES[machine]
    calls = [numbers[column] for numbers in _CALLS.values() if column < len(numbers)]
    head = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    # Of n comparisons the first jumps over n - 1 others and the refusal.
    body = [(_JUMP_EQUAL, len(calls) - place, 0, number) for place, number in enumerate(calls)]
    tail = [(_RETURN, 0, 0, _EPERM), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *one) for one in (*head, *body, *tail))


def restrict() -> bool:
    """Allow nothing but the list from now on; False where that is not to be had."""
    code = program(os.uname().machine)
    if not code:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(room))
    if int(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)) != 0:
        return False
    return int(libc.prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.c_char_p(header), 0, 0)) == 0
