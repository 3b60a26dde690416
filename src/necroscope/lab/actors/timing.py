"""How an actor lives: a little of its work all the time, on a cue without rest for so long; and how it answers."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable

REST_S = 0.25


def answer(line: object) -> None:
    """A line for whoever started this actor and waits for it (`Actor.answer`)."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def on_cues(little: Callable[[], object], hard: Callable[[float], object], rest_s: float = REST_S) -> None:
    """Until the input ends: `little()`, a rest. On the cue `SECONDS`, `hard(ends)` instead, where `ends` is of the
    monotonic clock; what that returns is the answer."""
    while True:
        if not select.select([sys.stdin], [], [], rest_s)[0]:
            little()
            continue
        line = sys.stdin.readline()
        if not line:
            return
        answer(hard(time.monotonic() + float(line)))
