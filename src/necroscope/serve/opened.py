"""The recording that is served, with what of it is remembered between requests. Threads share it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from necroscope import clock
from necroscope.errors import NecroscopeError
from necroscope.query.cores.seconds import Seconds, seconds
from necroscope.query.events.landmarks import events
from necroscope.query.extent import extent_of_all
from necroscope.query.stopping import Stopped, stoppable
from necroscope.query.tiles import TILE_NS, TILE_S, Tiles, around, numbers
from necroscope.query.tracks.by_second import Lines, lines_of_tile, nbytes
from necroscope.serve.limits import Limits
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.event import Event, Window

_CORES_BYTES, _TRACKS_BYTES, _EVENTS_BYTES = 128 << 20, 32 << 20, 16 << 20
_FRESH_S = 0.3
_AHEAD_NS, _AHEAD_S = 12 * 3600 * clock.NS, 30.0
# Of events of the recorder itself and of restarts, these are flags on the timeline.
FLAGS = frozenset(
    (
        "recorder-started",
        "recorder-stopped",
        "recorder-gap",
        "recorder-sheds",
        "recorder-recovers",
        "clock-step",
        "unit-failed",
        "container-died",
    )
)
_MOST_FLAGS = 400


@dataclass(frozen=True, slots=True)
class Source:
    """Where a recording comes from: a store that may still be written, or a bundle, which never changes."""

    store: Path
    bundle: str = ""
    host: tuple[str, str] = ("", "")
    """Name and kernel of the host, where the store itself does not tell them."""


class Opened:
    """A recording that is open for questions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.store = Store(source.store)
        self.cores: Tiles[Seconds] = Tiles(_core_seconds, lambda one: one.nbytes, _CORES_BYTES, "cores")
        self.tracks: Tiles[Lines] = Tiles(lines_of_tile, nbytes, _TRACKS_BYTES, "ticks")
        self.flags: Tiles[tuple[Event, ...]] = Tiles(_flags, lambda one: 600 * len(one), _EVENTS_BYTES, "events")
        self._lock = threading.Lock()
        self._whole: tuple[float, Snapshot] | None = None

    def whole(self) -> Snapshot:
        """All of the store, as it was a moment ago at most."""
        with self._lock:
            if self._whole is None or (not self.source.bundle and clock.elapsed_s() - self._whole[0] > _FRESH_S):
                self._whole = clock.elapsed_s(), self.store.snapshot()
            return self._whole[1]

    def read_ahead(self) -> None:
        """Read the latest half day of the map and of the tracks, so that it is there when somebody opens the page."""
        window = extent_of_all(self.whole())
        if window is None:
            return
        near = max(window[0], window[1] - _AHEAD_NS), window[1]
        snapshot = self.store.snapshot(around(near))
        with suppress(Stopped, OSError, NecroscopeError), stoppable(Limits(_AHEAD_S).check):
            self.cores.of(snapshot, near, _AHEAD_S)
            self.tracks.of(snapshot, near, _AHEAD_S)


def _core_seconds(snapshot: Snapshot, from_s: int) -> Seconds:
    return seconds(snapshot, from_s, TILE_S, [])


def _flags(snapshot: Snapshot, from_s: int) -> tuple[Event, ...]:
    window = from_s * clock.NS, from_s * clock.NS + TILE_NS - 1
    return tuple(events(snapshot, window, kinds=FLAGS.__contains__, notes=[])[-_MOST_FLAGS:])


def spans_of(missing: Iterable[int], window: Window) -> list[list[int]]:
    """Tiles that were not read yet, as stretches of a window."""
    found: list[list[int]] = []
    wanted = set(missing)
    for number in numbers(window):
        if number not in wanted:
            continue
        low, high = number * TILE_NS, (number + 1) * TILE_NS - 1
        if found and found[-1][1] + 1 == low:
            found[-1][1] = high
        else:
            found.append([low, high])
    return found
