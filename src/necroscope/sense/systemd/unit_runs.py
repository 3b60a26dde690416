"""Runs of systemd's services, counted from look to look: starts, ends with success, ends with failure.

What can be shown is counted, nothing is guessed. systemd tells of each service the last start, the end of that run once
it is over, and how often it restarted it by itself; it forgets an end when the next run begins, and a unit that is down
when nothing refers to it. So automatic restarts are complete, and of other starts between two looks the last one is
counted. Of the ends the last one is seen where the service is down; those before it are known where the restart policy
tells them (`on-failure` restarts after failures alone). Ends that nobody saw are in neither count.

NRestarts begins anew when a unit is started by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from necroscope.sense.systemd.unit_properties import Service
from necroscope.vocabulary.model import UnitState

UNITS_MAX = 4096

_AFTER_FAILURE = frozenset({"on-failure", "on-abnormal", "on-abort", "on-watchdog"})
_AFTER_SUCCESS = "on-success"
_DOWN = ("inactive", "failed")
# A look takes a moment: what happened during the last one may have been missed by it. What it saw is in the book.
_SLACK_US = 1_000_000


@dataclass(frozen=True, slots=True)
class _Book:
    """One unit: how it stood when it was last seen, and its counts."""

    active: str = "inactive"
    restarts: int = 0
    started_us: int = 0
    ended_us: int = 0
    owed: int = 0  # restarts that were counted and whose start was not seen yet
    down: bool = False  # the last end was counted, and nothing has started since
    starts: int = 0
    successes: int = 0
    failures: int = 0


class UnitRuns:
    """Counts since the first look, which counts nothing."""

    def __init__(self) -> None:
        self._services: dict[str, Service] | None = None
        self._books: dict[str, _Book] = {}
        self._looked_us = 0

    def moved(self, service: Service) -> bool:
        """True when the service does not stand as it stood at the last look."""
        if self._services is None:
            return False
        before = self._services.get(service.name)
        return before != service if before is not None else service.started_us > self._looked_us

    def counted(self, services: Iterable[Service], states: list[UnitState], now_us: int) -> list[UnitState]:
        """The states with their counts; `services` are all that were asked at this look, which was at `now_us`."""
        before = self._services
        found = []
        for state in states:
            book = self._opened(state, before)
            if before is not None:
                book = _entered(book, state, self._looked_us)
            self._books[state.name] = replace(
                book,
                active=state.active_state,
                restarts=state.restarts,
                started_us=state.started_us,
                ended_us=state.ended_us,
            )
            found.append(replace(state, starts=book.starts, successes=book.successes, failures=book.failures))
        self._services = {service.name: service for service in services}
        self._looked_us = now_us
        if len(self._books) > UNITS_MAX:
            self._books.clear()
        return found

    def _opened(self, state: UnitState, before: dict[str, Service] | None) -> _Book:
        """The unit's book; of one that was in no trouble so far, begun from how it stood at the look before."""
        known = self._books.get(state.name)
        if known is not None:
            return known
        service = before.get(state.name) if before else None
        return _Book(service.active, service.restarts, service.started_us) if service else _Book()


def _entered(book: _Book, state: UnitState, looked_us: int) -> _Book:
    """The book with what happened since the look before."""
    started = state.started_us != book.started_us and state.started_us > looked_us - _SLACK_US
    ended = state.ended_us != book.ended_us and state.ended_us > looked_us - _SLACK_US
    # Nothing but a start from outside wakes a unit that was down for good, and it makes NRestarts begin anew.
    by_hand = started and (book.active in _DOWN or state.restarts < book.restarts)
    restarted = state.restarts if by_hand else max(0, state.restarts - book.restarts)
    starts = max(1, restarted + (1 if by_hand else book.owed)) if started else 0
    unseen = max(0, restarted - (book.down and not by_hand))
    succeeded = int(ended and state.result == "success") + (unseen if state.restart_policy == _AFTER_SUCCESS else 0)
    failed = int(ended and state.result != "success") + (unseen if state.restart_policy in _AFTER_FAILURE else 0)
    return replace(
        book,
        owed=0 if started else book.owed + restarted,
        down=ended or (book.down and not started and not restarted),
        starts=book.starts + starts,
        successes=book.successes + succeeded,
        failures=book.failures + failed,
    )
