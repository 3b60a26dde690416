"""Events of format versions 1 and 2, which had a sentence where there are fields now.

This is the only module that reads sentences which this program wrote. Readers of files and journals hand every table of
events through it, so that nobody else sees a row without its fields. Rows keep their ids. In redacted recordings words
of the sentences may be others: what is not found is left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from necroscope.store.format.arrow import from_columns, schema
from necroscope.store.format.tables import EVENTS

WITH_FIELDS = 3
"""The first format version whose events have fields."""

NAMES = frozenset({"events", "symptoms"})
"""The tables that hold events."""

_LATER = tuple(name for name in EVENTS.names if name in EVENTS.later)
_COLUMNS = ("at_ns", "kind", "source", "subject", "text")


def lacking(name: str, there: Sequence[str]) -> bool:
    """Whether a table with these columns was written before events had fields."""
    return name in NAMES and not set(_LATER) <= set(there)


def with_fields(there: pa.Schema) -> pa.Schema:
    """The columns of an older file and those that reading adds."""
    return pa.unify_schemas([there, pa.schema([schema(EVENTS).field(name) for name in _LATER])])


def needed(columns: Sequence[str] | None) -> list[str] | None:
    """The columns to read from an older file to have these; None: all."""
    if columns is None:
        return None
    if not set(columns) & {"text", *_LATER}:
        return list(columns)
    return list(dict.fromkeys([*_COLUMNS, *(name for name in columns if name not in _LATER)]))


def filled(table: pa.Table, columns: Sequence[str] | None = None) -> pa.Table:
    """Rows of an older file, read with its `needed` columns, with their fields; of these columns."""
    there = dict(zip(table.column_names, table.columns, strict=True))
    if columns is not None and not set(columns) & {"text", *_LATER}:
        return table.select(list(columns))
    from necroscope.store.read.older_sentences import fields_of

    rows = zip(*(there[name].to_pylist() for name in _COLUMNS), strict=True)
    fields = [fields_of(*row) for row in rows]
    there["text"] = pa.array(
        [one.get("text", text) for one, text in zip(fields, there["text"].to_pylist(), strict=True)]
    )
    there |= {name: _column(name, fields) for name in _LATER}
    if columns is None:
        return from_columns(EVENTS, there)
    types = schema(EVENTS)
    return pa.table({name: there[name] for name in columns}, pa.schema([types.field(name) for name in columns]))


def _column(name: str, fields: list[dict[str, Any]]) -> pa.Array:
    values = [one.get(name) for one in fields]
    kind = schema(EVENTS).field(name).type
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)
