"""What each core did in each second of a stretch of time, as bytes: the layer that every zoom of the map of cores is
pooled from. 12 hours of 96 cores are 20 MB.

A second belongs to the look that covers its middle, so that looks which are a little early or late leave no hole. A
second that nobody looked at is `UNKNOWN`, which is no share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.cores.core_time import CoreTime, core_time
from necroscope.store.read.core_peaks import share
from necroscope.store.read.reader import Snapshot

Bytes = NDArray[np.uint8]
I64s = NDArray[np.int64]

KEPT = ("busy", "system", "user", "irq", "steal")
"""What is kept of each second; `idle` is what is left of `busy`."""
FULL = 250
"""The byte of a whole second."""
UNKNOWN = 255


@dataclass(frozen=True, slots=True)
class Seconds:
    """(kept looks, cores, seconds) of bytes from `from_s` on; `cpus` are the numbers of the cores, in order."""

    from_s: int
    cpus: tuple[int, ...]
    bytes: Bytes

    @property
    def to_s(self) -> int:
        """The second after the last one."""
        return self.from_s + int(self.bytes.shape[2])

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return int(self.bytes.nbytes)

    def of(self, look: str) -> Bytes:
        """(cores, seconds) of one look: 0 to `FULL`, or `UNKNOWN`."""
        if look == "idle":
            busy = self.bytes[KEPT.index("busy")]
            return np.where(busy == UNKNOWN, UNKNOWN, FULL - np.minimum(busy, FULL)).astype(np.uint8)
        found: Bytes = self.bytes[KEPT.index(look)]
        return found


def seconds(snapshot: Snapshot, from_s: int, count: int, notes: list[str] | None = None) -> Seconds:
    """What the cores did in so many seconds. The snapshot has to hold what is two minutes around them."""
    window = from_s * NS, (from_s + count) * NS - 1
    return seconds_of(core_time(snapshot, [window], notes), from_s, count)


def seconds_of(times: CoreTime, from_s: int, count: int) -> Seconds:
    """The same, of rows that were read."""
    cpus, row_of = np.unique(times.cpu, return_inverse=True)
    found = np.full((len(KEPT), cpus.size, count), UNKNOWN, np.uint8)
    row, second = _covered(times.begin_ns, times.at_ns, from_s, count)
    place_of = row_of.reshape(-1)[row] * count + second
    for place, look in enumerate(KEPT):
        told = np.rint(np.clip(share(times.spent, look), 0.0, 1.0) * FULL).astype(np.uint8)
        found[place].reshape(-1)[place_of] = told[row]
    return Seconds(from_s, tuple(cpus.tolist()), found)


def _covered(begin_ns: I64s, at_ns: I64s, from_s: int, count: int) -> tuple[I64s, I64s]:
    """Rows and the seconds whose middle they cover."""
    half = NS // 2
    first = np.maximum(-((half - begin_ns) // NS) - from_s, 0)
    last = np.minimum((at_ns - half) // NS - from_s, count - 1)
    width = np.maximum(0, last - first + 1)
    row = np.repeat(np.arange(begin_ns.size), width)
    second: I64s = first[row] + np.arange(row.size) - np.repeat(np.cumsum(width) - width, width)
    return row, second


def joined(parts: Sequence[Seconds], from_s: int, count: int) -> Seconds:
    """Parts of a stretch as one; what none of them has is unknown."""
    cpus = tuple(sorted({cpu for part in parts for cpu in part.cpus}))
    found = np.full((len(KEPT), len(cpus), count), UNKNOWN, np.uint8)
    place = {cpu: row for row, cpu in enumerate(cpus)}
    for part in parts:
        low, high = max(part.from_s, from_s), min(part.to_s, from_s + count)
        if low < high and part.cpus:
            rows = np.array([place[cpu] for cpu in part.cpus])
            cut = part.bytes[:, :, low - part.from_s : high - part.from_s]
            found[:, rows, low - from_s : high - from_s] = cut
    return Seconds(from_s, cpus, found)
