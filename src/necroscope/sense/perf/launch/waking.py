"""How perf is kept awake: in pipe mode it writes when a ring is half full, which takes minutes with large rings.

| way | who has it | how |
|---|---|---|
| `ByControl` | perf 5.10 and later | a line on its control pipe ends its wait, known as a command or not |
| `BySignal` | perf 5.4 and later | with `--switch-output=TIME`, perf catches SIGUSR2, which ends its wait, no more |
| `BySample` | every perf | with `--no-buffering` every sample wakes it |

After each wait perf reads all rings. `unheard` counts the wakings since the last that perf is known to have taken: a
perf that is stopped or stuck takes none. Answers are not needed for that, and perf 5.10 gives none to a `ping`.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import re
import signal
import subprocess
import termios
from typing import Protocol

from necroscope.sense.host import Host
from necroscope.sense.perf.launch.options import BY_CONTROL, BY_SIGNAL

_MOST_UNREAD = 64
# A switch of files after 27 years, which a pipe would refuse: SIGUSR2 is caught from the beginning.
_SWITCH = "--switch-output=10000d"
_PENDING = re.compile(rb"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$", re.MULTILINE)
_CAUGHT = re.compile(rb"^SigCgt:\s*([0-9a-f]+)$", re.MULTILINE)
_STOPPED = re.compile(rb"^State:\s*[Tt]", re.MULTILINE)
_USR2 = 1 << (signal.SIGUSR2 - 1)


class Waking(Protocol):
    """One way to keep a perf awake."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options that perf gets."""

    @property
    def inherited(self) -> tuple[int, ...]:
        """Descriptors that perf needs."""

    @property
    def unheard(self) -> int:
        """Wakings since the last that perf took."""

    def handed_over(self) -> None:
        """perf has its descriptors."""

    def wake(self, process: subprocess.Popen[bytes]) -> None:
        """Make perf read its rings. Never waits."""

    def close(self) -> None:
        """perf is gone."""


def way(wakes: str, host: Host) -> Waking:
    """The way of these options."""
    if wakes == BY_CONTROL:
        return ByControl()
    return BySignal(host) if wakes == BY_SIGNAL else BySample(host)


class ByControl:
    """perf's control pipe. What perf has not read from it yet tells that it does not listen."""

    def __init__(self) -> None:
        self._perfs, self._ours = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self.arguments = ("--control", f"fd:{self._perfs}")
        self.inherited = (self._perfs,)
        self.unheard = 0

    def handed_over(self) -> None:
        """See `Waking`."""
        os.close(self._perfs)

    def wake(self, process: subprocess.Popen[bytes]) -> None:
        """See `Waking`."""
        unread = self._unread()
        self.unheard = self.unheard + 1 if unread else 1
        if unread < _MOST_UNREAD:
            with contextlib.suppress(OSError):
                os.write(self._ours, b"ping\n")

    def close(self) -> None:
        """See `Waking`."""
        os.close(self._ours)

    def _unread(self) -> int:
        size = array.array("i", [0])
        fcntl.ioctl(self._ours, termios.FIONREAD, size)
        return size[0]


class BySignal:
    """SIGUSR2, once perf catches it: before, it would end perf. One that is still pending was not taken."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.arguments = (_SWITCH,)
        self.inherited: tuple[int, ...] = ()
        self.unheard = 0

    def handed_over(self) -> None:
        """See `Waking`."""

    def wake(self, process: subprocess.Popen[bytes]) -> None:
        """See `Waking`."""
        status = self._host.read_or_none(f"/proc/{process.pid}/status") or b""
        caught, pending = _signals(_CAUGHT, status), _signals(_PENDING, status)
        taken = bool(caught & _USR2) and not pending & _USR2
        self.unheard = 1 if taken else self.unheard + 1
        if taken:
            with contextlib.suppress(OSError):
                process.send_signal(signal.SIGUSR2)

    def close(self) -> None:
        """See `Waking`."""


class BySample:
    """perf wakes by itself. That it is stopped is all that can be seen from outside."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.arguments = ("--no-buffering",)
        self.inherited: tuple[int, ...] = ()
        self.unheard = 0

    def handed_over(self) -> None:
        """See `Waking`."""

    def wake(self, process: subprocess.Popen[bytes]) -> None:
        """See `Waking`."""
        status = self._host.read_or_none(f"/proc/{process.pid}/status") or b""
        self.unheard = self.unheard + 1 if _STOPPED.search(status) else 0

    def close(self) -> None:
        """See `Waking`."""


def _signals(which: re.Pattern[bytes], status: bytes) -> int:
    found = 0
    for bits in which.findall(status):
        found |= int(bits, 16)
    return found
