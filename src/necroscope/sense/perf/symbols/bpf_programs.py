"""Kernel code that comes and goes while recording: BPF programs and trampolines, each at its place for its time.

The kernel uses a place again at once, so that the same address is another program a moment later. Such addresses are
therefore looked up with the sample's time, and never remembered.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.symbols.frames import FrameTable

U64s = NDArray[np.uint64]
BPF = "[bpf]"
_MOST = 1024
_FOREVER = (1 << 64) - 1


class Programs:
    """The latest programs, in the order they came."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, str]] = []  # start, end, since, name
        self._until: list[int] = []
        self._columns: U64s | None = None

    def came(self, address: int, size: int, name: str, time: int) -> None:
        """A program is at a place from now on."""
        self._rows.append((address, min(address + size, _FOREVER), time, name))
        self._until.append(_FOREVER)
        if len(self._rows) > _MOST:
            del self._rows[: _MOST // 2], self._until[: _MOST // 2]
        self._columns = None

    def went(self, address: int, time: int) -> None:
        """The program at this place is there no longer."""
        for place in range(len(self._rows) - 1, -1, -1):
            if self._rows[place][0] == address and self._until[place] == _FOREVER:
                self._until[place] = time
                self._columns = None
                return

    def where(self, addresses: U64s) -> NDArray[np.int64]:
        """Positions of the addresses that may be in a program."""
        if not self._rows:
            return np.zeros(0, np.int64)
        columns = self._as_columns()
        return np.flatnonzero((addresses >= columns[0].min()) & (addresses < columns[1].max()))

    def name(self, addresses: U64s, times: U64s, numbers: NDArray[np.int32], frames: FrameTable) -> None:
        """Put the frame of the program at each address and time into `numbers`, where there was one."""
        start, end, since, until = self._as_columns()
        for low in range(0, addresses.size, 1024):
            here, now = addresses[low : low + 1024, None], times[low : low + 1024, None]
            inside = (here >= start) & (here < end) & (now >= since) & (now <= until)
            latest = inside.shape[1] - 1 - np.argmax(inside[:, ::-1], axis=1)
            for row in np.flatnonzero(inside.any(axis=1)).tolist():
                numbers[low + row] = frames.number(self._rows[latest[row]][3], BPF)

    def _as_columns(self) -> U64s:
        if self._columns is None:
            rows = [
                (start, end, since, until)
                for (start, end, since, _), until in zip(self._rows, self._until, strict=True)
            ]
            self._columns = np.array(rows, np.uint64).T.copy()
        return self._columns
