"""Numbers by label, bounded: the first so many labels have a series of their own, all later ones share one.

Which labels come first is decided once, so that a counter never goes down. One that did not move for an hour gives its
place up when another one needs it; what it counted is then part of `other`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import nlargest

from necroscope.show.metrics.metric import OTHER, Series

STILL_S = 3_600.0
Labels = tuple[str, ...]


class Slots:
    """Counters by label values."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[Labels, float] = {}
        self._moved_s: dict[Labels, float] = {}
        self._rest: float | None = None

    def add(self, labels: Labels, amount: float, now_s: float) -> None:
        """Count so much more."""
        if labels not in self._counts and not self._room(now_s):
            self._rest = (self._rest or 0.0) + amount
            return
        self._counts[labels] = self._counts.get(labels, 0.0) + amount
        if amount > 0 or labels not in self._moved_s:
            self._moved_s[labels] = now_s

    def series(self) -> Iterator[Series]:
        """Every label with what was counted; all beyond them as `other`."""
        for labels, count in self._counts.items():
            yield Series(labels, count)
        if self._rest is not None:
            width = len(next(iter(self._counts), ("",)))
            yield Series((OTHER,) * width, self._rest)

    def _room(self, now_s: float) -> bool:
        if len(self._counts) < self._most:
            return True
        stillest = min(self._moved_s, key=self._moved_s.__getitem__)
        if now_s - self._moved_s[stillest] < STILL_S:
            return False
        self._rest = (self._rest or 0.0) + self._counts.pop(stillest)
        del self._moved_s[stillest]
        return True


class Rising:
    """How much counters of the kernel rose since the look before; the first look at one counts nothing, and one that
    fell began anew."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, Labels], float] = {}

    def by(self, signal: str, labels: Labels, value: float) -> float:
        """What came since."""
        key = (signal, labels)
        before = self._before.get(key)
        self._before[key] = value
        if before is None:
            return 0.0
        return value - before if value >= before else value

    def forget(self, most: int = 20_000) -> None:
        """Bound what is remembered of things that are gone."""
        if len(self._before) > most:
            self._before.clear()


def largest(values: Mapping[Labels, float], most: int) -> list[Series]:
    """The largest of some gauges, and the sum of all others as `other`."""
    top = nlargest(most, values.items(), key=lambda one: (one[1], one[0]))
    found = [Series(labels, value) for labels, value in top]
    if len(values) > most:
        width = len(top[0][0])
        found.append(Series((OTHER,) * width, sum(values.values()) - sum(value for _, value in top)))
    return found
