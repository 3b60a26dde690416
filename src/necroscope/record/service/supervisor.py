"""systemd as the supervisor: readiness, watchdog and reloading, told over its notification socket.

    NOTIFY_SOCKET     a datagram socket of the file system, or (@) of the abstract namespace
    WATCHDOG_USEC     how long we may be silent; WATCHDOG_PID whom that is meant for

Protocol: sd_notify(3), one datagram of NAME=VALUE lines for each message. Nothing here ever waits or fails: a
supervisor that does not listen is one that does not care.
"""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping
from contextlib import suppress

from necroscope import clock

_NAMES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")


class Supervisor:
    """Who started this process, if anybody is to be told. Takes the variables away: children are not meant."""

    def __init__(self, environment: MutableMapping[str, str] = os.environ) -> None:
        self._address, watchdog_us, watchdog_pid = (environment.pop(name, "") for name in _NAMES)
        meant = watchdog_pid in ("", str(os.getpid()))
        self._every_s = int(watchdog_us) / 2e6 if meant and watchdog_us.isdecimal() else 0.0
        self._next_s, self._ready = 0.0, False

    def alive(self, status: str) -> None:
        """Called at every turn of the recorder: ready with the first, then a sign of life as often as is wanted."""
        if not self._ready:
            self._ready = True
            self._tell(f"READY=1\nSTATUS={_line(status)}\nMAINPID={os.getpid()}")
        now_s = clock.elapsed_s()
        if self._every_s and now_s >= self._next_s:
            self._next_s = now_s + self._every_s
            self._tell(f"WATCHDOG=1\nSTATUS={_line(status)}")

    def reloading(self) -> None:
        """Settings are being read again; `reloaded` ends it."""
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={clock.now().monotonic_ns // 1000}")

    def reloaded(self) -> None:
        """The settings are those of now."""
        self._tell("READY=1")

    def stopping(self) -> None:
        """The end has begun; what is left to do may take a moment."""
        self._tell("STOPPING=1")

    def _tell(self, message: str) -> None:
        if not self._address:
            return
        name = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.setblocking(False)
            sender.sendto(message.encode("utf-8", "replace"), name)


def _line(status: str) -> str:
    return " ".join(status.split())[:512]
