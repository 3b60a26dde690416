"""Bytes on their way from the thread that reads perf's pipe to the one that decodes: many pieces in, one out."""

from __future__ import annotations

import threading
from collections import deque

from necroscope import clock
from necroscope.sense.perf.launch.rounds import until_take_s


class Chunks:
    """Holds `most` bytes; who puts more waits. What came is due at the moment when the passes of a second are over, or
    at once when there is plenty of it. Nobody is woken for single pieces."""

    def __init__(self, most: int, plenty: int) -> None:
        self._most, self._plenty = most, plenty
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._due_s = 0.0
        self._ended = False
        self._changed = threading.Condition()

    def put(self, piece: bytes) -> None:
        """Add a piece; waits for room."""
        with self._changed:
            self._changed.wait_for(lambda: self._size < self._most)
            if not self._pieces:
                now = clock.now()
                self._due_s = now.monotonic_ns / clock.NS + until_take_s(now.realtime_ns)
            first = not self._pieces
            self._pieces.append(piece)
            self._size += len(piece)
            if first or self._size >= self._plenty:
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
            return self._ended and not self._pieces

    def take(self, timeout_s: float) -> bytes:
        """All that is there as soon as it is due, nothing when it is not within the time. Without any time: at once."""
        ends_s = clock.elapsed_s() + timeout_s
        with self._changed:
            while timeout_s > 0 and not self._ended and self._size < self._plenty:
                now_s = clock.elapsed_s()
                if self._pieces and now_s >= self._due_s:
                    break
                if now_s >= ends_s:
                    return b""
                self._changed.wait(min(ends_s, self._due_s if self._pieces else ends_s) - now_s)
            taken = b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0
            self._changed.notify_all()
            return taken
