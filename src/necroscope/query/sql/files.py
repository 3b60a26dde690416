"""The files that a query reads, and whether they are what was sealed: DuckDB looks at no checksum, so we do before.

Only tables that the query can reach are checked, every byte of them; what was found right is not checked again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pyarrow as pa

from necroscope.clock import LAST_NS
from necroscope.query.sql.views import HELPERS, VIEWS
from necroscope.store.format.arrow import joined, schema
from necroscope.store.format.manifest import format_of
from necroscope.store.format.sealed_file import UNREADABLE, open_sealed
from necroscope.store.format.segment import read_table
from necroscope.store.format.tables import EVENTS, SEGMENT
from necroscope.store.read.catalog import Segment
from necroscope.store.read.older_events import WITH_FIELDS
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

_TABLE = re.compile(r"\bstore\.(\w+)")
_VIEW = re.compile(r"\b(?:from|join)\s+(\w+)\b(?!\.)")
_WORD = re.compile(r"\w+")
_AT_ONCE = 4


class SqlFiles:
    """The files of a snapshot. `damaged` are those that were found to be, and are not listed any more."""

    def __init__(self, snapshot: Snapshot, damaged: Iterable[Path] = ()) -> None:
        self.damaged = set(damaged)
        self._right: set[Path] = set()
        self._holding = {table.name: snapshot.holding(table.name) for table in SEGMENT}
        self._older = frozenset(one for one in self._holding[EVENTS.name] if _older(one))

    def paths(self, table: str) -> list[Path]:
        """Where the rows of a table are that SQL can read as they are."""
        older = self._older if table == EVENTS.name else frozenset()
        return [one.file(table) for one in self._whole(table) if one not in older]

    def older_events(self, window: Window | None) -> pa.Table:
        """The events of segments that were written before events had fields, with these."""
        parts = [schema(EVENTS).empty_table()]
        for one in self._whole(EVENTS.name):
            if one in self._older and (table := read_table(one, EVENTS.name)) is not None:
                at_ns = table["at_ns"].to_numpy()
                low, high = window or (0, LAST_NS)
                parts.append(table.filter(pa.array((at_ns >= low) & (at_ns <= high))))
        return joined(EVENTS, parts)

    def _whole(self, table: str) -> list[Segment]:
        return [one for one in self._holding[table] if one.file(table) not in self.damaged]

    def all(self) -> list[Path]:
        """Every file."""
        return [one.file(table) for table in self._holding for one in self._whole(table)]

    def gone(self) -> bool:
        """Whether a segment was merged or removed meanwhile."""
        return not all(path.parent.exists() for path in self.all())

    def check(self, tables: Iterable[str]) -> bool:
        """Verify all of some tables; False when damage was found that was not known."""
        return self._sort_out(tables, whole=True)

    def check_ends(self) -> bool:
        """Verify that every file is there and begins to make sense; False when damage was found."""
        return self._sort_out(self._holding, whole=False)

    def _sort_out(self, tables: Iterable[str], whole: bool) -> bool:
        asked = [(one, name) for name in tables for one in self._holding[name]]
        asked = [(one, name) for one, name in asked if one.file(name) not in self._right | self.damaged]
        with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
            right = list(pool.map(lambda what: _right(what[0], what[1], whole), asked))
        bad = {one.file(name) for (one, name), well in zip(asked, right, strict=True) if not well}
        if whole:
            self._right |= {one.file(name) for one, name in asked} - bad
        self.damaged |= bad
        return not bad


def _older(segment: Segment) -> bool:
    """Whether its events may lack columns. No for one that cannot be read: it is found to be damaged."""
    try:
        return format_of(segment) < WITH_FIELDS
    except OSError:
        return False


def tables_of(sql: str) -> frozenset[str]:
    """The tables that a query may read: those that it names, and those of the views that it names."""
    words = set(_WORD.findall(sql.lower()))
    return frozenset().union(*(tables for name, tables in _reach().items() if name in words))


@cache
def _reach() -> Mapping[str, frozenset[str]]:
    """Tables by the name of a view or of the table itself. A view may be made of other views."""
    found = {table.name: {table.name} for table in SEGMENT}
    views = {**dict(HELPERS), **{view.name: view.sql for view in VIEWS}}
    for name in views:
        found.setdefault(name, set())
    for _ in views:
        for name, sql in views.items():
            found[name] |= set(_TABLE.findall(sql)).union(*(found[one] for one in _VIEW.findall(sql) if one in views))
    return {name: frozenset(tables) for name, tables in found.items()}


def _right(segment: Segment, table: str, whole: bool) -> bool:
    """Whether a file can be believed; one of a segment that is gone is not to blame."""
    try:
        file = open_sealed(segment, table)
        if file is not None:
            with file:
                if whole:
                    file.verify()
    except FileNotFoundError:
        return True
    except UNREADABLE:
        return not segment.path.exists()
    return True
