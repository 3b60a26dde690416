"""bpf(2) with nothing but ctypes: a map that we can mmap, programs, and running one now.

Everything that was opened is closed when the context ends. What the kernel refuses becomes `Unavailable` with
what is missing: capabilities, a newer kernel, or a lockdown that forbids reading kernel memory.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import struct
from types import TracebackType

from necroscope.errors import Unavailable
from necroscope.sense.host import Host

_SYSCALL = {"x86_64": 321, "aarch64": 280}
_MAP_CREATE, _PROG_LOAD, _PROG_TEST_RUN = 0, 5, 10
_MAP_TYPE_ARRAY, _F_MMAPABLE = 2, 1 << 10
_PROG_TYPE_RAW_TRACEPOINT = 17
_LOG_BYTES = 1 << 16
_LOCKDOWN = "/sys/kernel/security/lockdown"


class Bpf:
    """Maps and programs of this process, closed together."""

    def __init__(self, host: Host) -> None:
        # a capture has no kernel to ask
        host.live_path("/sys/kernel/btf/vmlinux")
        machine = os.uname().machine
        if machine not in _SYSCALL:
            raise Unavailable(f"kernel memory is not read on {machine}", "x86_64 and aarch64 are supported")
        self._number = _SYSCALL[machine]
        self._syscall = ctypes.CDLL(None, use_errno=True).syscall
        self._syscall.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_ulong)
        self._syscall.restype = ctypes.c_long
        self._host = host
        self._fds: list[int] = []
        self._maps: list[mmap.mmap] = []
        self._runs: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def __enter__(self) -> Bpf:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close every map and program."""
        while self._maps:
            self._maps.pop().close()
        while self._fds:
            os.close(self._fds.pop())

    def create_map(self, size: int) -> tuple[int, mmap.mmap]:
        """An array of one value of `size` bytes: its descriptor, and its memory."""
        attributes = struct.pack("<6I", _MAP_TYPE_ARRAY, 4, size, 1, _F_MMAPABLE, 0)
        try:
            try:
                fd = self._call(_MAP_CREATE, attributes)
            except PermissionError:
                # before 5.11 maps count against RLIMIT_MEMLOCK, and the refusal looks like a missing capability
                _lift_memlock()
                fd = self._call(_MAP_CREATE, attributes)
            self._fds.append(fd)
            memory = mmap.mmap(fd, size)
        except OSError as error:
            raise self._refused(error, "an mmapable map") from error
        self._maps.append(memory)
        return fd, memory

    def load(self, code: bytes) -> int:
        """A raw tracepoint program, verified by the kernel; its descriptor."""
        try:
            fd = self._load(code)
        except OSError as error:
            raise self._refused(error, "the program", self._verdict(code)) from error
        self._fds.append(fd)
        return fd

    def run(self, program: int) -> None:
        """Run a program once, now, on this CPU (raw tracepoints: since Linux 5.10)."""
        buffer = self._runs.get(program)
        if buffer is None:
            buffer = self._runs[program] = ctypes.create_string_buffer(struct.pack("<I68x", program), 72)
        if self._syscall(self._number, _PROG_TEST_RUN, ctypes.addressof(buffer), 72) < 0:
            code = ctypes.get_errno()
            raise self._refused(OSError(code, os.strerror(code)), "BPF_PROG_TEST_RUN of a raw tracepoint")

    # -- asking, and being refused --------------------------------------------------------------------

    def _call(self, command: int, attributes: bytes) -> int:
        buffer = ctypes.create_string_buffer(attributes, len(attributes))
        result = int(self._syscall(self._number, command, ctypes.addressof(buffer), len(attributes)))
        if result < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return result

    def _load(self, code: bytes, log: ctypes.Array[ctypes.c_char] | None = None) -> int:
        instructions, license_ = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(b"GPL")
        attributes = struct.pack(
            "<IIQQIIQII",
            _PROG_TYPE_RAW_TRACEPOINT,
            len(code) // 8,
            ctypes.addressof(instructions),
            ctypes.addressof(license_),
            0 if log is None else 1,
            0 if log is None else len(log),
            0 if log is None else ctypes.addressof(log),
            0,
            0,
        )
        return self._call(_PROG_LOAD, attributes)

    def _verdict(self, code: bytes) -> str:
        """What the verifier dislikes. Its log costs too much for the first try, so the program is loaded again."""
        log = ctypes.create_string_buffer(_LOG_BYTES)
        try:
            os.close(self._load(code, log))
        except OSError:
            lines = log.value.decode("ascii", "replace").splitlines()
            return next((line for line in reversed(lines) if line and not line.startswith("processed ")), "")
        return ""

    def _refused(self, error: OSError, what: str, detail: str = "") -> Unavailable:
        if error.errno in (errno.EPERM, errno.EACCES) and not detail:
            return Unavailable(
                "reading kernel memory needs CAP_BPF and CAP_PERFMON",
                "run as root; in a container, add both capabilities and let seccomp pass bpf()",
            )
        if error.errno == errno.ENOSYS:
            return Unavailable("this kernel has no bpf() system call", "CONFIG_BPF_SYSCALL=y")
        if b"[confidentiality]" in (self._host.read_or_none(_LOCKDOWN) or b""):
            return Unavailable(
                "kernel lockdown (confidentiality) forbids reading kernel memory",
                f"see {_LOCKDOWN}; integrity is enough",
            )
        said = detail or (error.strerror or "refused").lower()
        return Unavailable(f"the kernel does not take {what}: {said}", "Linux 5.10 or newer is needed")


def _lift_memlock() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    for limit in ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), (hard, hard)):
        try:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, limit)
        except (OSError, ValueError):
            continue
        return
