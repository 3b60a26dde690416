"""Whether the running kernel knows a field of perf events: it is asked with an event that counts nothing.

perf says no more than "Invalid argument" of a field that is newer than the kernel, as `--all-cgroups` on Linux 5.4 is.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Callable

from necroscope.sense.perf.launch.options import Feature, named

_SYSCALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "loongarch64": 241, "ppc64le": 319}
_SOFTWARE, _DUMMY = 1, 9
# Up to and with `sig_data`, Linux 5.13: an older kernel takes a longer one whose rest is zero.
_ATTR_BYTES = 128
_DISABLED, _MMAP2, _BUILD_ID = 1 << 0, 1 << 23, 1 << 34
_SAMPLE_CGROUP = 1 << 21
_CLOEXEC = 8
_NEEDS = {"cgroups": (_SAMPLE_CGROUP, 0), "build-ids": (0, _MMAP2 | _BUILD_ID)}

# Opens an event with this `perf_event_attr`: 0, or the errno.
Opener = Callable[[bytes], int]


def unknown_to_kernel(opened: Opener | None = None) -> list[Feature]:
    """The features that this kernel refuses as invalid. Where it cannot be asked, none: perf will tell."""
    opened = opened or _opener()
    if opened is None or opened(_attr(0, 0)):
        return []
    return named(name for name, (sampled, flags) in _NEEDS.items() if opened(_attr(sampled, flags)) == errno.EINVAL)


def _attr(sample_type: int, flags: int) -> bytes:
    head = struct.pack("<IIQQQQQ", _SOFTWARE, _ATTR_BYTES, _DUMMY, 0, sample_type, 0, _DISABLED | flags)
    return head.ljust(_ATTR_BYTES, b"\0")


def _opener() -> Opener | None:
    """The system call, for this process alone; None where its number or the order of bits is another."""
    number = _SYSCALL.get(platform.machine())
    if number is None or sys.byteorder != "little" or sys.maxsize < 1 << 32:
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long

    def opened(attr: bytes) -> int:
        self_, any_cpu, no_group = ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(-1)
        fd = call(ctypes.c_long(number), attr, self_, any_cpu, no_group, ctypes.c_ulong(_CLOEXEC))
        if fd < 0:
            return ctypes.get_errno()
        os.close(fd)
        return 0

    return opened
