"""Values of signals over time: what a sensor read at each of its looks. Only the named signals are put together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.event import Window
from necroscope.query.sealed import damage, opened
from necroscope.store.reader import Snapshot

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]
_TABLES = ("series", "ticks", "changes")
Labels = tuple[tuple[str, str], ...]
NEAR_NS = 10 * NS
"""How far from a window a look may be that still tells about it, where none lies within."""


@dataclass(frozen=True, slots=True)
class Series:
    """One signal of one set of labels: its values in order of time. What was not read is not there."""

    name: str
    labels: Labels
    at_ns: I64s
    value: F64s

    def label(self, name: str) -> str:
        """The value of a label; empty where it has none of that name."""
        return dict(self.labels).get(name, "")

    def rate(self, window: Window) -> float | None:
        """How fast a counter grew in a window, per second; a counter that begins anew counts from there.

        From the last look before the window to the first after it; None where fewer than two looks tell.
        """
        low = max(0, int(np.searchsorted(self.at_ns, window[0], side="right")) - 1)
        high = min(self.at_ns.size, int(np.searchsorted(self.at_ns, window[1])) + 1)
        at_ns, value = self.at_ns[low:high], self.value[low:high]
        if at_ns.size < 2 or at_ns[-1] <= at_ns[0]:
            return None
        return float(np.maximum(np.diff(value), 0.0).sum() / ((at_ns[-1] - at_ns[0]) / NS))

    def mean(self, window: Window) -> float | None:
        """The mean of a gauge over the looks in a window; without any, the nearest look within `NEAR_NS` of it."""
        low, high = np.searchsorted(self.at_ns, (window[0], window[1] + 1))
        if high > low:
            return float(self.value[low:high].mean())
        near = [place for place in (int(low) - 1, int(low)) if 0 <= place < self.at_ns.size]
        away = [(max(window[0] - int(self.at_ns[one]), int(self.at_ns[one]) - window[1]), one) for one in near]
        return float(self.value[min(away)[1]]) if away and min(away)[0] <= NEAR_NS else None

    def at(self, at_ns: int) -> float | None:
        """The value of the last look up to then; None when the first one was later."""
        place = int(np.searchsorted(self.at_ns, at_ns, side="right")) - 1
        return float(self.value[place]) if place >= 0 else None


def series_of(
    snapshot: Snapshot, names: Iterable[str], window: Window, notes: list[str] | None = None
) -> dict[str, list[Series]]:
    """The named signals in a window, by name; a name that ends in `*` asks for all that begin so."""
    wanted = tuple(names)
    found: dict[tuple[str, str], list[tuple[I64s, F64s]]] = {}
    for tables in _parts(snapshot, window, [] if notes is None else notes):
        for name, labels, at_ns, value in _values(tables, wanted):
            inside = (at_ns >= window[0]) & (at_ns <= window[1])
            if inside.any():
                found.setdefault((name, labels), []).append((at_ns[inside], value[inside]))
    by_name: dict[str, list[Series]] = {}
    for (name, labels), parts in found.items():
        by_name.setdefault(name, []).append(_joined(name, labels, parts))
    return by_name


def _joined(name: str, labels: str, parts: list[tuple[I64s, F64s]]) -> Series:
    at_ns, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(at_ns, kind="stable")
    pairs = json.loads(labels) if labels else {}
    return Series(name, tuple((str(key), str(one)) for key, one in pairs.items()), at_ns[order], value[order])


def _parts(snapshot: Snapshot, window: Window, notes: list[str]) -> Iterator[dict[str, pa.Table]]:
    for segment in snapshot.segments:
        if not segment.overlaps(window):
            continue
        with damage(segment.file("series"), notes):
            tables = {}
            for name in _TABLES:
                file = opened(segment, name)
                if file is not None:
                    with file:
                        tables[name] = file.read(use_threads=False)
            if len(tables) == len(_TABLES):
                yield tables
    live = {name: snapshot.live[name] for name in _TABLES if name in snapshot.live}
    if len(live) == len(_TABLES):
        yield live


def _values(tables: dict[str, pa.Table], wanted: tuple[str, ...]) -> Iterator[tuple[str, str, I64s, F64s]]:
    series = tables["series"]
    names = series["name"].to_pylist()
    chosen = [row for row, name in enumerate(names) if _asked(name, wanted)]
    if not chosen:
        return
    columns = (series[name].to_pylist() for name in ("chunk", "series", "source", "labels", "scale"))
    chunk_of, number_of, source_of, labels_of, scale_of = columns
    ticks = _ticks(tables["ticks"])
    changes = _changes(tables["changes"], {(chunk_of[row], number_of[row]) for row in chosen})
    for row in chosen:
        looks = ticks.get((chunk_of[row], source_of[row]))
        mine = changes.get((chunk_of[row], number_of[row]))
        if looks is not None and mine is not None:
            tick, units, told = mine
            at_ns, value = _filled(*looks, tick, units, told, float(scale_of[row]))
            yield names[row], labels_of[row], at_ns, value


def _asked(name: str, wanted: tuple[str, ...]) -> bool:
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in wanted)


def _ticks(table: pa.Table) -> dict[tuple[int, str], tuple[I64s, I64s]]:
    """By chunk and source: numbers of the looks, and when they were."""
    chunk, tick, at_ns = (table[name].to_numpy() for name in ("chunk", "tick", "at_ns"))
    source = table["source"].combine_chunks()
    encoded = source if pa.types.is_dictionary(source.type) else source.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    code, words = encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
    found = {}
    for one in np.unique(chunk).tolist():
        for number, word in enumerate(words):
            rows = np.flatnonzero((chunk == one) & (code == number))
            if rows.size:
                order = rows[np.argsort(tick[rows])]
                found[one, word] = tick[order].astype(np.int64), at_ns[order]
    return found


def _changes(table: pa.Table, keys: set[tuple[int, int]]) -> dict[tuple[int, int], tuple[I64s, I64s, F64s]]:
    """By chunk and series: look, steps so far, and the value itself (nan: by steps; inf: ended)."""
    chunk, number = table["chunk"].to_numpy().astype(np.int64), table["series"].to_numpy()
    key = (chunk << 32) + number
    rows = np.flatnonzero(np.isin(key, [(one << 32) + two for one, two in keys]))
    if not rows.size:
        return {}
    table = table.take(pa.array(rows))
    key, tick = key[rows], table["tick"].to_numpy().astype(np.int64)
    step = table["step"].fill_null(0).to_numpy()
    value = table["value"].fill_null(float("nan")).to_numpy().copy()
    ended = ~pc.is_valid(table["step"]).to_numpy() & ~pc.is_valid(table["value"]).to_numpy()
    value[ended] = np.inf
    order = np.lexsort((tick, key))
    key, tick, step, value = key[order], tick[order], step[order], value[order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    found = {}
    for low, high in zip(begins.tolist(), [*begins[1:].tolist(), key.size], strict=True):
        both = int(key[low]) >> 32, int(key[low]) & 0xFFFFFFFF
        found[both] = tick[low:high], np.cumsum(step[low:high]), value[low:high]
    return found


def _filled(looks: I64s, at_ns: I64s, tick: I64s, units: I64s, value: F64s, scale: float) -> tuple[I64s, F64s]:
    """The value at every look of the source: that of the last change; none after the series ended."""
    place = np.searchsorted(tick, looks, side="right") - 1
    seen = place >= 0
    place = place[seen]
    told = np.where(np.isnan(value[place]), units[place] / scale, value[place])
    there = ~np.isinf(told)
    return at_ns[seen][there], told[there]
