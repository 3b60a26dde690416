"""When each sensor looks: the fast ones every second, the slow ones every ten, in a thread of their own.

A second must never wait for D-Bus, a container engine or a walk of kernel memory: slow sensors run beside, and their
looks are handed out when they are done. A slow round that is still under way when the next is due is not
started twice; the sensor's own series then shows the hole.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Sequence

from necroscope.sense.host import Host
from necroscope.sense.sensor import Look, Sensor, look
from necroscope.vocabulary.model import Sample, Signal

SLOW_EVERY_S = 10

COST = Signal("sensor_cost_seconds", "seconds", "gauge", "Wall time that one look of a sensor took.", ("sensor",))
SEEN = Signal("sensor_seen", "yes or no", "gauge", "1 when the look saw its subject, 0 when it could not.", ("sensor",))


class Sampler:
    """Looks at sensors when they are due; `finish` ends it."""

    def __init__(
        self, host: Host, fast: Sequence[Sensor], slow: Sequence[Sensor], slow_every_s: int = SLOW_EVERY_S
    ) -> None:
        self._host, self._fast, self._slow, self._every_s = host, tuple(fast), tuple(slow), slow_every_s
        self._done: queue.SimpleQueue[list[Look]] = queue.SimpleQueue()
        self._round: threading.Thread | None = None
        self._next_slow = 0

    def looks(self, second: int) -> list[Look]:
        """The looks of this second: all fast sensors now, and the slow ones that have finished since."""
        if second >= self._next_slow and (self._round is None or not self._round.is_alive()):
            self._next_slow = second + self._every_s
            self._round = threading.Thread(target=self._look_slowly, name="slow-sensors", daemon=True)
            self._round.start()
        found = look(self._fast, self._host)
        while not self._done.empty():
            found += self._done.get()
        return found

    def finish(self, patience_s: float = 5.0) -> list[Look]:
        """Wait for the slow round under way; its looks."""
        if self._round is not None:
            self._round.join(patience_s)
        found: list[Look] = []
        while not self._done.empty():
            found += self._done.get()
        return found

    def _look_slowly(self) -> None:
        self._done.put(look(self._slow, self._host))


def own_samples(looks: Iterable[Look]) -> list[Sample]:
    """Each sensor's own cost and success, as samples."""
    found = []
    for one in looks:
        reading = one.reading
        seen = bool(reading.samples or reading.records or not reading.unseen)
        found.append(Sample(COST.name, round(one.wall_s, 6), (one.sensor,)))
        found.append(Sample(SEEN.name, float(seen), (one.sensor,)))
    return found
