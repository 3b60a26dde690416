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

INCIDENT = Path(__file__).parents[2] / "incidents" / "seeds-incident.ncb"
NOW_NS = clock.now().realtime_ns
OLD = Event(NOW_NS - 7200 * NS, "nic-reset", "kmsg", "eth0", "ena: reset \x1b[2J", uncertainty_ns=2 * NS)
NEW = Event(NOW_NS - 60 * NS, "restart", "systemd", "a.service", "restarted for the 5th time")
BORN = [Event(NOW_NS - 50 * NS + n, "cgroup-mkdir", "perf", f"/a/{n}", cgroup=n, hierarchy=0) for n in (1, 2)]
MARK = Event(NOW_NS - 30 * NS, "job-failed", "mark", "job 4711", "job 4711 failed")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    writer = Writer(folder)
    writer.add_events([NEW, OLD, *BORN])
    writer.close()
    put(folder, MARK)
    return folder


def test_the_document(necroscope: Program, store: Path) -> None:
    document = necroscope("events", "--store", store, "--json").document
    assert document["schema"] == "necroscope.events/1"
    assert [event["id"] for event in document["events"]] == [str(event.id) for event in (OLD, NEW, MARK)]
    assert document["events"][1] == {
        "id": str(NEW.id),
        "short_id": f"{NEW.id:016x}"[:7],
        "symptom": False,
        "at": clock.iso(NEW.at_ns)[:-1] + f"{NEW.at_ns % 1_000_000:06d}Z",
        "at_ns": NEW.at_ns,
        "kind": "restart",
        "source": "systemd",
        "subject": "a.service",
        "text": "restarted for the 5th time",
        "uncertainty_ns": 0,
    }
    assert [event["symptom"] for event in document["events"]] == [True, False, True]
    assert (document["notes"], document["left_out"]) == ([], {"cgroup-mkdir": 2})


def test_lines_for_people(necroscope: Program, store: Path) -> None:
    ran = necroscope("events", "--store", store, columns=40)
    lines = ran.out.splitlines()
    assert lines[0].startswith("▲~" + clock.iso(OLD.at_ns))
    assert "ena: reset \\x1b[2J" in lines[0]
    short = f"{NEW.id:016x}"[:7]
    assert lines[1] == f"  {clock.iso(NEW.at_ns)}  {short}  restart  a.service  restarted for the 5th time"
    assert len(lines) == 3
    assert ran.err == "necroscope: not shown: 2 cgroup-mkdir (--all shows them)\n"


def test_what_cgroups_did_is_listed_on_request(necroscope: Program, store: Path) -> None:
    for options in (("--all",), ("--kind", "cgroup-mkdir")):
        ran = necroscope("events", "--store", store, *options)
        assert (sum("cgroup-mkdir" in line for line in ran.out.splitlines()), ran.err) == (2, "")
    assert len(necroscope("events", "--store", store, "--all", "--json").document["events"]) == 5


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (("why", "--brief"), "Symptom: nic-tx-timeout of eth1 at 2026-11-16T21:37:05.275Z"),
        (("top",), "around nic-tx-timeout eth1"),
        (("flame",), "2026-11-16 21:36:55.275 to 21:37:07.275 UTC"),
        (("heatmap",), "2026-11-16 21:36:55.275 to 21:37:07.275 UTC"),
        (("export", "--format", "folded", "-o", "-"), "around nic-tx-timeout eth1"),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_other_verbs_take_a_short_id(necroscope: Program, verb: tuple[str, ...], words: str) -> None:
    ran = necroscope(*verb, "--bundle", INCIDENT, "--event", "fa6e1d3")
    assert ran.code in (0, 1)
    assert words in " ".join((ran.out + ran.err).split())


def test_an_event_that_is_none_is_answered_with_what_there_is(necroscope: Program, store: Path) -> None:
    for verb in ("why", "top"):
        ran = necroscope(verb, "--store", store, "--event", "nic-rest")
        assert (ran.code, ran.out) == (2, "")
        assert "has no event nic-rest.\n  hint: kinds of events there: nic-reset, " in ran.err


def test_no_more_than_a_screen_or_two_for_an_incident(necroscope: Program) -> None:
    ran = necroscope("events", "--bundle", INCIDENT)
    assert len(ran.out.splitlines()) < 50
    assert "not shown: 536 cgroup-mkdir, 425 cgroup-release, 531 cgroup-rmdir" in ran.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--kind", "restart"), 0),
        (("--kind", "oom-kill"), 0),
        (("--since", "2020-01-01", "--until", "2020-01-02"), 3),
    ],
)
def test_the_exit_code_tells_whether_somebody_complained(
    necroscope: Program, store: Path, options: tuple[str, ...], code: int
) -> None:
    for quiet in ((), ("-q",)):
        assert necroscope("events", "--store", store, *options, *quiet).code == code


def test_a_time_that_was_not_recorded_is_not_a_quiet_time(necroscope: Program, store: Path) -> None:
    ran = necroscope("events", "--store", store, "--since", "2020-01-01", "--until", "2020-01-02")
    assert ran.out == ""
    assert "Nothing of that time was recorded" in ran.err
    assert f"the recording goes from {clock.iso(OLD.at_ns)}" in ran.err


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        (("--since", "-1h"), ["restart", "job-failed"]),
        (("--since", "-3h", "--until", "-1h"), ["nic-reset"]),
        (("--kind", "nic-reset"), ["nic-reset"]),
        (("--kind", "nic-reset", "--kind", "job-failed"), ["nic-reset", "job-failed"]),
        (("--kind", "oom-kill"), []),
    ],
)
def test_filters(necroscope: Program, store: Path, arguments: tuple[str, ...], kinds: list[str]) -> None:
    document = necroscope("events", "--store", store, "--json", *arguments).document
    assert [event["kind"] for event in document["events"]] == kinds


def test_none(necroscope: Program, store: Path) -> None:
    assert necroscope("events", "--store", store, "--kind", "oom-kill").out == "no events\n"
    assert necroscope("events", "--store", store, "-q").out == ""


@pytest.mark.parametrize("kind", ["x", "' or true --", "nic-rest", "periodic-bursts"])
def test_a_kind_that_nobody_knows_is_a_mistake(necroscope: Program, store: Path, kind: str) -> None:
    ran = necroscope("events", "--store", store, "--kind", kind)
    assert (ran.code, ran.out) == (2, "")
    assert f"has no event of kind {kind}." in ran.err
    assert "nic-reset" in ran.err


def test_a_window_that_ends_before_it_begins(necroscope: Program, store: Path) -> None:
    ran = necroscope("events", "--store", store, "--since", "-1h", "--until", "-2h")
    assert (ran.code, ran.out) == (2, "")
    assert "ends before it begins" in ran.err
    assert "--since and --until" in ran.err


def test_a_time_that_is_none(necroscope: Program, store: Path) -> None:
    ran = necroscope("events", "--store", store, "--since", "yesterday")
    assert ran.code == 2
    assert "is not a valid time" in ran.err


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
    assert [line.split()[2] for line in lines] == ["periodic-bursts", "single-core-saturation"]
    assert "cpu 2" in lines[1]
    only = necroscope(
        "events", "--store", bursts, "--patterns", "--kind", "periodic-bursts", columns=160
    ).out.splitlines()
    assert len(only) == 1
    late = necroscope("events", "--store", bursts, "--patterns", "--since", str(START_NS + 130 * NS)).out
    assert "single-core" not in late
