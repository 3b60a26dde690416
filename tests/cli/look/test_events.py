"""`necroscope events` as users see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope import clock
from necroscope.clock import NS
from necroscope.store.inbox import put
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.program import Program
from stage.recorded import START_NS, Sample

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


# -- patterns ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bursts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four cores: bursts on all of them every 20 s, and core 2 without idle time from 105 s to 118 s."""
    folder = tmp_path_factory.mktemp("bursts")
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    busy = [0.0] * 4
    for number in range(201):
        times = [(str(cpu), mode, value) for cpu in range(4) for mode, value in _modes(busy[cpu], number)]
        writer.add_signals(
            START_NS + number * NS, [Sample("cpu_time_seconds", round(v, 3), (c, m)) for c, m, v in times], "cpu"
        )
        for cpu in range(4):
            taken = cpu == 2 and 105 <= number < 118
            busy[cpu] += 1.0 if taken else 0.8 if number % 20 < 3 else 0.25
    writer.close()
    return folder


def _modes(busy_s: float, passed_s: float) -> tuple[tuple[str, float], ...]:
    return ("user", busy_s), ("idle", passed_s - busy_s)


def test_patterns_are_told_when_asked_for(necroscope: Program, bursts: Path) -> None:
    found = necroscope("events", "--store", bursts, "--patterns", "--json").document["patterns"]
    assert [(one["kind"], one["cpu"]) for one in found] == [("periodic-bursts", None), ("single-core-saturation", 2)]
    assert "every 20 s" in found[0]["text"]
    assert found[1]["from"] == clock.iso(START_NS + 105 * NS)
    assert found[1]["to"] == clock.iso(START_NS + 118 * NS - 1)
    assert "patterns" not in necroscope("events", "--store", bursts, "--json").document


def test_patterns_stand_among_the_events(necroscope: Program, bursts: Path) -> None:
    lines = necroscope("events", "--store", bursts, "--patterns", columns=160).out.splitlines()
    assert [line.split()[1] for line in lines] == ["periodic-bursts", "single-core-saturation"]
    assert "cpu 2" in lines[1]
    only = necroscope(
        "events", "--store", bursts, "--patterns", "--kind", "periodic-bursts", columns=160
    ).out.splitlines()
    assert len(only) == 1
    late = necroscope("events", "--store", bursts, "--patterns", "--since", str(START_NS + 130 * NS)).out
    assert "single-core" not in late
