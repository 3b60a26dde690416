"""`necroscope verify` as users see it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from necroscope.store.read.catalog import all_segments
from necroscope.store.read.rollups import roll_up
from stage.everything import fill
from stage.older import first_version
from stage.program import Program
from stage.recorded import START_NS

INCIDENTS = Path(__file__).parents[2] / "incidents"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three segments and a roll-up of two."""
    fill(tmp_path / "store").close(merge=False)
    first, second = all_segments(tmp_path / "store")[:2]
    roll_up(tmp_path / "store", [first, second])
    return tmp_path / "store"


def flip(path: Path, place: int = 30) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


def test_an_intact_store(necroscope: Program, store: Path) -> None:
    ran = necroscope("verify", "--store", store)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("intact: 4 parts, ")
    assert necroscope("verify", "--store", store, "-q").out == ""


def test_damage_is_found_named_and_set_aside(necroscope: Program, store: Path) -> None:
    first, second, third = all_segments(store)
    flip(first.file("events"))
    second.file("samples").unlink()
    (rolled,) = (store / "rollups").iterdir()
    flip(rolled / "manifest.json")
    ran = necroscope("verify", "--store", store, "--json")
    assert ran.code == 1
    assert {one["path"]: one["what"] for one in ran.document["damaged"]} == {
        f"segments/{first.path.name}": "events.parquet",
        f"segments/{second.path.name}": "samples.parquet",
        f"rollups/{rolled.name}": "manifest.json",
    }
    assert (store / "segments" / first.path.name).is_dir(), "nothing is moved unless asked"
    ran = necroscope("verify", "--store", store, "--set-aside")
    assert ran.code == 1
    assert f"set aside as aside/segments/{first.path.name}" in ran.out
    assert (store / "aside" / "segments" / first.path.name / "events.parquet").exists()
    assert [one.path for one in all_segments(store)] == [third.path]
    ran = necroscope("verify", "--store", store)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "set aside before: 2 segments in aside/")
    top = necroscope("top", "--store", store, "--from", START_NS, "--to", START_NS + 8 * 10**9)
    assert top.err.count("is damaged and left out") == 2
    events = necroscope("events", "--store", store, "--kind", "store-damaged")
    assert "damaged and set aside by `necroscope verify`" in events.out


def test_a_damaged_journal(necroscope: Program, tmp_path: Path) -> None:
    fill(tmp_path / "alive")
    store = Path(shutil.copytree(tmp_path / "alive", tmp_path / "store"))
    assert necroscope("verify", "--store", store).code == 0
    (journal,) = (store / "journal").iterdir()
    flip(journal, journal.stat().st_size // 2)
    ran = necroscope("verify", "--store", store)
    assert ran.code == 1
    assert f"damaged: journal/{journal.name}: the frame at byte 16 is damaged" in ran.out


def test_a_store_of_the_first_version_reads_and_cannot_be_verified(necroscope: Program, store: Path) -> None:
    before = necroscope("top", "--store", store, "--json", "--from", START_NS, "--to", START_NS + 8 * 10**9)
    first_version(store)
    after = necroscope("top", "--store", store, "--json", "--from", START_NS, "--to", START_NS + 8 * 10**9)
    assert (after.out, after.err) == (before.out, "")
    ran = necroscope("verify", "--store", store)
    assert ran.code == 3
    assert "not verifiable: 4 parts of an earlier version" in ran.out
    path = all_segments(store)[0].file("events")
    flip(path, 40)
    assert necroscope("verify", "--store", store, "--json").document["verdict"] == "damaged"


def test_what_does_not_belong_there_is_named(necroscope: Program, store: Path) -> None:
    (store / "notes.txt").write_text("x")
    (store / "journal" / "x.journal").write_text("x")
    ran = necroscope("verify", "--store", store, "--json")
    assert (ran.code, ran.document["foreign"]) == (0, ["notes.txt", "journal/x.journal"])


def test_what_a_killed_recorder_leaves_belongs_there(necroscope: Program, store: Path) -> None:
    (store / "metrics.prom").write_text("x 1\n")
    assert "does not belong" not in necroscope("verify", "--store", store).out


def test_bundles(necroscope: Program, store: Path, tmp_path: Path) -> None:
    assert necroscope("verify", "--bundle", INCIDENTS / "smaps-reader.ncb").code == 0
    made = tmp_path / "x.ncb"
    assert necroscope("bundle", made, "--store", store).code == 0
    assert necroscope("verify", "--bundle", made, "--json").document["verdict"] == "intact"
    assert json.loads(necroscope("verify", "--bundle", made, "--json").out)["damaged"] == []
    ran = necroscope("verify", "--bundle", made, "--set-aside")
    assert (ran.code, "Nothing of a bundle can be set aside" in ran.err) == (2, True)
    flip(made, made.stat().st_size // 2)
    assert necroscope("verify", "--bundle", made).code == 2


def test_what_is_no_store(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("verify", "--store", tmp_path)
    assert (ran.code, "is no store" in ran.err) == (2, True)
