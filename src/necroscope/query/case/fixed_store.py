"""A store as it was at one moment, so that one question is answered from one state of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.event import Window

T = TypeVar("T")


class FixedStore(Store):
    """A store as it was at one moment. Looked at anew only where files of the window are gone."""

    def __init__(self, store: Store) -> None:
        self.folder = store.folder
        self._store = store
        self._all = store.snapshot()
        self._known: dict[str, Any] = {}

    def snapshot(self, window: Window | None = None) -> Snapshot:
        """What was there; of the segments, those that may have rows of the window."""
        chosen = tuple(one for one in self._all.segments if one.overlaps(window))
        if not all(one.path.exists() for one in chosen):
            self._all = self._store.snapshot()
            chosen = tuple(one for one in self._all.segments if one.overlaps(window))
        return replace(self._all, segments=chosen)

    def once(self, name: str, read: Callable[[], T]) -> T:
        """What does not depend on the symptom that is asked about, under its name: read when it is first wanted."""
        if name not in self._known:
            self._known[name] = read()
        found: T = self._known[name]
        return found
