"""Nothing on disk stops a writer: what is in the way is set aside, told, and kept."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from necroscope import clock
from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.sql.engine import Engine
from necroscope.store.read.catalog import all_segments, create, segments
from necroscope.store.read.reader import Store
from necroscope.store.read.rollups import roll_up
from necroscope.store.write.retention import Retention
from necroscope.store.write.writer import LOST, Writer
from necroscope.vocabulary.event import Event
from stage.everything import fill
from stage.recorded import START_NS, second


def events_of(store: Path, kind: str) -> list[str]:
    with Engine(Store(store)) as engine:
        return [row["text"] for row in engine.ask(f"select text from events where kind = '{kind}'").rows()]


def samples(store: Path) -> int:
    with Engine(Store(store)) as engine:
        count = engine.ask("select count(*) as n from samples").rows()[0]["n"]
    assert isinstance(count, int)
    return count


def goes_on(store: Path, number: int = 500) -> None:
    """A writer opens the store, adds to it, seals and tidies."""
    writer = Writer(store, flush_s=1e9, at_any_cost=True)
    writer.add_samples(second(number))
    writer.flush()
    writer.seal()
    writer.close()


def _later(store: Path) -> None:
    (store / "format.json").write_text('{"store": "necroscope", "version": 99, "more": true}')


def _named(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    def put(store: Path) -> None:
        path = store / name
        path.parent.mkdir(exist_ok=True)
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        make(path)

    return put


STRANGE = {
    "journal-no-number": _named("journal/x.journal", Path.touch),
    "journal-unicode-digit": _named("journal/²²²²²²²².journal", Path.touch),
    "journal-huge-number": _named("journal/99999999999999999999.journal", Path.touch),
    "journal-short-number": _named("journal/7.journal", Path.touch),
    "journal-folder": _named("journal/00000099.journal", Path.mkdir),
    "journal-pipe": _named("journal/00000099.journal", os.mkfifo),
    "journal-link": _named("journal/00000099.journal", lambda path: path.symlink_to("/etc/passwd")),
    "journal-nonsense": _named("journal/00000099.journal", lambda path: path.write_bytes(b"nonsense")),
    "segment-file": _named("segments/1767323045000000000-1767323046000000000-00000090-00000090", Path.touch),
    "segment-empty": _named("segments/1767323045000000000-1767323046000000000-00000090-00000090", Path.mkdir),
    "segment-no-manifest": _named(
        "segments/1767323045000000000-1767323046000000000-00000090-00000090-0123abcd", Path.mkdir
    ),
    "segment-over-all": _named(
        "segments/0000000000000000000-9223372036854775807-00000000-00999999-00000000", Path.mkdir
    ),
    "segment-link": _named("segments/somewhere", lambda path: path.symlink_to("/etc")),
    "segments-a-file": _named("segments", Path.touch),
    "journal-a-file": _named("journal", Path.touch),
    "rollups-a-file": _named("rollups", Path.touch),
    "inbox-a-file": _named("inbox", Path.touch),
    "aside-a-file": _named("aside", Path.touch),
    "lock-a-folder": _named("lock", Path.mkdir),
    "lock-a-link": _named("lock", lambda path: path.symlink_to("/etc/passwd")),
    "format-empty": _named("format.json", Path.touch),
    "format-a-folder": _named("format.json", Path.mkdir),
    "format-nonsense": _named("format.json", lambda path: path.write_bytes(b"\xff" * 99)),
    "format-later": _later,
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_things(tmp_path: Path, name: str) -> None:
    store = tmp_path / "store"
    fill(store).close()
    before = 0 if name in ("format-later", "segments-a-file") else samples(store)
    STRANGE[name](store)
    goes_on(store)
    assert samples(store) == before + 20
    with Engine(Store(store), (START_NS + 500 * NS, START_NS + 501 * NS)) as engine:
        assert engine.ask("select count(*) as n from samples").rows() == [{"n": 20}]
    assert events_of(store, "store-damaged") + events_of(store, "recorder-gap")


@pytest.mark.parametrize("what", ["flipped", "cut", "missing", "folder", "link"])
@pytest.mark.parametrize("table", ["samples", "stacks", "events", "cores", "processes", "series", "manifest"])
def test_a_damaged_segment(tmp_path: Path, table: str, what: str) -> None:
    store = tmp_path / "store"
    fill(store).close(merge=False)
    path = next(all_segments(store)[1].path.glob(f"{table}.*"))
    data = path.read_bytes()
    path.unlink()
    if what == "flipped":
        path.write_bytes(data[:40] + bytes([data[40] ^ 4]) + data[41:])
    elif what == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif what == "folder":
        path.mkdir()
    elif what == "link":
        path.symlink_to("/etc/passwd")
    goes_on(store)
    assert [one for one in events_of(store, "store-damaged") if path.name in one]
    assert len(all_segments(store)) == 3, "what is damaged stays, the others are merged around it"


def test_a_later_recording_is_set_aside_by_the_recorder_and_refused_by_others(tmp_path: Path) -> None:
    fill(tmp_path).close()
    _later(tmp_path)
    with pytest.raises(BadInput, match="format version 99"):
        Writer(tmp_path)
    goes_on(tmp_path)
    assert json.loads((tmp_path / "aside" / "store" / "format.json").read_text())["version"] == 99
    assert len(list((tmp_path / "aside" / "store" / "segments").iterdir())) == 1
    assert samples(tmp_path) == 20


def test_another_programs_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "format.json").write_text('{"store": "other", "version": 1}')
    with pytest.raises(BadInput):
        Writer(tmp_path, at_any_cost=True)


# -- a store that is removed under its writer -----------------------------------------------------------------


@pytest.mark.parametrize("removed", ["", "journal", "segments", "lock", "format.json"])
def test_a_store_that_is_removed_comes_back_with_what_was_not_sealed(tmp_path: Path, removed: str) -> None:
    store = tmp_path / "store"
    writer = Writer(store, flush_s=1e9)
    writer.add_samples(second(0))
    writer.seal()
    writer.add_samples(second(1))
    writer.flush()
    gone = store / removed
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    writer.add_samples(second(2))
    writer.flush()
    writer.flush()
    assert "was removed or replaced" in writer.status().loss
    assert events_of(store, LOST)
    assert samples(store) == (40 if removed in ("", "segments") else 60)
    writer.close()
    assert samples(store) == (40 if removed in ("", "segments") else 60)


def test_another_store_in_its_place_is_gone_on_with(tmp_path: Path) -> None:
    fill(tmp_path / "other").close()
    before = samples(tmp_path / "other")
    writer = Writer(tmp_path / "store", flush_s=1e9)
    writer.add_samples(second(100))
    writer.flush()
    shutil.rmtree(tmp_path / "store")
    shutil.copytree(tmp_path / "other", tmp_path / "store")
    writer.flush()
    writer.add_samples(second(101))
    writer.close()
    assert samples(tmp_path / "store") == before + 20
    assert any("another store" in one for one in events_of(tmp_path / "store", "recorder-gap"))


def test_a_folder_that_cannot_be_made_is_trouble_until_it_can(tmp_path: Path) -> None:
    store = tmp_path / "deep" / "store"
    writer = Writer(store, flush_s=1e9)
    writer.add_samples(second(0))
    writer.flush()
    shutil.rmtree(tmp_path / "deep")
    (tmp_path / "deep").write_text("in the way")
    writer.add_samples(second(1))
    writer.flush()
    assert "cannot be made anew" in writer.status().loss
    (tmp_path / "deep").unlink()
    writer.flush()
    writer.close()
    assert samples(store) == 40


# -- room and rights ------------------------------------------------------------------------------------------


def test_parts_that_a_short_recorder_merged_and_left_are_removed_at_once(tmp_path: Path) -> None:
    fill(tmp_path).close(merge=False)
    writer = Writer(tmp_path, flush_s=1e9)
    writer._housekeeper.tidy(patient=True)
    made = writer._housekeeper
    from necroscope.store.write import compaction
    from necroscope.store.write.retention import Kept

    made._merge(compaction.due_at_the_end([Kept(one, made._sizes[one]) for one in made.segments]))
    writer._lock.release()  # killed
    assert len(all_segments(tmp_path)) == 4
    (whole,) = segments(tmp_path)
    long_ago = clock.now().realtime_ns - 3600 * NS
    os.utime(whole.path, ns=(long_ago, long_ago))
    again = Writer(tmp_path, flush_s=1e9)
    again.add_events([Event(START_NS, "x", "mark", "", "y")])
    again.seal()
    again._lock.release()  # killed as soon
    assert len([one for one in all_segments(tmp_path) if one.last < 4]) == 1


def test_everything_below_the_store_counts(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, retention=Retention(max_bytes=1_000_000, free_bytes=0))
    for number in range(2):
        writer.add_samples(second(number))
        writer.seal()
    roll_up(tmp_path, segments(tmp_path)[:2])
    (tmp_path / "aside" / "segments").mkdir(parents=True)
    (tmp_path / "aside" / "segments" / "big").write_bytes(bytes(250_000))
    others = writer._housekeeper._others_bytes()
    assert others > 250_000 + 2_000
    assert len(segments(tmp_path)) == 2
    (tmp_path / "somebodys-file").write_bytes(bytes(1_000_000 - others - writer._housekeeper.bytes + 100))
    writer.add_events([Event(START_NS + 3 * NS, "x", "mark", "", "y")])
    writer.seal()
    assert segments(tmp_path)[0].first > 1
    assert (tmp_path / "aside" / "segments" / "big").exists()
    writer.close()


def test_of_what_was_set_aside_too_much_goes(tmp_path: Path) -> None:
    create(tmp_path)
    (tmp_path / "aside" / "segments").mkdir(parents=True)
    for name in ("a", "b"):
        (tmp_path / "aside" / "segments" / name).write_bytes(bytes(200_000))
    writer = Writer(tmp_path, flush_s=1e9, retention=Retention(max_bytes=600_000, free_bytes=0))
    writer.add_samples(second(0))
    writer.close()
    assert len(list((tmp_path / "aside" / "segments").iterdir())) == 1
    assert any("was set aside, went" in one for one in events_of(tmp_path, "store-damaged"))


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_the_owner_reads_a_store_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        writer = fill(tmp_path / "a" / "store")
        roll_up(tmp_path / "a" / "store", all_segments(tmp_path / "a" / "store"))
        writer.flush()
        found = {
            stat.S_IMODE(path.stat().st_mode) | (0o40000 if path.is_dir() else 0)
            for path in (tmp_path / "a", *(tmp_path / "a").rglob("*"))
        }
        writer.close()
    finally:
        os.umask(before)
    assert found == {0o40700, 0o600}
