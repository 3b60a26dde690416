"""A question that can be stopped while it is being answered: by whoever asked, when nobody wants the answer any more or
it takes too long. Readers look every time that they open a file, so that a stopped question reads no further one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Check = Callable[[], None]
"""Raises `Stopped` when the answer is not wanted any more."""

_check: ContextVar[Check | None] = ContextVar("check", default=None)


class Stopped(Exception):
    """The question was given up; `reason` says why, in words for whoever asked."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@contextmanager
def stoppable(check: Check) -> Iterator[None]:
    """Within, `check` is called before each file is read."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def wanted() -> None:
    """Return when the answer is still wanted; else raise what the check raises."""
    check = _check.get()
    if check is not None:
        check()
