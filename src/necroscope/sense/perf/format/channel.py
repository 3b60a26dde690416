"""Bytes that come in pieces of any size, as whole records: what is cut is kept, what makes no sense is skipped.

There are two such sequences: the stream itself, and what its compressed records hold.
"""

from __future__ import annotations

from necroscope.sense.perf.format.layout import HEADER_BYTES
from necroscope.sense.perf.format.walk import FINISHED_ROUND

FIRST_WINDOW = 1 << 16
LAST_WINDOW = 1 << 20


class Channel:
    """The end of what came so far. `lost`: the last bytes were no records, and no end of a round was seen since."""

    def __init__(self) -> None:
        self.rest = b""
        self.lost = False
        self.skipped = 0
        self._to_skip = 0
        self._window = FIRST_WINDOW

    def join(self, data: bytes | bytearray | memoryview) -> bytes | bytearray:
        """What was kept and what came, less what is to be skipped."""
        step = min(self._to_skip, len(data))
        self._to_skip -= step
        piece = data[step:] if step else data
        if isinstance(piece, memoryview):
            piece = bytes(piece)
        return self.rest + piece if self.rest else piece

    def keep(self, buffer: bytes | bytearray, place: int) -> None:
        """Keep the end of the buffer for the next time."""
        self.rest = bytes(memoryview(buffer)[place:])

    def skip(self, length: int, there: int) -> int:
        """Skip bytes; returns how many of those that are there, the others are skipped as they come."""
        step = min(length, there)
        self._to_skip = length - step
        return step

    def missing(self) -> int:
        """How many bytes the record that is cut still needs; 0 when nothing is cut."""
        if not self.rest:
            return 0
        if len(self.rest) < HEADER_BYTES:
            return HEADER_BYTES - len(self.rest)
        return max(0, int.from_bytes(self.rest[6:8], "little") - len(self.rest))

    # -- how far to look ahead -------------------------------------------------------------------------------

    def window(self) -> int:
        """How much to take at once: more each time, as long as nothing interrupts."""
        window, self._window = self._window, min(self._window * 2, LAST_WINDOW)
        return window

    def interrupted(self) -> None:
        """Records of perf's own cut the rest into runs that may be short: do not look far ahead for nothing."""
        self._window = FIRST_WINDOW

    # -- losing the thread -------------------------------------------------------------------------------------

    def lose(self) -> None:
        """This is no record: skip everything up to the next end of a round."""
        self.lost = True
        self.skipped = 0

    def find_round(self, buffer: bytes | bytearray, place: int) -> int:
        """The next end of a round, which ends the search; or as far as there is surely none."""
        found = buffer.find(FINISHED_ROUND, place)
        reached = found if found >= 0 else max(place, len(buffer) - HEADER_BYTES + 1)
        self.skipped += reached - place
        self.lost = found < 0
        return reached
