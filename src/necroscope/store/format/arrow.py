"""Declared tables as Arrow: schemas, empty tables, and tables made from columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

# All of pyarrow.compute takes as long to load as the rest of pyarrow: it writes a function for each of these.
from pyarrow._compute import SortOptions, call_function

from necroscope.store.format.core_times import COARSE_NS
from necroscope.store.format.tables import JOURNAL, Table

Tables = dict[str, pa.Table]
"""Rows by the name of their table. An absent table has no rows."""

WORD = pa.dictionary(pa.int32(), pa.string())
_TYPES = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "float64": pa.float64(),
    "text": pa.string(),
    "word": WORD,
}


@cache
def schema(table: Table, plain: bool = False) -> pa.Schema:
    """The columns of a table; `plain` has words as text, which is how a journal carries them."""
    types = {**_TYPES, "word": pa.string()} if plain else _TYPES
    return pa.schema([pa.field(column.name, types[column.type], column.optional) for column in table.columns])


def from_rows(table: Table, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """A table of rows whose values stand in the order of the columns."""
    columns = zip(*rows, strict=True) if rows else [()] * len(table.columns)
    return from_columns(table, dict(zip(table.names, columns, strict=True)))


def from_columns(table: Table, columns: Mapping[str, Any]) -> pa.Table:
    """A table from columns, each a sequence, a NumPy or an Arrow array. Those that were added later may lack: null."""
    wanted = schema(table)
    rows = len(columns[table.names[0]])
    arrays = [
        pa.nulls(rows, wanted.field(name).type)
        if name not in columns and name in table.later
        else _array(columns[name], wanted.field(name).type)
        for name in table.names
    ]
    return pa.Table.from_arrays(arrays, schema=wanted)


def joined(table: Table, parts: Sequence[pa.Table]) -> pa.Table:
    """The rows of all parts, with one dictionary for each column of words."""
    if len(parts) == 1:
        return parts[0]
    return pa.concat_tables([schema(table).empty_table(), *parts]).unify_dictionaries().combine_chunks()


def in_order(table: Table, rows: pa.Table) -> pa.Table:
    """The rows in the declared order of the table."""
    keys = pa.table({name: _sortable(rows[name]) for name in table.order})
    options = SortOptions([(name, "ascending") for name in table.order])
    return call_function("take", [rows, call_function("sort_indices", [keys], options)])


def text_order(texts: pa.Array) -> Any:
    """The places of texts in the order of their bytes."""
    return call_function("array_sort_indices", [texts]).to_numpy()


def taken(values: pa.Array, places: Any) -> pa.Array:
    """What stands at these places."""
    return call_function("take", [values, pa.array(places)])


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """The column in one piece; not copied where it is one already."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def time_range(tables: Tables) -> tuple[int, int] | None:
    """First and last instant of all rows, which are as a journal has them."""
    spans = list(_spans(tables))
    return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None


def _spans(tables: Tables) -> Iterator[tuple[int, int]]:
    for declared in JOURNAL:
        table = tables.get(declared.name)
        if table is not None and table.num_rows and declared.time:
            span = call_function("min_max", [table[declared.time]]).as_py()
            yield span["min"], span["max"]
            if declared.name == "cores":
                yield _coarse_span(table)


def _coarse_span(cores: pa.Table) -> tuple[int, int]:
    """From when on looks at the cores tell, where they are far apart: a reader must find them by any part of it."""
    at_ns, passed_ms = cores["at_ns"].to_numpy(), cores["passed_ms"].to_numpy()
    coarse = passed_ms > COARSE_NS // 1_000_000
    began_ns = at_ns[coarse] - passed_ms[coarse].astype(np.int64) * 1_000_000
    return int(began_ns.min(initial=at_ns[0])), int(at_ns[0])


def _sortable(column: pa.ChunkedArray) -> Any:
    """What sorts as the column does: of words, the places of their texts among all texts."""
    if column.type != WORD or column.null_count:
        return column.cast(pa.string()) if column.type == WORD else column
    words = column.unify_dictionaries().combine_chunks()
    texts = words.dictionary.to_pylist()
    place = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.array([place[text] for text in texts], np.int32)[words.indices.to_numpy()]


def _array(values: Any, wanted: pa.DataType) -> Any:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values if values.type == wanted else values.cast(wanted)
    if wanted == WORD:
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, wanted)
