"""Segments of recordings that exist already: the same rows as through a journal, and nobody sees half of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from necroscope.clock import NS
from necroscope.sense.perf.samples import Stack
from necroscope.store.format.segment import read_table
from necroscope.store.read.catalog import parse_segment, segments
from necroscope.store.read.reader import Store
from necroscope.store.write.bulk import Bulk
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.recorded import LOOP, START_NS, batch, second, stack

EVENT = Event(START_NS, "samples-lost", "perf", "cpu0", "3 records were lost")


def rows(folder: Path, table: str) -> Counter[str]:
    """The rows of a table, without the numbers that depend on the segment."""
    found: Counter[str] = Counter()
    for segment in Store(folder).snapshot().segments:
        stored = read_table(segment, table)
        if stored is not None:
            kept = [name for name in stored.column_names if name not in ("segment", "stack")]
            found.update(map(repr, stored.select(kept).to_pylist()))
    return found


def test_the_store_is_the_same_as_through_a_journal(tmp_path: Path) -> None:
    straight, journaled = Writer(tmp_path / "bulk"), Writer(tmp_path / "journal")
    bulk = Bulk(tmp_path / "bulk" / "segments", straight.reserve(3))
    for number in range(5):
        bulk.add_samples(second(number, tell=number == 0))
        journaled.add_samples(second(number, tell=number == 0))
    bulk.add_events([EVENT])
    journaled.add_events([EVENT])
    bulk.seal()
    assert bulk.samples == 100
    assert segments(tmp_path / "bulk") == [], "nobody sees it before it is published"
    straight.publish(bulk.staged)
    straight.close()
    journaled.close()
    for table in ("samples", "stacks", "seconds", "events"):
        assert rows(tmp_path / "bulk", table) == rows(tmp_path / "journal", table), table


def test_it_seals_by_itself_and_every_segment_has_its_stacks(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    first = writer.reserve(10)
    bulk = Bulk(tmp_path / "segments", first, most_rows=50)
    for number in range(7):
        bulk.add_samples(second(number, tell=number == 0))
    bulk.seal()
    writer.publish(bulk.staged)
    found = segments(tmp_path)
    assert [one.first for one in found] == [first, first + 1, first + 2]
    for segment in found:
        stacks = read_table(segment, "stacks")
        assert stacks is not None
        assert all(stacks["frames"].to_pylist())
        assert sum(stacks["samples"].to_pylist()) in (60, 20)
    writer.add_samples(second(9))
    writer.close(merge=False)
    assert segments(tmp_path)[-1].first == first + 10, "reserved numbers are nobody else's"


def test_an_empty_recording_makes_no_segment(tmp_path: Path) -> None:
    bulk = Bulk(tmp_path, 1)
    bulk.seal()
    assert bulk.staged == []
    assert list(tmp_path.iterdir()) == []


def test_stacks_are_forgotten_to_bound_memory_and_rows_on_their_way_keep_theirs(tmp_path: Path) -> None:
    bulk = Bulk(tmp_path, 1, most_rows=10, stack_bytes=300)
    assert not bulk.take_dropped()
    bulk.add_samples(second(0))
    assert bulk.take_dropped()
    assert not bulk.take_dropped(), "said once"
    bulk.add_samples(second(1, tell=False))
    assert len(bulk.staged) == 2
    for made in bulk.staged:
        made.publish()
    for path in tmp_path.iterdir():
        segment = parse_segment(path)
        assert segment is not None
        stacks = read_table(segment, "stacks")
        assert stacks is not None
        assert all(stacks["frames"].to_pylist())


def test_names_that_are_no_text_are_written_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    odd = Stack(7, (b"a\xff".decode("utf-8", "surrogateescape"),), ("m",))
    bulk = Bulk(tmp_path / "segments", writer.reserve(1))
    bulk.add_samples(batch([START_NS, START_NS + NS], [odd, stack(LOOP)], comms=("b\udcff",)))
    bulk.seal()
    writer.publish(bulk.staged)
    writer.close()
    (segment,) = segments(tmp_path)
    stacks, samples = read_table(segment, "stacks"), read_table(segment, "samples")
    assert stacks is not None
    assert samples is not None
    assert "a\\xff\x1fm\x1e" in stacks["frames"].to_pylist()
    assert set(samples["comm"].to_pylist()) == {"b\\xff"}


def test_rows_that_come_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    bulk = Bulk(tmp_path / "segments", writer.reserve(1))
    late, early = second(3), second(0)
    bulk.add_samples(late)
    bulk.add_samples(replace(early, stacks=()))
    bulk.seal()
    writer.publish(bulk.staged)
    writer.close()
    (segment,) = segments(tmp_path)
    samples = read_table(segment, "samples")
    assert samples is not None
    keys = list(zip(samples["cpu"].to_pylist(), samples["at_ns"].to_pylist(), strict=True))
    assert keys == sorted(keys)
    assert len(keys) == 40
