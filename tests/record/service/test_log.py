"""Which things are a line of the log, at which level, and how often."""

from __future__ import annotations

import json

import pytest

from necroscope import clock
from necroscope.clock import NS
from necroscope.record.recorder import RecorderStatus, Trouble
from necroscope.record.service.log import OF_A_KIND, Log
from necroscope.show.log.line import as_json, for_people
from necroscope.show.log.log_line import LogLine
from necroscope.vocabulary.event import Event


def _status(*troubles: Trouble) -> RecorderStatus:
    return RecorderStatus(1.0, 1, 1.0, 0, 0, 0.0, 1, 1, 1.0, None, troubles)


def _reset(number: int = 0) -> Event:
    return Event(clock.now().realtime_ns + number, "nic-reset", "kmsg", "eth0", "ena: Reset reason 15", device="eth0")


def test_symptoms_and_gaps_are_lines_and_cgroups_are_not() -> None:
    lines: list[LogLine] = []
    now_ns = clock.now().realtime_ns
    gap = Event(now_ns, "recorder-gap", "recorder", "perf", reason="perf ended", from_ns=now_ns - NS, to_ns=now_ns)
    log = Log(lines.append)
    log.happened([_reset(), gap, Event(now_ns, "cgroup-rmdir", "perf", "/a"), Event(now_ns, "mark", "mark", "", "hi")])
    assert [(one.level, one.kind) for one in lines] == [("warning", "symptom"), ("warning", "recorder-gap")]
    assert lines[0].text == "nic-reset: eth0: ena: Reset reason 15"
    assert lines[0].fields["device"] == "eth0"


def test_what_the_kernel_said_before_is_not_news() -> None:
    lines: list[LogLine] = []
    log = Log(lines.append)
    log.happened([Event(clock.now().realtime_ns - 3600 * NS, "nic-reset", "kmsg", "eth0", "reset")])
    assert lines == []


def test_a_flood_is_ten_lines_and_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[LogLine] = []
    log = Log(lines.append)
    log.happened([_reset(number) for number in range(500)])
    assert len(lines) == OF_A_KIND
    later_s = clock.elapsed_s() + 61
    monkeypatch.setattr(clock, "elapsed_s", lambda: later_s)
    log.stands(_status(), "")
    assert lines[-1].text == f"{500 - OF_A_KIND} more within 61 s"


def test_a_trouble_is_told_when_it_begins_and_when_it_is_over() -> None:
    lines: list[LogLine] = []
    log = Log(lines.append)
    trouble = Trouble("no samples", "no samples are taken: perf is not installed")
    for troubles in ((trouble,), (trouble,), ()):
        log.stands(_status(*troubles), "")
    assert [(one.level, one.text) for one in lines] == [
        ("warning", "no samples are taken: perf is not installed"),
        ("info", "no longer: no samples"),
    ]


def test_the_status_is_for_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[LogLine] = []
    loud, quiet = Log(lines.append, "debug"), Log(lines.append, "error")
    later_s = clock.elapsed_s() + 61
    monkeypatch.setattr(clock, "elapsed_s", lambda: later_s)
    for log in (loud, quiet, loud):
        log.stands(_status(), "recording 61 s")
    assert [(one.level, one.text) for one in lines] == [("debug", "recording 61 s")]


def test_lines_for_people_journald_and_machines() -> None:
    line = LogLine(1_700_000_000 * NS, "warning", "symptom", "eth0: \x1b[2Jreset\nnow\udc80", {"device": "e\udc80"})
    assert for_people(line) == "2023-11-14T22:13:20.000Z warning symptom: eth0: \\x1b[2Jreset now\\x80"
    assert for_people(line, to_journal=True) == "<4>symptom: eth0: \\x1b[2Jreset now\\x80"
    document = json.loads(as_json(line, to_journal=True).removeprefix("<4>"))
    assert document["schema"] == "necroscope.log/1"
    assert (document["level"], document["device"]) == ("warning", "e\\x80")
    assert "\n" not in as_json(line)
