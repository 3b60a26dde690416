"""Samples that several parts of one question are about: of some cores, in some windows.

Whoever knows beforehand which ones these are says so with `keeping`. Then each segment is read once for all of them,
and of what it has only these samples and their stacks are remembered (see `remembered`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from necroscope.query.coverage import joined
from necroscope.query.select import Select
from necroscope.vocabulary.event import Window


@dataclass(frozen=True, slots=True)
class Kept:
    """Cores, and stretches of time in order that do not touch."""

    cpus: frozenset[int]
    windows: tuple[Window, ...]

    def covers(self, select: Select, windows: Sequence[Window]) -> bool:
        """Whether everything that is asked for in these windows is kept."""
        return (
            bool(select.cpus)
            and select.cpus <= self.cpus
            and not (select.pids or select.tids or select.comms or select.cgroups)
            and all(any(low <= one[0] and one[1] <= high for low, high in self.windows) for one in windows)
        )


_kept: ContextVar[Kept | None] = ContextVar("kept", default=None)


@contextmanager
def keeping(cpus: Iterable[int], windows: Iterable[Window]) -> Iterator[None]:
    """Within, samples of these cores in these windows are read once."""
    token = _kept.set(Kept(frozenset(cpus), tuple(joined(windows, gap_ns=0))))
    try:
        yield
    finally:
        _kept.reset(token)


def kept_for(select: Select, windows: Sequence[Window]) -> Kept | None:
    """What is kept, where it has all that is asked for; else None."""
    kept = _kept.get()
    return kept if kept is not None and kept.covers(select, windows) else None
