"""The victim: a thread on one core that measures how long it did not run."""

from __future__ import annotations

import json
import time

from necroscope.clock import NS
from necroscope.lab.actors.timing import answer

REPORTED_S = 0.2
_WORK_S = 0.002
_REST_S = 0.008


def work() -> None:
    """A little work a hundred times a second; whenever it was kept from it for long, a line says from when to when."""
    before_ns = time.monotonic_ns()
    while True:
        time.sleep(_REST_S)
        now_ns = time.monotonic_ns()
        stalled_s = (now_ns - before_ns) / NS - _REST_S - _WORK_S
        if stalled_s > REPORTED_S:
            wall_ns = time.time_ns()
            row = {"from_ns": wall_ns - round(stalled_s * NS), "to_ns": wall_ns, "stalled_s": round(stalled_s, 3)}
            answer(json.dumps(row))
        before_ns = now_ns
        while time.monotonic_ns() < now_ns + round(_WORK_S * NS):
            pass
