"""Bytes on their way from the thread that reads perf's pipe to the one that decodes: many pieces in, one out."""

from __future__ import annotations

import threading

from necroscope import clock
from necroscope.sense.perf.launch.rounds import until_take_s


class Chunks:
    """Holds `most` bytes; who puts more waits. What came is due at the moment when the passes of a second are over, or
    at once when there is plenty of it. Nobody is woken for single pieces."""

    def __init__(self, most: int, plenty: int) -> None:
        self._most, self._plenty = most, plenty
        self._data = bytearray()
        self._due_s = 0.0
        self._ended = False
        self._changed = threading.Condition()

    def put(self, piece: bytes | memoryview) -> None:
        """Add a piece; waits for room."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._data) < self._most)
            first = not self._data
            if first:
                now = clock.now()
                self._due_s = now.monotonic_ns / clock.NS + until_take_s(now.realtime_ns)
            self._data += piece
            if first or len(self._data) >= self._plenty:
                self._changed.notify_all()

    def end(self) -> None:
        """No more will come."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def over(self) -> bool:
        """Whether all that there ever was has been taken."""
        with self._changed:
            return self._ended and not self._data

    def take(self, timeout_s: float) -> bytes | bytearray:
        """All that is there as soon as it is due, nothing when it is not within the time. Without any time: at once."""
        ends_s = clock.elapsed_s() + timeout_s
        with self._changed:
            while timeout_s > 0 and not self._ended and len(self._data) < self._plenty:
                now_s = clock.elapsed_s()
                if self._data and now_s >= self._due_s:
                    break
                if now_s >= ends_s:
                    return b""
                self._changed.wait((min(ends_s, self._due_s) if self._data else ends_s) - now_s)
            taken, self._data = self._data, bytearray()
            self._changed.notify_all()
            return taken
