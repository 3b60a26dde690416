"""When a line of the kernel's log was written.

The log is stamped with the kernel's local clock, which runs free, while CLOCK_MONOTONIC is slewed by NTP, by up to 500
parts in a million. The two part ways for as long as the machine is up: after a week at 20 ppm by 12 s. The scheduler's
debug file holds both clocks, read at one instant: with it, only the time since the line is uncertain. Without it, the
arrival of live lines tells: one that the look before did not see was written since, so that the two clocks are known
to a second or less; until a line has come, all the time from boot is uncertain.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from necroscope.clock import ClockReading
from necroscope.errors import Unavailable
from necroscope.sense.host import Host

_SLEW = 500e-6
_LEAST_NS = 1_000_000
_FILES = ("/sys/kernel/debug/sched/debug", "/proc/sched_debug")  # the second before Linux 5.13
_HEAD_BYTES = 512  # no more: the file goes on with every task of every CPU
_PAIR = re.compile(rb"\nktime\s+: (\d{1,15})\.(\d{6})\n(?:[^\n]{1,100}\n)?cpu_clk\s+: (\d{1,15})\.(\d{6})\n")


@dataclass(frozen=True, slots=True)
class LogClock:
    """Places stamps on the time line. `offset_ns` is CLOCK_MONOTONIC minus the log's clock, give or take `spread_ns`;
    None: not known."""

    reading: ClockReading | None
    offset_ns: int | None = None
    spread_ns: int = 0

    def place(self, usec: int) -> tuple[int, int]:
        """UTC nanoseconds of a stamp, and how far off they may be.

        Without a clock there is no UTC: the stamp itself, as uncertain as it is large.
        """
        stamp_ns = usec * 1000
        if self.reading is None:
            return stamp_ns, stamp_ns
        at_ns = self.reading.from_monotonic(stamp_ns + (self.offset_ns or 0))
        age_ns = max(self.reading.realtime_ns - at_ns, 0)
        drifting_ns = stamp_ns if self.offset_ns is None else age_ns
        return at_ns, max(_LEAST_NS, self.spread_ns + round(_SLEW * drifting_ns))


class Arrivals:
    """What live lines tell of the log's clock, from look to look. What it takes for true moves only when it must: a
    line that is placed twice stands where it stood."""

    def __init__(self) -> None:
        self._looked_ns: int | None = None
        self._bounds: tuple[int, int] | None = None
        self._learned_ns = 0
        self._offset_ns = 0

    def learn(self, usec: Sequence[int], began_ns: int, ended_ns: int) -> None:
        """One look, from `began_ns` to `ended_ns` (CLOCK_MONOTONIC), read the log to its end: `usec` are the stamps of
        the lines that were new to it."""
        before, self._looked_ns = self._looked_ns, began_ns
        if before is None or not usec:
            return
        low, high = before - min(usec) * 1000, ended_ns - max(usec) * 1000
        if low > high:  # suspended meanwhile, or stamped by somebody else
            self._bounds = None
            return
        if self._bounds is not None:
            drift = round(_SLEW * (ended_ns - self._learned_ns))
            known = max(low, self._bounds[0] - drift), min(high, self._bounds[1] + drift)
            low, high = known if known[0] <= known[1] else (low, high)
        self._bounds, self._learned_ns = (low, high), ended_ns
        if not low <= self._offset_ns <= high:
            self._offset_ns = (low + high) // 2

    def missed(self) -> None:
        """A look did not read the log to its end: what comes next may be older than it."""
        self._looked_ns = None

    def clock(self, declared: LogClock) -> LogClock:
        """The log's clock, better known; unchanged where files tell it exactly, or nothing has arrived."""
        if declared.offset_ns is not None or declared.reading is None or self._bounds is None:
            return declared
        low, high = self._bounds
        drift = round(_SLEW * max(0, declared.reading.monotonic_ns - self._learned_ns))
        spread = max(self._offset_ns - low, high - self._offset_ns) + drift
        return LogClock(declared.reading, self._offset_ns, spread)


def log_clock(host: Host) -> LogClock:
    """The log's clock of a host: live, or as it was when captured."""
    try:
        reading = host.clock()
    except Unavailable:
        return LogClock(None)
    return LogClock(reading, _offset_ns(host))


def parse_offset(text: bytes) -> int | None:
    """CLOCK_MONOTONIC minus the log's clock, from the head of the scheduler's debug file; None when it is not there."""
    found = _PAIR.search(text)
    if found is None:
        return None
    ktime_ms, ktime_ns, local_ms, local_ns = map(int, found.groups())
    return (ktime_ms - local_ms) * 1_000_000 + ktime_ns - local_ns


def debug_head(host: Host) -> tuple[str, bytes]:
    """The path and the first lines of the scheduler's debug file, for a capture; `Unavailable` when there is none."""
    for path in _FILES:
        text = (host.read_or_none(path) or b"") if host.captured else _head(host, path)
        if parse_offset(text) is not None:
            return path, text
    raise Unavailable("the scheduler's debug file cannot be read", "mount debugfs at /sys/kernel/debug, and be root")


def _offset_ns(host: Host) -> int | None:
    try:
        return parse_offset(debug_head(host)[1])
    except Unavailable:
        return None


def _head(host: Host, path: str) -> bytes:
    try:
        fd = os.open(host.live_path(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, _HEAD_BYTES)
    except OSError:
        return b""
    finally:
        os.close(fd)
