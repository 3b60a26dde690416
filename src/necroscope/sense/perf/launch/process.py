"""perf as a child process that never outlives us, whose words are kept and bounded, and that is seen to begin."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from necroscope import clock
from necroscope.sense.environment import for_programs
from necroscope.sense.host import Host
from necroscope.sense.perf.launch.complaints import without_usage
from necroscope.sense.perf.launch.options import PerfOptions, perf_command, trial_command
from necroscope.sense.perf.launch.waking import Waking, way

TRACEFS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
# A perf that still says nothing after this long is taken for one that is slow.
BEGIN_S = 5.0
_TRIAL_S = 10.0
_SAID_BYTES = 1 << 16
_KEPT_BYTES = 4096
_F_SETPIPE_SZ = 1031
# A fresh process ties itself to our life and becomes perf: between fork and exec no Python may run beside threads.
# No file that perf writes grows: its words are kept in one (SIGXFSZ is ignored, by Python and what it becomes).
_TIED = f"""
import ctypes, os, resource, sys
ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
resource.setrlimit(resource.RLIMIT_FSIZE, ({_SAID_BYTES}, {_SAID_BYTES}))
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""
# A mount namespace of perf's own: tracefs is mounted for perf and for nobody else.
_WITH_TRACEFS = ("unshare", "--mount", "--propagation", "private", "sh", "-c")
_MOUNT_AND_RUN = 'mount -t tracefs none /sys/kernel/tracing && exec "$@"'


@dataclass(frozen=True, slots=True)
class Launched:
    """A perf that was started."""

    process: subprocess.Popen[bytes]
    waking: Waking
    said_fd: int

    def said(self) -> str:
        """What it has complained of so far."""
        with contextlib.suppress(OSError):
            return without_usage(os.pread(self.said_fd, _KEPT_BYTES, 0))
        return ""

    def began(self, patience_s: float = BEGIN_S) -> bool:
        """Wait until its stream begins, which it does when every option and event was taken. A perf that says nothing
        but lives has begun too; False: it ended."""
        assert self.process.stdout is not None
        watched = select.poll()
        watched.register(self.process.stdout.fileno(), select.POLLIN)
        ends = clock.elapsed_s() + patience_s
        while clock.elapsed_s() < ends:
            ready = watched.poll(100)
            if ready and ready[0][1] & select.POLLIN:
                return True
            if ready or self.process.poll() is not None:
                return False
        return self.process.poll() is None

    def release(self) -> None:
        """Of a perf that ended: nothing of it remains."""
        self.waking.close()
        assert self.process.stdout is not None
        self.process.stdout.close()
        os.close(self.said_fd)


def launch(host: Host, options: PerfOptions, perf: str) -> Launched:
    """Start the recording. Raises `OSError` when no process can be made."""
    waking = way(options.wakes, host)
    said_fd = os.memfd_create("perf", os.MFD_CLOEXEC)
    command = _within_tracefs(host, options, perf_command(options, os.cpu_count() or 1, waking.arguments, perf))
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said_fd,
            pass_fds=waking.inherited,
            env=for_programs(),
        )
    except OSError:
        os.close(said_fd)
        waking.close()
        raise
    finally:
        waking.handed_over()
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        fcntl.fcntl(process.stdout.fileno(), _F_SETPIPE_SZ, 1 << 20)
    return Launched(process, waking, said_fd)


def trial(host: Host, options: PerfOptions, perf: str) -> str | None:
    """Record a program that ends at once with these options: what perf complains of, None when it worked."""
    command = _within_tracefs(host, options, trial_command(options, os.cpu_count() or 1, perf))
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_TRIAL_S,
            check=False,
            env=for_programs(),
        )
    except subprocess.TimeoutExpired:
        return "it did not end in time"
    except OSError as error:
        return error.strerror or "it cannot be started"
    return without_usage(done.stderr[:_KEPT_BYTES]) or "it failed" if done.returncode else None


def _within_tracefs(host: Host, options: PerfOptions, command: Sequence[str]) -> list[str]:
    if options.tracepoints and not any(host.exists(f"{folder}/events/cgroup") for folder in TRACEFS):
        return [*_WITH_TRACEFS, _MOUNT_AND_RUN, "sh", *command]
    return list(command)
