"""The signals around a symptom that anything asks for, read once."""

from __future__ import annotations

from collections.abc import Sequence

from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.series import Series, series_of
from necroscope.vocabulary.event import Window


class Signals:
    """Named signals of one window of the recording, read when one is first asked for."""

    def __init__(self, store: FixedStore, names: Sequence[str], window: Window, notes: list[str]) -> None:
        self._store, self._names, self._window, self._notes = store, tuple(names), window, notes
        self._read: dict[str, list[Series]] | None = None

    def every(self) -> dict[str, list[Series]]:
        """All of them, by name; what was not recorded is absent."""
        if self._read is None:
            self._read = series_of(self._store.snapshot(self._window), self._names, self._window, self._notes)
        return self._read

    def named(self, name: str) -> list[Series]:
        """One signal, of every set of labels."""
        return self.every().get(name, [])
