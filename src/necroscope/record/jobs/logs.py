"""Ray's logs while they are written: what `import` reads afterwards becomes events at once.

A thread of its own reads once a second: a log may lie on a file system that hangs, and the recorder must not. Events
are stamped when their line was read; what several files tell of one failure is one event.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, Full, Queue

from necroscope import clock
from necroscope.clock import NS
from necroscope.sense.importers.logs.ray_logs import RayLogs
from necroscope.sense.log.follow import Followed
from necroscope.vocabulary.event import Event

EVERY_S = 1.0
_MOST = 2_000


class JobLogs:
    """Follows from the start until `close`."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._followed, self._ray = Followed(patterns), RayLogs(Path("followed"))
        self._events: Queue[Event] = Queue(_MOST)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="job-logs", daemon=True)
        self._thread.start()

    def events(self) -> list[Event]:
        """What came since the last call."""
        found: list[Event] = []
        with suppress(Empty):
            while True:
                found.append(self._events.get_nowait())
        return found

    def close(self) -> None:
        """Stop; a read that hangs is left behind."""
        self._stop.set()
        self._thread.join(0.5)

    def _run(self) -> None:
        while not self._stop.is_set():
            now_ns = clock.now().realtime_ns
            for path, line in self._followed.lines():
                for event in self._ray.line(line, now_ns):
                    with suppress(Full):
                        self._events.put_nowait(_placed(event, path))
            self._stop.wait(EVERY_S)
        self._followed.close()


def _placed(event: Event, path: str) -> Event:
    """As it is kept: an event of the vocabulary, give or take the second between two looks."""
    known = {name: value for name, value in event.fields.items() if name != "uncertainty_ns"}
    return replace(Event(**known), uncertainty_ns=int(EVERY_S * NS), path=path)
