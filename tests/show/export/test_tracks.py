"""Samples by thread, in time order or summed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from necroscope.query.select import Select
from necroscope.show.export.tracks import rows, tracks
from stage.exported import source, total_ns, working


def test_in_time_order_by_thread(store: Path) -> None:
    found = rows(source(store))
    assert (found.ordered, found.clock) == (True, True)
    expected = [(row.pid, row.tid, row.comm) for row in sorted(working(), key=lambda row: row.at_ns)]
    assert [found.threads[one] for one in found.thread.tolist()] == expected
    names = [[frame.partition("\x1f")[0] for frame in text.split("\x1e")[:-1]] for text in found.stacks]
    in_time = [[name for name, _ in row.frames] for row in sorted(working(), key=lambda row: row.at_ns)]
    assert [names[one] for one in found.stack.tolist()] == in_time


def test_too_many_samples_are_summed(store: Path) -> None:
    found = rows(source(store), most_ordered=70)
    assert found.ordered is False
    assert int(found.value.sum()) == total_ns(working())
    by_thread = Counter((row.pid, row.tid, row.comm) for row in working())
    summed: Counter[tuple[int, int, str]] = Counter()
    for thread, value in zip(found.thread.tolist(), found.value.tolist(), strict=True):
        summed[found.threads[thread]] += value
    assert summed == Counter({key: total_ns(working()) // len(working()) * count for key, count in by_thread.items()})


def test_tracks_are_the_busiest_first_and_the_rest_together(store: Path) -> None:
    found = rows(source(store))
    made = list(tracks(found, most=2))
    totals = [int(track.value.sum()) for track in made]
    assert len(made) == 3
    assert totals[0] >= totals[1]
    assert sum(totals) == total_ns(working())
    assert made[2].name == f"{len(found.threads) - 2} other threads"


def test_equal_neighbours_are_one_entry(store: Path) -> None:
    for track in tracks(rows(source(store))):
        assert all(a != b for a, b in zip(track.stack.tolist(), track.stack.tolist()[1:], strict=False))


def test_other_events_count_samples(cycles: Path) -> None:
    for most in (10**6, 70):
        found = rows(source(cycles), most)
        assert found.clock is False
        assert int(found.value.sum()) == len(working())


def test_nothing(store: Path) -> None:
    found = rows(source(store, Select((0, 1))))
    assert found.thread.size == 0
    assert list(tracks(found)) == []
