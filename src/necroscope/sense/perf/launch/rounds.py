"""When perf reads its rings, and when what it read is taken: once a second, by two passes shortly after each other.

    second   |---------------------------------- .70 -- .80 .82 ------|
                                                 pass   pass take      rows are written down

perf ends a pass in which it read anything with the end of a round, and what a round holds is complete once the next
round has ended. So the second pass completes the first one's, and of two passes of a second nothing is older than a
second when it is taken. A pass that finds nothing ends no round: each pass is given a record of our own to find.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from necroscope.clock import NS

PASSES_NS = (700_000_000, 800_000_000)
TAKE_NS = 820_000_000
MOMENT_NS = 20_000_000
_SET_NAME, _GET_NAME = 15, 16
_NAME_BYTES = 16


def until_pass_s(now_ns: int) -> float:
    """Seconds to the next pass."""
    return min((moment - now_ns) % NS or NS for moment in PASSES_NS) / NS


def until_take_s(now_ns: int) -> float:
    """Seconds for which to wait for more of what comes now; a moment behind the second pass."""
    return max(MOMENT_NS, TAKE_NS - now_ns % NS) / NS


def leave_record() -> None:
    """Have the kernel tell every perf of this thread's name, by giving it the name that it has."""
    name = ctypes.create_string_buffer(_NAME_BYTES)
    if _prctl()(_GET_NAME, name, 0, 0, 0) == 0:
        _prctl()(_SET_NAME, name, 0, 0, 0)


@functools.cache
def _prctl() -> Any:
    return ctypes.CDLL(None).prctl
