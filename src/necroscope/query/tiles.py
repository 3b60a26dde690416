"""Stretches of the timeline that were read once and are asked for again and again, as by somebody who moves and zooms.

A tile is 512 seconds. It is remembered under the names of the sealed files that it was made from: when some of them are
merged, removed or joined by others, it is another tile. What is not sealed yet is never remembered. The memory is
bounded, and what was not used for the longest time goes first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import Generic, TypeVar

from necroscope import clock
from necroscope.clock import NS
from necroscope.query.stopping import wanted
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

T = TypeVar("T")
TILE_S = 512
TILE_NS = TILE_S * NS
_NEAR_NS = 180 * NS
"""How far from a tile rows may be that tell about its ends."""


class Tiles(Generic[T]):
    """Values by tile. `read` makes one, of a snapshot that has what is near it, from its first second on."""

    def __init__(
        self, read: Callable[[Snapshot, int], T], size: Callable[[T], int], most_bytes: int, live: str
    ) -> None:
        self._read, self._size, self._most, self._live = read, size, most_bytes, live
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def of(self, snapshot: Snapshot, window: Window, most_s: float) -> tuple[dict[int, T], list[int]]:
        """The tiles of a window by number, and the numbers of those for which there was no time, the latest first.

        What is remembered is always there; then tiles are read for `most_s` seconds, the latest first, at least one.
        """
        until = clock.elapsed_s() + most_s
        found: dict[int, T] = {}
        missing: list[tuple[int, Hashable | None, Snapshot]] = []
        for number in numbers(window):
            near = _near(snapshot, number)
            key = self._key(near, number)
            known = None if key is None else self._known(key)
            if known is None:
                missing.append((number, key, near))
            else:
                found[number] = known
        missing.reverse()
        for place, (number, key, near) in enumerate(missing):
            if place and clock.elapsed_s() > until:
                return found, [one for one, _, _ in missing[place:]]
            wanted()
            found[number] = self._made(number, key, near)
        return found, []

    def _made(self, number: int, key: Hashable | None, near: Snapshot) -> T:
        value = self._read(near, number * TILE_S)
        if key is not None:
            with self._lock:
                self._keep(key, value)
        return value

    def _known(self, key: Hashable) -> T | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def _keep(self, key: Hashable, value: T) -> None:
        if key in self._values:
            return
        taken = self._size(value) + 200
        self._values[key] = value, taken
        self._bytes += taken
        while self._bytes > self._most and len(self._values) > 1:
            _, (_, gone) = self._values.popitem(last=False)
            self._bytes -= gone

    def _key(self, near: Snapshot, number: int) -> Hashable | None:
        """None where rows are not sealed yet."""
        table = near.live.get(self._live)
        if table is not None and table.num_rows:
            at_ns = table["at_ns"].to_numpy()
            low, high = number * TILE_NS - _NEAR_NS, (number + 1) * TILE_NS + _NEAR_NS
            if bool(((at_ns >= low) & (at_ns <= high)).any()):
                return None
        return number, tuple((one.first, one.last) for one in near.segments)


def numbers(window: Window) -> Iterator[int]:
    """The tiles that a window touches, the earliest first."""
    return iter(range(window[0] // TILE_NS, window[1] // TILE_NS + 1))


def around(window: Window) -> Window:
    """What a snapshot has to hold for the tiles of a window."""
    return window[0] // TILE_NS * TILE_NS - _NEAR_NS, (window[1] // TILE_NS + 1) * TILE_NS + _NEAR_NS


def _near(snapshot: Snapshot, number: int) -> Snapshot:
    window = number * TILE_NS - _NEAR_NS, (number + 1) * TILE_NS + _NEAR_NS
    return replace(snapshot, segments=tuple(one for one in snapshot.segments if one.overlaps(window)))
