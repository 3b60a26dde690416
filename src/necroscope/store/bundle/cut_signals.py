"""Signals of a window: the looks in it, and what each series was at every one of them.

Steps add up from the beginning of a chunk. So what came before the first look of the window goes into the first change
that is kept, and a series has the same values there that it has in the whole recording.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from necroscope.store.format.arrow import Tables, from_columns
from necroscope.store.format.tables import CHANGES, SERIES, TICKS
from necroscope.vocabulary.event import Window

I64s = NDArray[np.int64]

_BITS = 32
_STEP, _VALUE, _ENDED = 0, 1, 2


def cut_signals(series: pa.Table, ticks: pa.Table, changes: pa.Table, window: Window) -> Tables:
    """Rows of the three tables that tell the values of a window. Expects whole chunks; none: no look was in it."""
    at_ns = ticks["at_ns"].to_numpy()
    ticks = ticks.filter(pa.array((at_ns >= window[0]) & (at_ns <= window[1])))
    if not ticks.num_rows:
        return {}
    made = _changes(series, ticks, changes)
    changed = _keys(made["chunk"], made["series"])
    known = _keys(series["chunk"].to_numpy(), series["series"].to_numpy())
    tables = {
        TICKS.name: ticks,
        SERIES.name: series.filter(pa.array(np.isin(known, changed))),
        CHANGES.name: from_columns(CHANGES, made),
    }
    return {name: table for name, table in tables.items() if table.num_rows}


def _changes(series: pa.Table, ticks: pa.Table, changes: pa.Table) -> dict[str, Any]:
    """For each series and kept look, the last of the changes up to it since the look before."""
    key, tick = _keys(changes["chunk"].to_numpy(), changes["series"].to_numpy()), changes["tick"].to_numpy()
    order = np.lexsort((tick, key))
    key, tick = key[order], tick[order].astype(np.int64)
    units = np.cumsum(changes["step"].fill_null(0).to_numpy()[order])
    kind = _kinds(changes)[order]
    look = _looks(series, ticks, key, tick)
    # The last change that is in force at a look: the next one is of another series, or for a later look.
    last = np.append((key[1:] != key[:-1]) | (look[1:] != look[:-1]), True)[: key.size] & (look >= 0)
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: key.size])
    of = np.searchsorted(begins, np.arange(key.size), side="right") - 1
    before = np.append(0, units)[begins][of]
    rows = np.flatnonzero(last)
    first = np.append(True, key[rows][1:] != key[rows][:-1])[: rows.size]
    rows = rows[~(first & (kind[rows] == _ENDED))]
    step = _steps(key[rows], units[rows] - before[rows], kind[rows] == _STEP)
    value = changes["value"].take(pa.array(order[rows]))
    return {
        "chunk": changes["chunk"].to_numpy()[order[rows]],
        "series": changes["series"].to_numpy()[order[rows]],
        "tick": look[rows].astype(np.int32),
        "step": pa.array(step, pa.int64(), mask=kind[rows] != _STEP),
        "value": value,
    }


def _keys(chunk: NDArray[Any], number: NDArray[Any]) -> I64s:
    keys: I64s = (chunk.astype(np.int64) << _BITS) + number
    return keys


def _kinds(changes: pa.Table) -> NDArray[np.int64]:
    stepped, valued = (pc.is_valid(changes[name]).to_numpy() for name in ("step", "value"))
    return np.where(valued, _VALUE, np.where(stepped, _STEP, _ENDED))


def _looks(series: pa.Table, ticks: pa.Table, key: I64s, tick: I64s) -> I64s:
    """The first kept look of its source that sees each change; -1: none does."""
    sources = pa.concat_arrays([_texts(series["source"]), _texts(ticks["source"])]).dictionary_encode().indices
    source = sources.to_numpy().astype(np.int64)
    # Chunk and source make a line of looks; looks are numbered along it.
    chunks = np.concatenate([series["chunk"].to_numpy(), ticks["chunk"].to_numpy()])
    lines = np.unique(_keys(chunks, source), return_inverse=True)[1].astype(np.int64).reshape(-1)
    kept = np.sort((lines[series.num_rows :] << _BITS) + ticks["tick"].to_numpy())
    known = _keys(series["chunk"].to_numpy(), series["series"].to_numpy())
    by_key = np.argsort(known, kind="stable")
    if not known.size:
        return np.full(key.size, -1, np.int64)
    place = by_key[np.minimum(np.searchsorted(known, key, sorter=by_key), known.size - 1)]
    line = np.where(known[place] == key, lines[place], -1)
    wanted = (line << _BITS) + tick
    found = kept[np.minimum(np.searchsorted(kept, wanted), kept.size - 1)]
    return np.where((line >= 0) & (found >= wanted) & (found >> _BITS == line), found & ((1 << _BITS) - 1), -1)


def _texts(column: pa.ChunkedArray) -> pa.Array:
    texts = column.cast(pa.string()).combine_chunks()
    return pa.concat_arrays(texts.chunks) if isinstance(texts, pa.ChunkedArray) else texts


def _steps(key: I64s, units: I64s, stepped: NDArray[np.bool_]) -> I64s:
    """What each stepped row adds to the stepped row of its series before it."""
    steps = np.zeros(key.size, np.int64)
    rows = np.flatnonzero(stepped)
    same = np.append(False, key[rows][1:] == key[rows][:-1])[: rows.size]
    steps[rows] = units[rows] - np.where(same, np.append(0, units[rows][:-1])[: rows.size], 0)
    return steps
