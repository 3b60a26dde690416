"""The one place that starts programs for `act`: parts of this very program, a clean environment, an end in time.

No other program is run, and no shell: systemd and container engines are asked over their sockets. Of the caller's
environment nothing reaches the child. What it costs in the kernel is measured, because a child that reclaims memory can
hold a core: it gets SIGKILL when its budget is spent, and that is told.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.environment import for_programs

WORDS_MOST = 4096
_LOOK_S = 0.01
# A task in the kernel hears a SIGKILL when it next looks: that may take as long as one round of reclaim.
_DIE_S = 60.0


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: `status` as of a shell, what it said, and what it cost."""

    status: int
    words: str
    wall_s: float
    kernel_s: float
    stopped: bool
    """Whether it was ended because its time was up."""


def run_module(module: str, arguments: Sequence[str], budget_s: float, feed: bytes = b"") -> Ran:
    """Run a module of this program in a process of its own, to its end or for so many seconds; `feed` is its input."""
    with tempfile.TemporaryFile() as given:
        given.write(feed)
        given.seek(0)
        return _run(module, arguments, budget_s, given.fileno())


def _run(module: str, arguments: Sequence[str], budget_s: float, given: int) -> Ran:
    command = [sys.executable, "-P", "-m", module, *arguments]
    began = clock.elapsed_s()
    try:
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**for_programs(), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
    except OSError as error:
        raise Unavailable(f"{module} cannot be started: {error.strerror}") from error
    with process:
        stopped = not _ended_by(process.pid, began + budget_s)
        if stopped:
            process.send_signal(signal.SIGKILL)
            if not _ended_by(process.pid, clock.elapsed_s() + _DIE_S):
                raise Unavailable(f"process {process.pid} does not end: it is still in the kernel")
        assert process.stdout is not None
        words = os.read(process.stdout.fileno(), WORDS_MOST).decode("utf-8", "replace").strip()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Ran(process.returncode, words, clock.elapsed_s() - began, used.ru_stime, stopped)


def _ended_by(pid: int, moment_s: float) -> bool:
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if clock.elapsed_s() > moment_s:
            return False
        clock.sleep(_LOOK_S)
    return True
