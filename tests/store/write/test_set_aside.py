"""What is in the way is moved, not deleted; readers hear of segments; retention takes the oldest."""

from __future__ import annotations

import os
from pathlib import Path

from necroscope.store.write.set_aside import FOLDER, bytes_below, parts, remove, segments_aside, set_aside


def test_it_lies_where_it_lay_below_aside(tmp_path: Path) -> None:
    (tmp_path / "segments").mkdir()
    (tmp_path / "segments" / "1790000000000000000-1790000000000000001-00000003-00000004-00000000").mkdir()
    (tmp_path / "stray").write_text("abc")
    assert set_aside(
        tmp_path, tmp_path / "segments" / "1790000000000000000-1790000000000000001-00000003-00000004-00000000"
    ) == (tmp_path / FOLDER / "segments" / "1790000000000000000-1790000000000000001-00000003-00000004-00000000")
    assert set_aside(tmp_path, tmp_path / "stray") == tmp_path / FOLDER / "store" / "stray"
    assert not (tmp_path / "stray").exists()
    assert len(segments_aside(tmp_path)) == 1


def test_two_of_one_name_are_both_kept(tmp_path: Path) -> None:
    places = []
    for text in ("first", "second", "third"):
        (tmp_path / "stray").write_text(text)
        places.append(set_aside(tmp_path, tmp_path / "stray"))
    assert [place.name for place in places] == ["stray", "stray.1", "stray.2"]
    assert [place.read_text() for place in places] == ["first", "second", "third"]


def test_a_link_is_moved_and_removed_itself_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    store, theirs = tmp_path / "store", tmp_path / "theirs"
    store.mkdir()
    theirs.mkdir()
    (theirs / "file").write_bytes(b"x" * 4096)
    (store / "link").symlink_to(theirs)
    set_aside(store, store / "link")
    (part,) = parts(store)
    assert part.bytes < 4096
    remove(part)
    assert not os.path.lexists(part.path)
    assert (theirs / "file").exists()


def test_parts_are_listed_the_oldest_first_and_what_they_take(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_bytes(b"x" * 100)
        set_aside(tmp_path, tmp_path / name)
    found = parts(tmp_path)
    assert sorted(one.path.name for one in found) == ["a", "b"]
    assert [one.since_ns for one in found] == sorted(one.since_ns for one in found)
    assert all(one.bytes == 100 for one in found)
    assert parts(tmp_path / "nowhere") == []


def test_a_folder_is_counted_with_all_in_it_and_removed_whole(tmp_path: Path) -> None:
    (tmp_path / "journal" / "deep").mkdir(parents=True)
    (tmp_path / "journal" / "deep" / "file").write_bytes(b"x" * 5000)
    assert bytes_below(tmp_path / "journal") >= 5000
    assert bytes_below(tmp_path / "absent") == 0
    set_aside(tmp_path, tmp_path / "journal" / "deep")
    (part,) = parts(tmp_path)
    remove(part)
    assert parts(tmp_path) == []
