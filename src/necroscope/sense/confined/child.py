"""A child process of ours: a fresh Python with a few modules, sockets as its descriptors 3 and up, and nothing else.

It is ended by SIGKILL, and nobody waits for that: a process that sleeps in the kernel over a file may not even die. It
is left behind then, and looked after later.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from necroscope import clock
from necroscope.errors import Unavailable

_FIRST_FD = 3
_OUT_OF_THE_WAY = 64
_SOURCES = (str(Path(__file__).parents[3]), str(Path(np.__file__).parents[1]))
_PROGRAM = "import sys; sys.path[:0] = {sources!r}; from necroscope.sense.confined.{module} import main; main({parent})"
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
_DEATH_S = 0.1


class Child:
    """One process and our end of its first socket."""

    def __init__(self, module: str, sockets: Sequence[socket.socket]) -> None:
        """Start it; `sockets` become its descriptors after the first, which is ours to talk to it."""
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket = ours
        try:
            self.pid = _spawn(module, [its, *sockets])
        except OSError as error:
            ours.close()
            raise Unavailable(f"the {module} cannot be started: {error.strerror}") from error
        finally:
            its.close()

    def send(self, packet: bytes) -> bool:
        """Hand over a packet; False when the child is dead or does not take it."""
        try:
            self.socket.send(packet, socket.MSG_DONTWAIT)
        except OSError:
            return False
        return True

    def receive(self, most: int, timeout_s: float, waker: int = -1) -> bytes | None:
        """The next packet; empty when the child is dead, None when nothing came in time or `waker` became readable."""
        waiting = select.poll()
        waiting.register(self.socket, select.POLLIN)
        if waker >= 0:
            waiting.register(waker, select.POLLIN)
        ready = {fd for fd, _ in waiting.poll(max(0, int(timeout_s * 1000)))}
        if self.socket.fileno() not in ready:
            return None
        try:
            return self.socket.recv(most)
        except OSError:
            return b""

    def kill(self) -> bool:
        """End it; whether it is dead by now. Otherwise ask `gone` again later."""
        self.socket.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)
        ends = clock.elapsed_s() + _DEATH_S
        while not self.gone():
            if clock.elapsed_s() > ends:
                return False
            clock.sleep(0.002)
        return True

    def gone(self) -> bool:
        """Whether it is dead and buried."""
        try:
            return os.waitpid(self.pid, os.WNOHANG)[0] == self.pid
        except ChildProcessError:
            return True


def _spawn(module: str, sockets: Sequence[socket.socket]) -> int:
    code = _PROGRAM.format(sources=list(_SOURCES), module=module, parent=os.getpid())
    copies: list[int] = []
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        for one in sockets:  # away from the numbers that they are about to get
            copies.append(fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY))
        actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in range(_FIRST_FD)]
        actions += [(os.POSIX_SPAWN_DUP2, copy, _FIRST_FD + place) for place, copy in enumerate(copies)]
        command = [sys.executable, "-I", "-S", "-E", "-c", code]
        return os.posix_spawn(sys.executable, command, _ENVIRONMENT, file_actions=actions, setsigdef=[signal.SIGPIPE])
    finally:
        for fd in (null, *copies):
            os.close(fd)
