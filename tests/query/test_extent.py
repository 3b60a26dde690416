"""First and last moment of a recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.events.event_names import find_event
from necroscope.query.events.landmarks import events
from necroscope.query.extent import extent, extent_of, extent_of_all, recorded
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ParentCount
from query.timeline import ALL, LATER, LIVE, MARK, RESET, written
from stage.looked import One, batch
from stage.recorded import START_NS


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = written(tmp_path)
    yield made
    made.close()


def test_first_and_last_sample_over_segments_and_journal(writer: Writer, tmp_path: Path) -> None:
    assert extent(Store(tmp_path).snapshot()) == (START_NS + 10, START_NS + 8 * NS)


def test_events_without_samples_do_not_stretch_the_recording(tmp_path: Path) -> None:
    with_events = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    with_events.add_events([Event(START_NS - 3600 * NS, "nic-reset", "kmsg", "", "early")])
    with_events.seal()
    with_events.add_samples(batch([One(START_NS), One(START_NS + 7)]))
    with_events.close(merge=False)
    assert extent(Store(tmp_path).snapshot()) == (START_NS, START_NS + 7)


@pytest.mark.parametrize("sealed", [True, False])
def test_the_extent_of_a_recording_is_that_of_its_samples_else_of_all_its_rows(tmp_path: Path, sealed: bool) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    writer.add_events([Event(START_NS + at * NS, "tick", "kmsg", "", str(at)) for at in (3, 9)])
    writer.add_zombies(START_NS + 12 * NS, [ParentCount("/docker", 1)])
    writer.flush()
    if sealed:
        writer.seal()
    rows = START_NS + 3 * NS, START_NS + 12 * NS
    snapshot = Store(tmp_path).snapshot()
    assert (recorded(snapshot), extent_of_all(snapshot), extent_of(snapshot, ["samples"])) == (
        rows,
        rows,
        None,
    )
    assert extent_of(snapshot, ["events", "samples"]) == (START_NS + 3 * NS, START_NS + 9 * NS)
    writer.add_samples(batch([One(START_NS + 5 * NS), One(START_NS + 20 * NS)]))
    writer.close(merge=False)
    snapshot, sampled = Store(tmp_path).snapshot(), (START_NS + 5 * NS, START_NS + 20 * NS)
    assert (recorded(snapshot), extent_of_all(snapshot)) == (sampled, (rows[0], sampled[1]))
    assert extent_of(snapshot, ["events", "samples"]) == (rows[0], sampled[1])


def test_an_empty_store_is_said(tmp_path: Path) -> None:
    Writer(tmp_path).close()
    with pytest.raises(BadInput, match="has no samples"):
        extent(Store(tmp_path).snapshot())
    assert events(Store(tmp_path).snapshot(), ALL) == []
    assert recorded(Store(tmp_path).snapshot()) is extent_of_all(Store(tmp_path).snapshot()) is None


def test_damaged_files_are_passed_over(writer: Writer, tmp_path: Path) -> None:
    first = segments(tmp_path)[0]
    first.file("events").write_bytes(b"PAR1")
    first.file("samples").write_bytes(b"nonsense")
    snapshot = Store(tmp_path).snapshot()
    assert events(snapshot, ALL) == [MARK, LATER, LIVE]
    assert extent(snapshot) == (START_NS + 4 * NS, START_NS + 8 * NS)
    assert find_event(snapshot, str(RESET.id)) is None


def test_samples_that_cannot_be_read_are_not_called_missing(tmp_path: Path) -> None:
    made = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    made.add_samples(batch([One(START_NS)]))
    made.close()
    path = segments(tmp_path)[0].file("samples")
    path.write_bytes(b"PAR1")
    notes: list[str] = []
    with pytest.raises(BadInput, match="samples of the store cannot be read"):
        extent(Store(tmp_path).snapshot(), notes=notes)
    assert notes == [f"{path} is damaged and left out"]
