"""Layouts to draw: a small profile, a differential one, and 96 cores of which one is saturated."""

from __future__ import annotations

import numpy as np

from necroscope.clock import NS
from necroscope.query.cores.grid import Grid, Mark
from necroscope.query.profile.flame import Box, Flame

START_NS = 1_767_322_980 * NS  # 2026-01-02 03:03:00


def profile(name: str = "do_syscall_64") -> Flame:
    """Half of the width is `name`, a quarter a library, the rest many narrow boxes of a program."""
    boxes = [
        Box(0, "all", "", 0, 0.0, 1.0, 1000, 4.0),
        Box(1, name, "[kernel]", 1, 0.0, 0.5, 500, 2.0),
        Box(2, "memcpy", "libc.so.6", 1, 0.5, 0.75, 250, 1.0),
    ]
    step = 0.25 / 100
    boxes += [Box(3 + n, f"narrow_{n}", "tool", 1, 0.75 + n * step, 0.75 + (n + 1) * step, 2, 0.01) for n in range(100)]
    return Flame(tuple(boxes), 4.0, 1000, 5.0, False, 7)


def difference() -> Flame:
    """`reclaim`, under `fault`, is new; `unpack` took less; `steady` did not change; `late` is new and narrow."""
    boxes = (
        Box(0, "all", "", 0, 0.0, 1.0, 500, 5.0, 4.0, 1e-9),
        Box(1, "fault", "[kernel]", 1, 0.0, 0.3, 200, 2.1, 0.6, 1e-12),
        Box(2, "charge", "[kernel]", 2, 0.0, 0.29, 195, 2.05, 0.56, 1e-12),
        Box(3, "reclaim", "[kernel]", 3, 0.0, 0.2, 150, 1.49, 0.01, 1e-12),
        Box(4, "steady", "tool", 1, 0.3, 0.8, 150, 2.2, 2.3, 1.0),
        Box(5, "unpack", "liblz4.so.1", 1, 0.8, 0.995, 20, 0.6, 1.1, 0.002),
        Box(6, "late", "[kernel]", 1, 0.995, 1.0, 10, 0.1, 0.0, 0.0001),
    )
    return Flame(boxes, 5.0, 500, 5.0, True, 0)


def cores(columns: int = 60, rows: int = 96, hot: int = 41) -> Grid:
    """All cores at a tenth; one at all of it from the 20th column on; column 50 unknown; two symptoms, a mark."""
    values = np.full((rows, columns), 0.1)
    values[hot, 20:] = 1.0
    values[:, 50] = np.nan
    marks = (
        Mark(20.5, "symptom", "TX queue 12 is stuck", 1),
        Mark(37.0, "symptom", "soft lockup", 2),
        Mark(37.01, "mark", "deploy", 3),
        Mark(-4.0, "mark", "too early", 4),
        Mark(60.0, "mark", "too late", 5),
    )
    return Grid(tuple(f"cpu {number}" for number in range(rows)), values, START_NS, NS, "system time", marks)
