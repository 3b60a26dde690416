"""SQL over a store: DuckDB in this process, over views, on the files of a window and nothing else.

What a user's SQL can reach: the views. Only SELECT (and EXPLAIN of one) is carried out, with harmless table functions;
files other than the listed Parquet files, extensions, settings, variables of this program and the network are out
of reach twice: the query is refused, and the engine is locked before it sees the first one. Nothing spills to disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from necroscope.errors import BadInput
from necroscope.query.sql.answer import Answer
from necroscope.query.sql.dialect import quoted_at
from necroscope.query.sql.files import SqlFiles, tables_of
from necroscope.query.sql.views import HELPERS, VIEWS, statement
from necroscope.store.format.arrow import schema
from necroscope.store.format.tables import EVENTS, JOURNAL, SEGMENT
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.event import Window

MEMORY = "1GiB"

_TRIES = 3
_OLDER = "older_events"
_TABLE_FUNCTIONS = frozenset(
    {
        "unnest",
        "range",
        "generate_series",
        "json_each",
        "json_tree",
        "repeat",
        "summary",
        "histogram",
        "histogram_values",
    }
    | {"pragma_table_info", "duckdb_columns", "duckdb_views", "duckdb_functions", "duckdb_types", "duckdb_settings"}
)
# A damaged name of a column is no UTF-8, which nobody catches on its way out of DuckDB.
_FAILS = (duckdb.Error, OSError, pa.ArrowException, UnicodeDecodeError)
_EXPLAIN = re.compile(r"\s*explain(\s+analyze)?\b", re.IGNORECASE)
_CONFIG: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "allow_community_extensions": False,
    "temp_directory": "",
}
_TYPES = {"word": "varchar", "text": "varchar", "int32": "integer", "int64": "bigint", "uint64": "ubigint"}


class Engine:
    """Answers questions about a store as it was when the engine was made. `notes` are about what could not be read.

    A window makes the views hold its rows only, and keeps files of other times closed. A damaged file is left out, with
    a note; whether one is, is known once a question was asked that reads it.
    """

    def __init__(self, store: Store, window: Window | None = None, memory: str = MEMORY) -> None:
        self._store, self._window, self._memory = store, window, memory
        self._files: SqlFiles | None = None
        self._older_read = False
        self.notes: tuple[str, ...] = ()
        self._connection = self._open()

    def ask(self, sql: str) -> Answer:
        """The answer to one SELECT; `BadInput` says what is wrong with it."""
        sql = quoted_at(sql)
        _check(self._connection, sql)
        tables = tables_of(sql)
        for _ in range(_TRIES):
            if self._files is not None and not self._files.check(tables):
                self._reopen()
            try:
                self._read_older(tables)
                return self._answer(sql)
            except _FAILS as error:
                if not self._files_changed():
                    raise _bad(error) from error
                self._reopen()
        raise BadInput("The store changes faster than it can be read.", "ask about a window with --from and --to")

    def close(self) -> None:
        """Let go of the files."""
        self._connection.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _reopen(self) -> None:
        self.close()
        self._connection = self._open()

    def _read_older(self, tables: frozenset[str]) -> None:
        """Events of older segments, whose fields no SQL can make: read when the first question wants them."""
        if "events" in tables and self._files is not None and not self._older_read:
            self._connection.register(_OLDER, self._files.older_events(self._window))
            self._older_read = True

    def _answer(self, sql: str) -> Answer:
        relation = self._connection.sql(sql)
        columns, batches = tuple(relation.columns), iter(relation.to_arrow_reader())
        # Files are opened by the first batch: only until then can the question be put again.
        first = next(batches, None)
        return Answer(columns, _guarded(chain(() if first is None else (first,), batches)))

    def _open(self) -> duckdb.DuckDBPyConnection:
        for _ in range(_TRIES):
            connection = duckdb.connect(":memory:", config={**_CONFIG, "memory_limit": self._memory})
            try:
                self._make_views(connection)
            except _FAILS as error:
                connection.close()
                if not self._files_changed():
                    raise _bad(error) from error
            else:
                return connection
        raise BadInput("The store changes faster than it can be read.", "ask about a window with --from and --to")

    def _make_views(self, connection: duckdb.DuckDBPyConnection) -> None:
        snapshot = self._store.snapshot(self._window)
        self._older_read = False
        self._files = files = SqlFiles(snapshot, self._files.damaged if self._files else ())
        self.notes = snapshot.notes + tuple(f"{path} is damaged and left out" for path in sorted(files.damaged))
        _make_sources(connection, snapshot, files)
        for name, sql in HELPERS:
            connection.execute(f"create view {name} as {sql}")
        for view in VIEWS:
            connection.execute(statement(view, self._window))
        _lock(connection, files.all())

    def _files_changed(self) -> bool:
        """True when a listed file is gone (merged, removed) or is found to be damaged now: worth another try."""
        return self._files is not None and (not self._files.check_ends() or self._files.gone())


def _make_sources(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, files: SqlFiles) -> None:
    connection.execute("create schema store; create schema journal")
    connection.register(_OLDER, schema(EVENTS).empty_table())
    for table in SEGMENT:
        paths = files.paths(table.name)
        # Events of older files, which lack columns, come apart; of other tables, such files are few.
        by_name = bool(table.later) and table is not EVENTS
        source = _parquet(paths, by_name) if paths else _empty(table.columns)
        if table is EVENTS:
            source += f" union all by name select * from {_OLDER}"
        connection.execute(f"create view store.{table.name} as {source}")
    for table in JOURNAL:
        rows = snapshot.live.get(table.name, schema(table).empty_table())
        connection.register(f"live_{table.name}", rows)
        connection.execute(f"create view journal.{table.name} as select * from live_{table.name}")


def _guarded(batches: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from batches
    except _FAILS as error:
        raise _bad(error) from error


def _lock(connection: duckdb.DuckDBPyConnection, paths: list[Path]) -> None:
    listed = ", ".join(_quoted(path) for path in paths)
    connection.execute("set TimeZone = 'UTC'")
    connection.execute(f"set allowed_paths = [{listed}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _check(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Refuse whatever is not one SELECT. EXPLAIN is looked through: it can carry a statement out."""
    explained = _EXPLAIN.match(sql)
    select = sql[explained.end() :] if explained else sql
    try:
        statements = connection.extract_statements(select)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise BadInput("Only one SELECT is answered, and nothing is changed.", "docs/store-format.md has the views")
        (parsed,) = connection.execute("select json_serialize_sql(?)", [select]).fetchall()[0]
        others = sorted(set(_table_functions(json.loads(parsed))) - _TABLE_FUNCTIONS)
    except (duckdb.Error, RecursionError) as error:
        raise _bad(error) from error
    if others:
        raise BadInput(
            f"A query cannot use {others[0]}().", "only the views can be read; docs/store-format.md has them"
        )


def _table_functions(node: Any) -> Iterator[str]:
    """Names of the table functions in a parsed statement."""
    if isinstance(node, dict):
        if node.get("type") == "TABLE_FUNCTION":
            yield str(node["function"].get("function_name", "")).lower()
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _table_functions(item)


def _bad(error: Exception) -> BadInput:
    text = str(error).strip().partition("\n\n")[0]
    return BadInput(f"The query cannot be answered: {text}", "the views are " + ", ".join(view.name for view in VIEWS))


def _parquet(paths: list[Path], by_name: bool) -> str:
    """The files as one table; by name where older ones lack columns."""
    listed = ", ".join(_quoted(path) for path in paths)
    return f"select * from read_parquet([{listed}]{', union_by_name = true' if by_name else ''})"


def _empty(columns: tuple[Any, ...]) -> str:
    typed = (f'null::{_TYPES.get(column.type, "double")} as "{column.name}"' for column in columns)
    return f"select {', '.join(typed)} where false"


def _quoted(path: Path) -> str:
    return "'" + str(path.absolute()).replace("'", "''") + "'"
