"""When samples were taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.query import coverage
from necroscope.query.coverage import GAP_NS, covered_s, joined, profiled
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from stage.looked import One, batch
from stage.recorded import START_NS


def _at(*seconds: float) -> list[One]:
    return [One(START_NS + round(one * NS)) for one in seconds]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Sealed samples with a hole inside a segment, and two more in the journal."""
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    writer.add_samples(batch(_at(0, 2, 4, 60, 61)))
    writer.seal()
    writer.add_samples(batch(_at(62, 100)))
    writer.flush()
    return Store(tmp_path)


def test_holes_are_seen_within_segments_and_in_the_journal(store: Store) -> None:
    spans = [(0, 4), (60, 62), (100, 100)]
    assert profiled(store.snapshot()) == [(START_NS + low * NS, START_NS + high * NS) for low, high in spans]


def test_what_is_too_much_to_look_into_counts_as_its_statistics_tell(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coverage, "_MOST_ROWS", 4)
    assert profiled(store.snapshot())[0] == (START_NS, START_NS + 62 * NS)


def test_damage_and_nothing_are_no_stretches(store: Store, tmp_path: Path) -> None:
    (segment,) = segments(tmp_path)
    segment.file("samples").write_bytes(b"PAR1")
    assert profiled(store.snapshot()) == [(START_NS + at * NS, START_NS + at * NS) for at in (62, 100)]
    Writer(tmp_path / "empty").close()
    assert profiled(Store(tmp_path / "empty").snapshot()) == []


def test_what_lies_close_together_is_one() -> None:
    assert joined([(50, 60), (0, 10), (60 + GAP_NS, 61 + GAP_NS)]) == [(0, 61 + GAP_NS)]
    assert joined([(0, 10), (11 + GAP_NS, 12 + GAP_NS)]) == [(0, 10), (11 + GAP_NS, 12 + GAP_NS)]


def test_how_much_of_a_window_was_sampled() -> None:
    stretches = [(0, 10 * NS), (20 * NS, 30 * NS)]
    assert covered_s((5 * NS, 25 * NS), stretches) == pytest.approx(10)
    assert covered_s((12 * NS, 18 * NS), stretches) == 0
    assert covered_s((5 * NS, 10 * NS + NS // 10 - 1), stretches) == pytest.approx(5.1), "samples are some time apart"
