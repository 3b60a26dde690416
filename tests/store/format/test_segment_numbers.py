"""A segment that somebody else removed is missed; one that the writer removed is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from necroscope.explain import explain
from necroscope.store.format.segment_numbers import (
    SegmentNumbers,
    expected,
    joined,
    missing,
    read_held,
    without,
    write_held,
)
from necroscope.store.read.catalog import Segment, segments
from necroscope.store.read.check import check_store
from necroscope.store.read.reader import Store
from necroscope.store.write.retention import Retention
from necroscope.store.write.writer import Writer
from stage.recorded import START_NS, second

NS = 1_000_000_000


def _store(folder: Path, count: int = 6, **more: object) -> Writer:
    """So many segments, a second each; never merged unless asked."""
    writer = Writer(folder, flush_s=1e9, segment_s=1e9, **more)  # type: ignore[arg-type]
    for number in range(count):
        writer.add_samples(second(number))
        writer._write_out()
        writer._spool.rotate()
        writer._begin()
        for journal in list(writer._spool._waiting):
            writer._spool._seal_one(journal)
        writer._spool._waiting.clear()
        writer._housekeeper._numbers.write(writer._housekeeper.segments)
    return writer


def _notes(folder: Path, window: tuple[int, int] | None = None) -> list[str]:
    return [note for note in Store(folder).snapshot(window).notes if "lost" in note or "is unknown" in note]


def test_sets_of_numbers() -> None:
    assert joined([(5, 6), (1, 2), (3, 3), (9, 9)]) == ((1, 3), (5, 6), (9, 9))
    assert without([(1, 10)], [(3, 4), (8, 12)]) == ((1, 2), (5, 7))
    assert without([(3, 4)], [(1, 10)]) == ()
    assert without([(3, 4)], []) == ((3, 4),)


@pytest.mark.parametrize("taken", [0, 2, 5])
def test_a_removed_segment_is_missed_and_reported_in_every_answer(tmp_path: Path, taken: int) -> None:
    _store(tmp_path).close(merge=False)
    assert _notes(tmp_path) == []
    assert check_store(tmp_path).damaged == []
    gone = segments(tmp_path)[taken]
    shutil.rmtree(gone.path)
    (note,) = _notes(tmp_path)
    assert note.startswith(f"segment {gone.first} is lost, with all rows")
    assert note.endswith(": removed by somebody else")
    assert [str(one.path) for one in check_store(tmp_path).damaged] == ["segments"]
    verdict = explain(Store(tmp_path))
    assert verdict.inconclusive
    assert any("removed by somebody else" in note for note in verdict.notes)


def test_several_that_follow_each_other_are_one(tmp_path: Path) -> None:
    _store(tmp_path).close(merge=False)
    for one in segments(tmp_path)[2:5]:
        shutil.rmtree(one.path)
    (note,) = _notes(tmp_path)
    assert note.startswith("segments 3 to 5 are lost, with all rows after 2026-01-02T03:04:06.")
    assert "and before 2026-01-02T03:04:10." in note


def test_a_window_that_is_elsewhere_misses_nothing(tmp_path: Path) -> None:
    _store(tmp_path).close(merge=False)
    shutil.rmtree(segments(tmp_path)[3].path)
    assert len(_notes(tmp_path, (START_NS + 3 * NS, START_NS + 4 * NS))) == 1
    assert _notes(tmp_path, (START_NS, START_NS + NS)) == []


def test_merging_changes_nothing(tmp_path: Path) -> None:
    _store(tmp_path).close()
    assert len(segments(tmp_path)) == 1
    assert _notes(tmp_path) == []
    assert read_held(tmp_path) == SegmentNumbers(((1, 6),))


def test_what_retention_took_is_not_missed(tmp_path: Path) -> None:
    writer = _store(tmp_path, retention=Retention(max_age_s=2.5))
    writer._housekeeper._let_go(writer._housekeeper._removals())
    writer.close(merge=False)
    left = segments(tmp_path)
    assert 0 < len(left) < 6
    assert _notes(tmp_path) == []
    assert check_store(tmp_path).damaged == []


def test_nor_what_an_import_took_back(tmp_path: Path) -> None:
    writer = _store(tmp_path)
    writer.take_back([writer.segments[2].path.name])
    assert _notes(tmp_path) == []
    writer.close(merge=False)
    assert _notes(tmp_path) == []


def test_the_next_writer_tells_it_once_and_answers_go_on(tmp_path: Path) -> None:
    _store(tmp_path).close(merge=False)
    shutil.rmtree(segments(tmp_path)[1].path)
    for _ in range(2):
        Writer(tmp_path).close(merge=False)
        (note,) = _notes(tmp_path)
        assert note.startswith("segment 2 is lost")
    snapshot = Store(tmp_path).snapshot()
    texts = [text for one in snapshot.segments for text in _texts(one)]
    assert texts == ["segments 2 to 2 are lost: somebody else removed them"]


def test_until_retention_takes_what_is_younger(tmp_path: Path) -> None:
    _store(tmp_path).close(merge=False)
    shutil.rmtree(segments(tmp_path)[1].path)
    writer = Writer(tmp_path, retention=Retention(max_age_s=2.5))
    writer._housekeeper._let_go(writer._housekeeper._removals())
    writer.close(merge=False)
    assert _notes(tmp_path) == []


def test_what_is_gone_is_not_merged_as_if_it_had_no_rows(tmp_path: Path) -> None:
    writer = _store(tmp_path)
    shutil.rmtree(segments(tmp_path)[2].path)
    writer.close()
    numbers = {number for one in segments(tmp_path) for number in range(one.first, one.last + 1)}
    assert 3 not in numbers
    (note,) = _notes(tmp_path)
    assert note.startswith("segment 3 is lost")


def test_what_was_set_aside_is_reported_as_damaged_and_not_as_lost(tmp_path: Path) -> None:
    _store(tmp_path).close(merge=False)
    one = segments(tmp_path)[2]
    file = one.file("samples")
    file.write_bytes(file.read_bytes()[:-5])
    check_store(tmp_path, move=True)
    assert _notes(tmp_path) == []
    assert any("aside" in note and "is damaged" in note for note in Store(tmp_path).snapshot().notes)
    Writer(tmp_path).close(merge=False)
    assert _notes(tmp_path) == []


def test_everything_removed_is_missed(tmp_path: Path) -> None:
    _store(tmp_path).close(merge=False)
    for one in segments(tmp_path):
        shutil.rmtree(one.path)
    assert _notes(tmp_path) == ["segments 1 to 6 are lost, with all rows: removed by somebody else"]
    Writer(tmp_path).close(merge=False)
    assert [note[:23] for note in _notes(tmp_path)] == ["segments 1 to 6 are los"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"held": [[1]], "lost": [], "check": 0}', '{"held": [[1, 2]], "lost": [], "check": 7}'],
)
def test_a_damaged_book_is_said(tmp_path: Path, text: str) -> None:
    _store(tmp_path, 2).close(merge=False)
    (tmp_path / "numbers.json").write_text(text)
    (note,) = _notes(tmp_path)
    assert note.startswith(f"{tmp_path}/numbers.json is damaged")
    assert len(check_store(tmp_path).damaged) == 1
    Writer(tmp_path).close(merge=False)
    assert _notes(tmp_path) == []


def test_stores_of_versions_before_it_have_no_book_and_later_ones_must(tmp_path: Path) -> None:
    _store(tmp_path, 2).close(merge=False)
    (tmp_path / "numbers.json").unlink()
    (tmp_path / "format.json").write_text(json.dumps({"store": "necroscope", "version": 2}))
    assert expected(tmp_path) is None
    (tmp_path / "format.json").write_text(json.dumps({"store": "necroscope", "version": 3}))
    assert expected(tmp_path) == (f"{tmp_path}/numbers.json is lost: whether segments were removed is unknown")
    (tmp_path / "lock").unlink()
    assert expected(tmp_path) is None


def test_what_goes_while_a_reader_looks_is_not_missed(tmp_path: Path) -> None:
    """The reader read the numbers, then retention said what it removes and removed it, then the reader listed."""
    _store(tmp_path).close(merge=False)
    before = expected(tmp_path)
    assert isinstance(before, SegmentNumbers)
    left = segments(tmp_path)[1:]
    assert missing(tmp_path, before, left) == ((1, 1),)
    write_held(tmp_path, SegmentNumbers(((2, 6),)))
    assert missing(tmp_path, before, left) == ()


def _texts(segment: Segment) -> list[str]:
    from necroscope.store.format.segment import read_table

    table = read_table(segment, "events", ["kind", "text"])
    rows = table.to_pylist() if table is not None else []
    return [row["text"] for row in rows if row["kind"] == "store-damaged"]
