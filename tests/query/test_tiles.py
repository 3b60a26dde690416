"""Tiles: remembered while their files are the same, never while rows are not sealed, and bounded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.query.stopping import Stopped, stoppable
from necroscope.query.tiles import TILE_NS, TILE_S, Tiles, around, numbers
from necroscope.store.format.arrow import from_rows
from necroscope.store.format.tables import CORES
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot

BEGIN = 3_000_000 * TILE_NS
FIRST = BEGIN // TILE_NS


def _snapshot(*spans: tuple[int, int], live: int | None = None) -> Snapshot:
    segments = tuple(Segment(n + 1, n + 1, low, high, Path("/none")) for n, (low, high) in enumerate(spans))
    rows = [(live, 0, 1000, 1, 1, 0, 0, 0, 998)] if live is not None else []
    return Snapshot(segments, {"cores": from_rows(CORES, rows)})


def _tiles(most_bytes: int = 10**6) -> tuple[Tiles[int], list[int]]:
    read: list[int] = []

    def look(snapshot: Snapshot, from_s: int) -> int:
        read.append(from_s)
        return len(snapshot.segments)

    return Tiles(look, lambda value: 1000, most_bytes, "cores"), read


def test_tiles_of_a_window_and_what_is_around_them() -> None:
    assert list(numbers((BEGIN, BEGIN))) == [FIRST]
    assert list(numbers((BEGIN + 5, BEGIN + 2 * TILE_NS))) == [FIRST, FIRST + 1, FIRST + 2]
    low, high = around((BEGIN, BEGIN))
    assert low < BEGIN
    assert high > BEGIN + TILE_NS


def test_what_was_read_is_not_read_again_until_its_files_change() -> None:
    tiles, read = _tiles()
    one = _snapshot((BEGIN, BEGIN + TILE_NS - 1))
    assert tiles.of(one, (BEGIN, BEGIN), 1.0) == ({FIRST: 1}, [])
    tiles.of(one, (BEGIN, BEGIN), 1.0)
    assert read == [FIRST * TILE_S]
    two = _snapshot((BEGIN, BEGIN + 10), (BEGIN + 11, BEGIN + TILE_NS - 1))
    assert tiles.of(two, (BEGIN, BEGIN), 1.0) == ({FIRST: 2}, [])
    assert len(read) == 2


def test_far_away_files_are_none_of_a_tiles_business() -> None:
    tiles, read = _tiles()
    near = _snapshot((BEGIN, BEGIN + 10))
    tiles.of(near, (BEGIN, BEGIN), 1.0)
    far = replace(near, segments=(*near.segments, Segment(9, 9, BEGIN + 9 * TILE_NS, BEGIN + 10 * TILE_NS, Path("/n"))))
    tiles.of(far, (BEGIN, BEGIN), 1.0)
    assert len(read) == 1


def test_rows_that_are_not_sealed_are_read_each_time() -> None:
    tiles, read = _tiles()
    growing = _snapshot((BEGIN, BEGIN + 10), live=BEGIN + 20 * NS)
    for _ in range(2):
        tiles.of(growing, (BEGIN, BEGIN), 1.0)
    assert len(read) == 2
    elsewhere = _snapshot((BEGIN, BEGIN + 10), live=BEGIN + 5 * TILE_NS)
    for _ in range(2):
        tiles.of(elsewhere, (BEGIN, BEGIN), 1.0)
    assert len(read) == 3


def test_without_time_one_tile_is_read_and_the_others_are_named() -> None:
    tiles, read = _tiles()
    found, missing = tiles.of(_snapshot(), (BEGIN, BEGIN + 3 * TILE_NS), 0.0)
    assert list(found) == [FIRST + 3], "the latest first"
    assert missing == [FIRST + 2, FIRST + 1, FIRST]
    tiles.of(_snapshot(), (BEGIN, BEGIN + 3 * TILE_NS), 10.0)
    assert len(read) == 4


def test_the_memory_is_bounded() -> None:
    tiles, read = _tiles(most_bytes=5000)
    for _ in range(2):
        tiles.of(_snapshot(), (BEGIN, BEGIN + 9 * TILE_NS), 10.0)
    assert len(read) > 10
    assert tiles._bytes <= 5000


def test_a_stopped_question_reads_no_further_tile() -> None:
    tiles, read = _tiles()

    def refuse() -> None:
        raise Stopped("gone")

    with pytest.raises(Stopped), stoppable(refuse):
        tiles.of(_snapshot(), (BEGIN, BEGIN), 1.0)
    assert read == []
