"""What is known of a node's processes around a symptom: how long they waited for a core, and their cgroups."""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.clock import NS
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.rows import Row, rows_of
from necroscope.vocabulary.event import Window

LOOK_NS = 10 * NS
"""A look at the processes tells what passed since the one before it."""

_COLUMNS = ["at_ns", "pid", "comm", "cgroup", "user_ms", "system_ms", "run_delay_ms", "cpu"]
_CGROUPS_BEFORE_NS, _CGROUPS_AFTER_NS = 60 * NS, 15 * NS


class Processes:
    """The looks at processes, of one window of the recording, read when they are first asked for."""

    def __init__(self, store: FixedStore, window: Window, notes: list[str]) -> None:
        self._store, self._window, self._notes = store, window, notes
        self._read: list[Row] | None = None

    def within(self, window: Window) -> Iterable[Row]:
        """The rows of looks in a window, oldest first."""
        return (row for row in self._rows() if window[0] <= row["at_ns"] <= window[1])

    def cgroups(self, at_ns: int) -> dict[int, list[str]]:
        """The cgroups of each process around a moment, in the order in which they were seen."""
        found: dict[int, list[str]] = {}
        for row in self.within((at_ns - _CGROUPS_BEFORE_NS, at_ns + _CGROUPS_AFTER_NS)):
            if row["cgroup"]:
                mine = found.setdefault(row["pid"], [])
                if row["cgroup"] not in mine:
                    mine.append(row["cgroup"])
        return found

    def _rows(self) -> list[Row]:
        if self._read is None:
            snapshot = self._store.snapshot(self._window)
            self._read = rows_of(snapshot, "processes", self._window, _COLUMNS, notes=self._notes)
        return self._read
