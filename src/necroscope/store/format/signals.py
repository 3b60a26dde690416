"""Signals, written once per change: series, ticks and steps of one chunk.

Most of a node's numbers stand still, and those that move are counters of whole units (ticks of 0.01 s, microseconds).
So a value is kept as a whole number of 1/scale and only its difference from the tick before is written, if there is
any. A tick says that a source was read at all: a series without a change there has the value it had. A series that
its source no longer reported ends with a row that has neither step nor value; absent is unknown, not unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from necroscope.store.format.arrow import Tables, from_rows
from necroscope.store.format.tables import CHANGES, SERIES, TICKS, valid_text
from necroscope.vocabulary.model import Sample

Key = tuple[str, str, tuple[str, ...]]

_SCALES = (1, 100, 1_000_000, 1_000_000_000)
# Above this a double no longer holds every whole number, so products may not be what they seem.
_EXACT = 1 << 53
_LARGEST = 1 << 62


@dataclass(slots=True)
class _Series:
    number: int
    scale: int
    tick: int = -1
    value: float | None = None
    units: int = 0


class SignalLog:
    """The signals of one chunk. `scales` is what earlier chunks learnt about precision; it is carried on."""

    def __init__(self, chunk: int, labels: Mapping[str, tuple[str, ...]], scales: MutableMapping[Key, int]) -> None:
        self._chunk = chunk
        self._labels = labels
        self._scales = scales
        self._active: dict[str, dict[Key, _Series]] = {}
        self._ended: dict[Key, _Series] = {}
        self._numbers = 0
        self._tick = -1
        self._rows: dict[str, list[tuple[Any, ...]]] = {"series": [], "ticks": [], "changes": []}

    def add(self, at_ns: int, samples: Iterable[Sample], source: str) -> None:
        """One look of a source. What the source reported before and does not report now has ended."""
        self._tick += 1
        self._rows["ticks"].append((self._chunk, self._tick, at_ns, source))
        active = self._active.setdefault(source, {})
        seen = 0
        for sample in samples:
            key = (source, sample.signal, sample.labels)
            series = active.get(key)
            if series is None:
                series = active[key] = self._again(key)
            elif series.tick == self._tick:
                continue
            seen += 1
            series.tick = self._tick
            if series.value != sample.value:
                self._change(key, series, sample.value)
        if seen < len(active):
            self._end(active)

    def take(self) -> Tables:
        """Rows since the last call."""
        rows, self._rows = self._rows, {name: [] for name in self._rows}
        return {
            table.name: from_rows(table, rows[table.name]) for table in (SERIES, TICKS, CHANGES) if rows[table.name]
        }

    def _again(self, key: Key) -> _Series:
        ended = self._ended.pop(key) if key in self._ended else None
        return ended or self._open(key, self._scales.get(key, 1))

    def _open(self, key: Key, scale: int) -> _Series:
        series = _Series(self._numbers, scale)
        self._numbers += 1
        source, name, values = key
        names = self._labels.get(name, ())
        if len(names) != len(values):
            names = tuple(map(str, range(len(values))))
        labels = {key: valid_text(value) for key, value in zip(names, values, strict=True)}
        text = json.dumps(labels, ensure_ascii=False, separators=(",", ":"))
        self._rows["series"].append((self._chunk, series.number, source, name, text, scale))
        return series

    def _change(self, key: Key, series: _Series, value: float) -> None:
        units = _units(value, series.scale)
        if units is None:
            finer = next((s for s in _SCALES if s > series.scale and _units(value, s) is not None), None)
            if finer is None:
                series.value = value
                self._write(series.number, None, value)
                return
            series = self._refined(key, series, finer)
            units = _units(value, finer) or 0
        self._write(series.number, units - series.units, None)
        series.value, series.units = value, units

    def _refined(self, key: Key, series: _Series, scale: int) -> _Series:
        """The series goes on under a new number that counts in smaller units."""
        if series.value is not None:
            self._write(series.number, None, None)
        self._scales[key] = scale
        finer = self._active[key[0]][key] = self._open(key, scale)
        finer.tick = self._tick
        return finer

    def _end(self, active: dict[Key, _Series]) -> None:
        for key in [key for key, series in active.items() if series.tick != self._tick]:
            series = self._ended[key] = active.pop(key)
            series.value = None
            self._write(series.number, None, None)

    def _write(self, number: int, step: int | None, value: float | None) -> None:
        self._rows["changes"].append((self._chunk, number, self._tick, step, value))


def _units(value: float, scale: int) -> int | None:
    """The value in whole units of 1/scale; None unless it comes back to the last bit."""
    product = value * scale
    if not abs(product) < (_LARGEST if scale == 1 else _EXACT):
        return None
    units = round(product)
    return units if units / scale == value else None
