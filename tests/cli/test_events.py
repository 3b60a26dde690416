"""`necroscope events` as users see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope import clock
from necroscope.clock import NS
from necroscope.store.inbox import put
from necroscope.store.tables import Event
from necroscope.store.writer import Writer
from stage.program import Program

NOW_NS = clock.now().realtime_ns
OLD = Event(NOW_NS - 7200 * NS, "nic-reset", "kmsg", "eth0", "ena: reset \x1b[2J", uncertainty_ns=2 * NS)
NEW = Event(NOW_NS - 60 * NS, "restart", "systemd", "a.service", "restarted for the 5th time")
MARK = Event(NOW_NS - 30 * NS, "job-failed", "mark", "job 4711", "job 4711 failed")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    writer = Writer(folder)
    writer.add_events([NEW, OLD])
    writer.close()
    put(folder, MARK)
    return folder


def test_the_document(necroscope: Program, store: Path) -> None:
    document = necroscope("events", "--store", store, "--json").document
    assert document["schema"] == "necroscope.events/1"
    assert [event["id"] for event in document["events"]] == [str(event.id) for event in (OLD, NEW, MARK)]
    assert document["events"][1] == {
        "id": str(NEW.id),
        "at": clock.iso(NEW.at_ns)[:-1] + f"{NEW.at_ns % 1_000_000:06d}Z",
        "at_ns": NEW.at_ns,
        "kind": "restart",
        "source": "systemd",
        "subject": "a.service",
        "text": "restarted for the 5th time",
        "uncertainty_ns": 0,
    }
    assert document["notes"] == []


def test_lines_for_people(necroscope: Program, store: Path) -> None:
    lines = necroscope("events", "--store", store, columns=160).out.splitlines()
    assert lines[0].startswith("~" + clock.iso(OLD.at_ns))
    assert "ena: reset \\x1b[2J" in lines[0]
    assert " ".join(lines[1].split()) == f"{clock.iso(NEW.at_ns)} restart a.service restarted for the 5th time"
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        (("--since", "-1h"), ["restart", "job-failed"]),
        (("--since", "-3h", "--until", "-1h"), ["nic-reset"]),
        (("--kind", "nic-reset"), ["nic-reset"]),
        (("--kind", "nic-reset", "--kind", "job-failed"), ["nic-reset", "job-failed"]),
        (("--kind", "' or true --"), []),
    ],
)
def test_filters(necroscope: Program, store: Path, arguments: tuple[str, ...], kinds: list[str]) -> None:
    document = necroscope("events", "--store", store, "--json", *arguments).document
    assert [event["kind"] for event in document["events"]] == kinds


def test_none(necroscope: Program, store: Path) -> None:
    assert necroscope("events", "--store", store, "--kind", "x").out == "no events\n"
    assert necroscope("events", "--store", store, "-q").out == ""


def test_a_window_that_ends_before_it_begins(necroscope: Program, store: Path) -> None:
    ran = necroscope("events", "--store", store, "--since", "-1h", "--until", "-2h")
    assert (ran.code, ran.out) == (2, "")
    assert "ends before it begins" in ran.err
    assert "--since and --until" in ran.err


def test_a_time_that_is_none(necroscope: Program, store: Path) -> None:
    ran = necroscope("events", "--store", store, "--since", "yesterday")
    assert ran.code == 2
    assert "is no time" in ran.err
