"""Rows that were not sealed are missed when their journal is lost, and only then."""

from __future__ import annotations

from pathlib import Path

from necroscope.store.lock import expected_journal
from necroscope.store.read.catalog import journals
from necroscope.store.read.check import check_store
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from stage.recorded import second


def test_a_lost_journal_is_reported(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    assert expected_journal(tmp_path) is None
    writer.add_samples(second(0))
    writer.seal()
    assert Store(tmp_path).snapshot().notes == ()
    writer.add_samples(second(1))
    writer.flush()
    assert Store(tmp_path).snapshot().notes == ()
    ((number, path),) = journals(tmp_path).items()
    assert expected_journal(tmp_path) == number
    path.unlink()
    assert Store(tmp_path).snapshot().notes == (
        f"journal {number}: it is lost, with all rows that were not sealed yet",
    )
    assert [one.what for one in check_store(tmp_path).damaged] == ["it is lost"]


def test_nobody_misses_one_after_the_writer_ended_well(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    writer.add_samples(second(0))
    writer.flush()
    writer.close()
    assert expected_journal(tmp_path) is None
    for segment in Store(tmp_path).snapshot().segments:
        segment.path.rename(tmp_path / segment.path.name)
    assert not any("journal" in note for note in Store(tmp_path).snapshot().notes)


def test_nor_after_the_next_writer_came(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    writer.add_samples(second(0))
    writer.flush()
    writer._lock.release()  # killed
    again = Writer(tmp_path, flush_s=1e9)
    assert Store(tmp_path).snapshot().notes == ()
    again.close()
    assert expected_journal(tmp_path) is None
