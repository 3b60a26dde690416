"""Bounds of one question: how long it may take, how much memory the server may have, and whether anybody waits."""

from __future__ import annotations

import os
import threading

from necroscope import clock
from necroscope.quantity import size, span
from necroscope.query.stopping import Stopped

MOST_BYTES = 1 << 30
"""Memory of the server's own, above which questions are given up."""


class Limits:
    """A check for `stoppable`: it raises when the time is up, memory runs out, or `give_up` was called."""

    def __init__(self, seconds: float, most_bytes: int = MOST_BYTES) -> None:
        self._seconds, self._most = seconds, most_bytes
        self._until = clock.elapsed_s() + seconds
        self._given_up = threading.Event()

    def give_up(self) -> None:
        """Nobody waits for the answer any more."""
        self._given_up.set()

    def check(self) -> None:
        """Raise `Stopped` when the question has to end."""
        if self._given_up.is_set():
            raise Stopped("nobody waits for the answer any more")
        if clock.elapsed_s() > self._until:
            raise Stopped(f"it took longer than {span(self._seconds)}; ask about less time")
        if own_bytes() > self._most:
            raise Stopped(f"the server holds more than {size(self._most)}; ask about less time")


def own_bytes() -> int:
    """Resident memory of this process that is not backed by files; 0 where the kernel does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
