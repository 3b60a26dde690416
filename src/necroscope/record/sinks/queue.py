"""A sink's queue: bounded, with a pause that grows while the sink fails; told once when it begins to fail and once when
it takes verdicts again. What waits too long, or does not fit, is dropped and counted: the timeline has it all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from necroscope import clock
from necroscope.record.verdicts.pronounced import Pronounced

MOST, KEPT_S = 64, 3_600.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0
Result = Literal["delivered", "failed", "refused", "dropped"]


class Undelivered(Exception):
    """The sink did not take a verdict, and may do so later."""


class Refused(Undelivered):
    """The sink did not take it and never will: another attempt is no use."""


class Sink(Protocol):
    """Takes a verdict, within a time of its own. Raises `Undelivered`."""

    name: str

    def deliver(self, verdict: Pronounced) -> None:
        """Hand it over."""


@dataclass(frozen=True, slots=True)
class Told:
    """What becomes of verdicts: for metrics, and in words where it is worth a line."""

    sink: str
    result: Result
    text: str = ""


class SinkQueue:
    """One for a sink. `report` is called from its thread."""

    def __init__(self, sink: Sink, report: Callable[[Told], None], first_pause_s: float = FIRST_PAUSE_S) -> None:
        self._sink, self._report, self._first_pause_s = sink, report, first_pause_s
        self._waiting: deque[tuple[float, Pronounced]] = deque()
        self._condition = threading.Condition()
        self._stopping = False
        self._failing = False
        self._thread = threading.Thread(target=self._run, name=f"sink {sink.name}"[:15], daemon=True)
        self._thread.start()

    def put(self, verdict: Pronounced) -> None:
        """Hand over; never waits. When too many wait, the oldest goes."""
        with self._condition:
            self._waiting.append((clock.elapsed_s(), verdict))
            dropped = len(self._waiting) > MOST
            if dropped:
                self._waiting.popleft()
            self._condition.notify()
        if dropped:
            self._report(Told(self._sink.name, "dropped"))

    def close(self, patience_s: float = 2.0) -> None:
        """One more attempt for what waits, within a moment."""
        with self._condition:
            self._stopping = True
            self._condition.notify()
        self._thread.join(patience_s)

    def _run(self) -> None:
        pause_s = self._first_pause_s
        while (taken := self._take()) is not None:
            since_s, verdict = taken
            if clock.elapsed_s() - since_s > KEPT_S:
                self._report(Told(self._sink.name, "dropped"))
            elif self._delivered(verdict):
                pause_s = self._first_pause_s
            elif self._stopping:
                return
            else:
                self._put_back(taken)
                self._rest(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _delivered(self, verdict: Pronounced) -> bool:
        """True when nothing more is to be done about it."""
        try:
            self._sink.deliver(verdict)
        except Undelivered as error:
            refused = isinstance(error, Refused)
            text = "" if self._failing else f"sink {self._sink.name} takes no verdicts: {error}"
            self._failing = True
            self._report(Told(self._sink.name, "refused" if refused else "failed", text))
            return refused
        except Exception as error:  # a defect of ours must not end the thread
            text = "" if self._failing else f"sink {self._sink.name} failed: {type(error).__name__}: {error}"
            self._failing = True
            self._report(Told(self._sink.name, "refused", text))
            return True
        text = f"sink {self._sink.name} takes verdicts again" if self._failing else ""
        self._failing = False
        self._report(Told(self._sink.name, "delivered", text))
        return True

    def _take(self) -> tuple[float, Pronounced] | None:
        with self._condition:
            while not self._waiting and not self._stopping:
                self._condition.wait()
            return self._waiting.popleft() if self._waiting else None

    def _put_back(self, taken: tuple[float, Pronounced]) -> None:
        with self._condition:
            if len(self._waiting) < MOST:
                self._waiting.appendleft(taken)

    def _rest(self, pause_s: float) -> None:
        ends_s = clock.elapsed_s() + pause_s
        with self._condition:
            while not self._stopping and (left_s := ends_s - clock.elapsed_s()) > 0:
                self._condition.wait(left_s)
