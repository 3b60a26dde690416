"""One time line: CLOCK_MONOTONIC stamps become UTC, also across steps of the wall clock and sleep of the machine.

The pair of clocks is read at every turn. A stamp from before a step is placed with the pair that held then. What the
clocks show besides the time becomes events: a step, sleep, and turns that came much too late.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS, ClockReading
from necroscope.record.gaps import OWN_SOURCE, gap
from necroscope.vocabulary.event import Event

STEP_NS = 50_000_000
SLEPT_NS = NS
LATE_NS = 3 * NS
_STEPS = 16


class Timeline:
    """Read it at every turn, then place stamps with `offsets`."""

    def __init__(self, now: ClockReading) -> None:
        self._before = now
        self._offset_ns = _offset(now)
        # Until when (CLOCK_MONOTONIC) an earlier offset held.
        self._earlier: deque[tuple[int, int]] = deque(maxlen=_STEPS)

    def turn(self, now: ClockReading) -> list[Event]:
        """Take the clocks of this turn; the events that they show."""
        before, self._before = self._before, now
        moved_ns = _offset(now) - self._offset_ns
        if abs(moved_ns) > STEP_NS:
            self._earlier.append((before.monotonic_ns, self._offset_ns))
        self._offset_ns = _offset(now)
        return _clock_events(before, now, moved_ns)

    def offsets(self, at_ns: NDArray[np.int64]) -> NDArray[np.int64] | int:
        """What to add to CLOCK_MONOTONIC stamps so that they are UTC."""
        if not self._earlier:
            return self._offset_ns
        found: NDArray[Any] = np.full(at_ns.shape, self._offset_ns, np.int64)
        for until_ns, offset_ns in reversed(self._earlier):
            found = np.where(at_ns <= until_ns, offset_ns, found)
        return found


def _offset(now: ClockReading) -> int:
    return now.realtime_ns - now.monotonic_ns


def _clock_events(before: ClockReading, now: ClockReading, moved_ns: int) -> list[Event]:
    events = []
    slept_ns = (now.boottime_ns - now.monotonic_ns) - (before.boottime_ns - before.monotonic_ns)
    stepped_ns = moved_ns - slept_ns
    passed_ns = now.monotonic_ns - before.monotonic_ns
    if abs(stepped_ns) > STEP_NS:
        shown_ns, at_ns = now.realtime_ns - stepped_ns, now.realtime_ns
        events.append(Event(at_ns, "clock-step", OWN_SOURCE, "clock", from_ns=shown_ns, to_ns=at_ns))
    if slept_ns > SLEPT_NS:
        began_ns = now.realtime_ns - slept_ns - passed_ns
        events.append(gap(began_ns, now.realtime_ns, "host", "the machine slept"))
    if passed_ns > LATE_NS:
        why = "the recorder did not run: it was stopped, got no CPU, or waited for the disk"
        events.append(gap(now.realtime_ns - passed_ns, now.realtime_ns, "sensors", why))
    return events
