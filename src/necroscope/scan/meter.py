"""What looking costs this program."""

from __future__ import annotations

import re
from pathlib import Path

from necroscope import clock
from necroscope.vocabulary.model import Cost


class Meter:
    """What looking cost since the last reading; with `whole_process`, the first one counts from its start."""

    def __init__(self, whole_process: bool) -> None:
        self._wall_s = clock.elapsed_s() - (clock.process_age_s() if whole_process else 0.0)
        self._cpu = (0.0, 0.0) if whole_process else clock.cpu_s()

    def read(self) -> Cost:
        wall_s, (user_s, kernel_s) = clock.elapsed_s(), clock.cpu_s()
        cost = Cost(
            wall_s=wall_s - self._wall_s,
            cpu_s=user_s + kernel_s - sum(self._cpu),
            kernel_s=kernel_s - self._cpu[1],
            rss_bytes=peak_rss_bytes(),
        )
        self._wall_s, self._cpu = wall_s, (user_s, kernel_s)
        return cost


def peak_rss_bytes() -> int:
    """The most memory this program held. (`ru_maxrss` would count what its parent held before it was started.)"""
    match = re.search(rb"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_bytes(), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0
