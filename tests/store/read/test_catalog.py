"""What a store holds is told by names; what was merged or sealed is not counted twice; later formats are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from necroscope.errors import BadInput
from necroscope.store.read import catalog
from necroscope.store.read.catalog import Segment, check_format, create, current, journals, parse_segment, segments


def place(store: Path, from_ns: int, to_ns: int, first: int, last: int) -> Path:
    path = store / "segments" / catalog.segment_name(from_ns, to_ns, first, last)
    path.mkdir(parents=True)
    return path


def test_a_name_says_it_all(tmp_path: Path) -> None:
    path = place(tmp_path, 1_767_323_045_000_000_000, 1_767_323_165_000_000_000, 7, 9)
    assert path.name == "1767323045000000000-1767323165000000000-00000007-00000009"
    assert parse_segment(path) == Segment(7, 9, 1_767_323_045_000_000_000, 1_767_323_165_000_000_000, path)


@pytest.mark.parametrize("name", ["", ".00000001-00000001", ".gone-1", "lost+found", "1-2-3-4", "x" * 50])
def test_other_names_are_passed_over(tmp_path: Path, name: str) -> None:
    assert parse_segment(tmp_path / name) is None


def test_segments_of_a_window_are_known_without_opening_any(tmp_path: Path) -> None:
    for number in range(5):
        place(tmp_path, number * 100, number * 100 + 99, number, number)
    found = segments(tmp_path)
    assert [one.first for one in found] == [0, 1, 2, 3, 4]
    assert [one.first for one in found if one.overlaps((199, 200))] == [1, 2]
    assert [one.first for one in found if one.overlaps((0, 0))] == [0]
    assert [one.first for one in found if one.overlaps(None)] == [0, 1, 2, 3, 4]
    assert not any(one.overlaps((500, 900)) for one in found)


def test_what_was_merged_is_passed_over(tmp_path: Path) -> None:
    for first, last in [(1, 1), (2, 2), (3, 3), (1, 3), (4, 4)]:
        place(tmp_path, first * 10, last * 10, first, last)
    assert [(one.first, one.last) for one in segments(tmp_path)] == [(1, 3), (4, 4)]


def test_a_hole_is_looked_at_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, third = (Segment(number, number, 0, 0, tmp_path / str(number)) for number in (1, 3))
    whole = Segment(1, 3, 0, 0, tmp_path / "1-3")
    listings = iter([[first, third], [whole]])
    monkeypatch.setattr(catalog, "all_segments", lambda _: next(listings))
    assert segments(tmp_path) == [whole]
    listings = iter([[first, third], [first, third]])
    assert segments(tmp_path) == [first, third]


def test_overlapping_numbers_do_not_hide_each_other(tmp_path: Path) -> None:
    one, other = Segment(1, 2, 0, 0, tmp_path / "a"), Segment(2, 3, 0, 0, tmp_path / "b")
    assert current([one, other]) == [one, other]


def test_journals_by_number(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    for name in ("00000010.journal", "00000009.journal", ".x.journal", "y.journal", "00000008.txt"):
        (tmp_path / "journal" / name).touch()
    assert list(journals(tmp_path)) == [9, 10]
    assert journals(tmp_path / "none") == {}


def test_a_new_store_names_its_format(tmp_path: Path) -> None:
    create(tmp_path / "store")
    assert json.loads((tmp_path / "store" / "format.json").read_text()) == {"store": "necroscope", "version": 3}
    create(tmp_path / "store")


@pytest.mark.parametrize("text", ['{"store": "necroscope", "version": 4}', '{"version": 4, "made-by": "somebody"}'])
def test_a_later_format_is_refused_with_a_hint(tmp_path: Path, text: str) -> None:
    create(tmp_path)
    (tmp_path / "format.json").write_text(text)
    for use in (check_format, create):
        with pytest.raises(BadInput, match="format version 4; this program reads up to 3") as refused:
            use(tmp_path)
        assert refused.value.hint == "use a newer necroscope"


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"store": "other", "version": 1}', '{"version": "1"}', "\xff", "9" * 9]
)
def test_what_is_no_store_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="is no store"):
        check_format(tmp_path)
    (tmp_path / "format.json").write_text(text, "latin-1")
    with pytest.raises(BadInput, match=r"format\.json"):
        check_format(tmp_path)
