"""Values of signals over time: what a sensor read at each of its looks. Only the named signals are put together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.remembered import remembered
from necroscope.query.sealed import damage, opened
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]
_TABLES = ("series", "ticks", "changes")
# A few signals are asked for over hours, and again for the next symptom; very many only around one symptom.
_FEW_BYTES = 32 << 10
Labels = tuple[tuple[str, str], ...]
_Part = tuple[str, str, I64s, F64s]
"""Name and labels of a signal, when it was looked at, and its values."""
NEAR_NS = 10 * NS
"""How far from a window a look may be and still count, where none lies within."""


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

        From the last look before the window to the first after it; None with fewer than two looks.
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
    for part in _parts(snapshot, window, wanted, [] if notes is None else notes):
        for name, labels, at_ns, value in part:
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


def _parts(
    snapshot: Snapshot, window: Window, wanted: tuple[str, ...], notes: list[str]
) -> Iterator[tuple[_Part, ...]]:
    for segment in snapshot.segments:
        if segment.overlaps(window):
            with damage(segment.file("series"), notes):
                read = partial(_of_segment, segment, wanted)
                yield remembered(("series", segment.path, wanted), read, _bytes, _FEW_BYTES)
    live = {name: snapshot.live[name] for name in _TABLES if name in snapshot.live}
    if len(live) == len(_TABLES):
        yield tuple(_values(live.get, wanted))


def _of_segment(segment: Segment, wanted: tuple[str, ...]) -> tuple[_Part, ...]:
    """The named signals of a segment. Their values are read only where it has any."""

    def read(name: str) -> pa.Table | None:
        file = opened(segment, name)
        if file is None:
            return None
        with file:
            return file.read(use_threads=False)

    return tuple(_values(read, wanted))


def _bytes(parts: tuple[_Part, ...]) -> int:
    return sum(at_ns.nbytes + value.nbytes + 300 for _, _, at_ns, value in parts)


def _values(read: Callable[[str], pa.Table | None], wanted: tuple[str, ...]) -> Iterator[_Part]:
    series = read("series")
    if series is None or not (chosen := _chosen(series["name"], wanted)).size:
        return
    looked, changed = read("ticks"), read("changes")
    if looked is None or changed is None:
        return
    series = series.take(pa.array(chosen))
    columns = (series[name].to_pylist() for name in ("name", "chunk", "series", "source", "labels", "scale"))
    rows = list(zip(*columns, strict=True))
    ticks = _ticks(looked)
    changes = _changes(changed, {(chunk, number) for _, chunk, number, *_ in rows})
    for name, chunk, number, source, labels, scale in rows:
        looks = ticks.get((chunk, source))
        mine = changes.get((chunk, number))
        if looks is not None and mine is not None:
            tick, units, values = mine
            yield name, labels, *_filled(*looks, tick, units, values, float(scale))


def _chosen(names: pa.ChunkedArray, wanted: tuple[str, ...]) -> I64s:
    """The rows of names that are asked for; each name is looked at once."""
    words = names.combine_chunks()
    if isinstance(words, pa.ChunkedArray):
        words = words.unify_dictionaries().chunk(0) if words.num_chunks else pa.array([], pa.string())
    if not pa.types.is_dictionary(words.type):
        words = words.dictionary_encode()
    asked = np.array([_asked(name, wanted) for name in words.dictionary.to_pylist()] or [False], np.bool_)
    return np.flatnonzero(asked[words.indices.to_numpy(zero_copy_only=False)])


@lru_cache(maxsize=8192)
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
    values = np.where(np.isnan(value[place]), units[place] / scale, value[place])
    there = ~np.isinf(values)
    return at_ns[seen][there], values[there]
