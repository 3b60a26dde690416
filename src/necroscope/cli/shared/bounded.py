"""Work with bounds on time and memory that hold whatever the work does: in a process of its own, which is watched.

DuckDB's memory limit covers its own buffers and not lists, strings of results or what others allocate; its queries
cannot be interrupted reliably. A process can be ended at any moment.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

import click

from necroscope.errors import Unavailable
from necroscope.quantity import size, span

_LOOK_S = 0.02
_PR_SET_PDEATHSIG = 1
_THREAD_BYTES = 32 << 20


def enter_bounded(seconds: float, most_bytes: int) -> None:
    """Go on in a child process, which has so much time and memory of its own; the parent ends as the child does.

    `Unavailable` in the parent when the child took more. To be called before libraries start threads.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _begin(parent, most_bytes)
        return
    try:
        code = _watched(pid, seconds, most_bytes)
    except BaseException:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        raise
    if code < 0:
        raise Unavailable(f"The query was ended by signal {-code}.", "ask about less: --from and --to")
    raise click.exceptions.Exit(code)


def _begin(parent: int, most_bytes: int) -> None:
    """In the child: Ctrl-C is the parent's, whose end is the child's, and memory has an end as well."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    # Should the watching parent be late: far above what it allows, as stacks of threads count here.
    most = 2 * most_bytes + _THREAD_BYTES * (os.cpu_count() or 1)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _watched(pid: int, seconds: float, most_bytes: int) -> int:
    """Exit code of the child; negative: the signal that ended it."""
    ends = time.monotonic() + seconds
    with _Ended(pid) as ended:
        while not ended.within(_LOOK_S):
            if time.monotonic() > ends:
                hint = "give it more time (--timeout 10m), or ask about less: --from and --to"
                raise Unavailable(f"The query took longer than {span(seconds)} and was stopped.", hint)
            if _own_bytes(pid) > most_bytes:
                hint = "ask about less: --from and --to, fewer columns or fewer groups"
                raise Unavailable(f"The query needs more than {size(most_bytes)} of memory and was stopped.", hint)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class _Ended:
    """Waits for the end of a process."""

    def __init__(self, pid: int) -> None:
        self._pid, self._fd = pid, -1
        with suppress(OSError):  # before Linux 5.3
            self._fd = os.pidfd_open(pid)

    def within(self, seconds: float) -> bool:
        """Whether it has ended, or does so in this time."""
        if self._fd >= 0:
            return bool(select.select([self._fd], [], [], seconds)[0])
        found = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            time.sleep(seconds)
        return found is not None

    def __enter__(self) -> _Ended:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)


def _own_bytes(pid: int) -> int:
    """Memory that is the process's own: resident, without what files back."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
