"""The only reader of time.

One time base: UTC nanoseconds (`at_ns`). A `ClockReading` ties the kernel's clocks to it, so that a
stamp of one clock can be placed on the time line of another, in a capture as on the live host.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

NS = 1_000_000_000
# 2262-01-01: nanoseconds that a signed 64-bit number holds, with room for sums.
LAST_NS = 9_214_646_400 * NS


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One instant on three clocks: UTC, CLOCK_MONOTONIC (stops in suspend), CLOCK_BOOTTIME (does not)."""

    realtime_ns: int
    monotonic_ns: int
    boottime_ns: int

    def from_monotonic(self, monotonic_ns: int) -> int:
        """The UTC nanosecond of a CLOCK_MONOTONIC stamp."""
        return self.realtime_ns - (self.monotonic_ns - monotonic_ns)

    def from_boottime(self, boottime_ns: int) -> int:
        """The UTC nanosecond of a CLOCK_BOOTTIME stamp."""
        return self.realtime_ns - (self.boottime_ns - boottime_ns)


def now() -> ClockReading:
    """The three clocks, read back to back."""
    return ClockReading(
        realtime_ns=time.time_ns(),
        monotonic_ns=time.clock_gettime_ns(time.CLOCK_MONOTONIC),
        boottime_ns=time.clock_gettime_ns(time.CLOCK_BOOTTIME),
    )


def today() -> date:
    """The date, UTC."""
    return datetime.now(UTC).date()


def elapsed_s() -> float:
    """A monotonic stop-watch in seconds, for budgets and costs."""
    return time.monotonic()


def cpu_s() -> tuple[float, float]:
    """User and kernel seconds that this process and its ended children have used."""
    used = os.times()
    return used.user + used.children_user, used.system + used.children_system


def thread_cpu_s() -> float:
    """CPU seconds that this thread has used."""
    return time.thread_time()


def process_age_s() -> float:
    """Seconds since this process was started, give or take a clock tick; 0 where the kernel does not tell."""
    try:
        after_name = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        started_s = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started_s)


def sleep(seconds: float) -> None:
    """Wait; nothing happens for zero and below."""
    if seconds > 0:
        time.sleep(seconds)


def iso(at_ns: int) -> str:
    """UTC in ISO 8601 with milliseconds: 2026-01-02T03:04:05.678Z."""
    moment = datetime.fromtimestamp(at_ns // NS, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at_ns % NS // 1_000_000:03d}Z"
