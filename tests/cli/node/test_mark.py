"""`necroscope mark` as users see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.store.write.writer import Writer
from stage.program import Program


@pytest.fixture
def store(tmp_path: Path) -> Path:
    Writer(tmp_path / "store").close()
    return tmp_path / "store"


def test_a_mark_has_the_id_that_it_was_told_with(necroscope: Program, store: Path) -> None:
    marked = necroscope("mark", b"caf\xe9".decode("utf-8", "surrogateescape"), "--kind", "job-failed", "--store", store)
    assert marked.code == 0
    (event,) = necroscope("events", "--store", store, "--json").document["events"]
    assert (event["kind"], event["text"], event["source"]) == ("job-failed", "caf\\xe9", "mark")
    assert marked.out == f"{event['at'][:23]}Z  {event['short_id']}  job-failed\n"
    assert necroscope("why", "--event", event["short_id"], "--store", store, "-q").code != 2


def test_a_mark_says_what_it_is_about(necroscope: Program, store: Path) -> None:
    ran = necroscope("mark", "stood still", "--cpu", 39, "--pid", 4711, "--device", "eth0", "--store", store)
    assert ran.code == 0
    (event,) = necroscope("events", "--store", store, "--json").document["events"]
    assert (event["cpu"], event["pid"], event["device"], event["text"]) == (39, 4711, "eth0", "stood still")
    assert "queue" not in event
    assert event["short_id"] in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("future", "--at", "2999-01-01T00:00:00Z"), "times lie from 1970 to 2261"),
        (("x" * 100_000,), "The text has 100,000 characters"),
        (("",), "The text is empty"),
        (("text", "--kind", "two words"), "'two words' is no kind of event"),
        (("text", "--cpu", "-1"), "--cpu"),
        (("text", "--pid", "many"), "--pid"),
        (("text", "--device", "x" * 1001), "The device has 1,001 characters"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    necroscope: Program, store: Path, arguments: tuple[str, ...], words: str
) -> None:
    ran = necroscope("mark", *arguments, "--store", store)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert not (store / "inbox").exists()


def test_a_mistyped_folder_does_not_become_a_store(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("mark", "text", "--store", tmp_path / "typo")
    assert ran.code == 2
    assert "is no store" in ran.err
    assert "necroscope record" in ran.err
    assert not (tmp_path / "typo").exists()


def test_the_usual_place_may_still_be_empty(necroscope: Program, tmp_path: Path) -> None:
    place = {"NECROSCOPE_STORE": str(tmp_path / "usual")}
    assert necroscope("mark", "before the first recorder", env=place).code == 0
    assert [event["text"] for event in necroscope("events", "--json", env=place).document["events"]] == [
        "before the first recorder"
    ]
