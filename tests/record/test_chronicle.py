"""Looks tell how things stand; the chronicle tells what happened, once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.clock import NS, ClockReading
from necroscope.record import chronicle as chronicle_module
from necroscope.record.chronicle import Chronicle, reported_since_boot
from necroscope.sense.sensor import Look
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event_sentence import sentence
from necroscope.vocabulary.model import ContainerState, Reading, Record, Sample, Symptom, UnitState, Unseen

RESET = Symptom("nic-tx-timeout", 5_000, 1, "TX q 5 is paused", 5_000, driver="ena", device="eth0")
UNIT = UnitState("leaky.service", "activating", "auto-restart", "exit-code", 3, exit_status=1)


def _look(*records: Record, sensor: str = "systemd", at_ns: int = 7, unseen: tuple[Unseen, ...] = ()) -> Look:
    return Look(sensor, at_ns, Reading(records=records, unseen=unseen), 0.0)


def test_a_symptom_is_told_once_and_again_as_another_kind() -> None:
    chronicle = Chronicle()
    (event,) = chronicle.events([_look(RESET, sensor="kmsg")])
    assert (event.at_ns, event.kind, event.source, event.subject) == (5_000, "nic-tx-timeout", "kmsg", "eth0")
    assert chronicle.events([_look(replace(RESET, first_at_ns=5_300, at_ns=9_000), sensor="kmsg")]) == []
    (risen,) = chronicle.events([_look(replace(RESET, kind="nic-reset", first_at_ns=5_200), sensor="kmsg")])
    assert risen.kind == "nic-reset"
    (later,) = chronicle.events([_look(replace(RESET, first_at_ns=9_000_000, repeats=3), sensor="kmsg")])
    assert (later.text, later.count, later.queue) == ("TX q 5 is paused", 3, RESET.queue)
    assert sentence(later) == "TX q 5 is paused (×3)"


def test_restarts_are_differences() -> None:
    chronicle = Chronicle()
    assert chronicle.events([_look(UNIT)]) == []
    assert chronicle.events([_look(UNIT)]) == []
    (event,) = chronicle.events([_look(replace(UNIT, restarts=5), at_ns=9)])
    assert (event.at_ns, event.kind, event.subject) == (9, "unit-restart", "leaky.service")
    assert (event.count, event.reason) == (2, "exit-code, status 1, now activating (auto-restart)")
    assert sentence(event) == f"2 more, the last one: {event.reason}"
    assert chronicle.events([_look(replace(UNIT, restarts=0))]) == []


def test_a_unit_that_was_in_no_trouble_at_the_look_before_had_not_restarted() -> None:
    chronicle = Chronicle()
    assert chronicle.events([_look()]) == []
    (event,) = chronicle.events([_look(UNIT)])
    assert (event.kind, event.count) == ("unit-restart", 3)


def test_a_unit_of_which_the_look_before_may_not_have_told_everything_is_only_noted() -> None:
    chronicle = Chronicle()
    chronicle.events([_look(unseen=(Unseen("systemd", "time was up"),))])
    assert [event.kind for event in chronicle.events([_look(UNIT)])] == ["sensor-sees"]


def test_starts_and_failures_stand_where_they_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chronicle_module.clock, "now", lambda: ClockReading(10**18, 60 * 10**9, 60 * 10**9))
    chronicle = Chronicle()
    runs = replace(UNIT, restarts=0, starts=0, successes=0, failures=0, started_us=10_000_000)
    assert chronicle.events([_look(runs)]) == []
    failed = replace(runs, starts=2, failures=1, started_us=50_000_000, ended_us=51_000_000)
    start, failure = chronicle.events([_look(failed)])
    assert (start.kind, start.subject, start.count) == ("unit-start", UNIT.name, 2)
    assert start.at_ns == 10**18 - 10 * 10**9
    assert (failure.kind, failure.at_ns) == ("unit-failure", 10**18 - 9 * 10**9)
    assert failure.reason == "exit-code, status 1, now activating (auto-restart)"
    assert chronicle.events([_look(failed)]) == []
    (later,) = chronicle.events([_look(replace(failed, failures=2, ended_us=0), at_ns=77)])
    assert (later.kind, later.at_ns) == ("unit-failure", 77)


def test_a_recreated_container_restarts_by_its_deaths() -> None:
    chronicle = Chronicle()
    state = ContainerState("docker", "ab", "agent", "img", "running", restarts=0, deaths=4)
    assert chronicle.events([_look(state, sensor="containers")]) == []
    (event,) = chronicle.events([_look(replace(state, deaths=5), sensor="containers")])
    assert (event.kind, event.subject) == ("container-restart", "agent")


def test_blindness_is_an_event_when_it_begins_and_when_it_ends() -> None:
    chronicle = Chronicle()
    blind = _look(unseen=(Unseen("systemd", "no bus"),))
    assert [event.kind for event in chronicle.events([blind])] == ["sensor-blind"]
    assert chronicle.events([blind]) == []
    assert [event.kind for event in chronicle.events([_look()])] == ["sensor-sees"]


BOOTED_NS = 10**18


def test_what_an_earlier_recorder_told_of_this_boot_is_not_told_again(tmp_path: Path) -> None:
    """The clocks are read anew: times differ a little, and so do ids. Repeats since then are news."""
    now = ClockReading(BOOTED_NS + 60 * NS, 60 * NS, 60 * NS)
    reset = replace(RESET, at_ns=BOOTED_NS + 5 * NS, first_at_ns=BOOTED_NS + 5 * NS)
    folded = replace(reset, at_ns=reset.at_ns + 300, first_at_ns=reset.first_at_ns + 300, repeats=2)
    later = replace(folded, at_ns=BOOTED_NS + 50 * NS)
    other = replace(folded, device="eth1")
    for seal in (False, True):
        store = tmp_path / str(seal)
        writer = Writer(store)
        writer.add_events(Chronicle().events([_look(reset, sensor="kmsg")]))
        if seal:
            writer.seal()
        writer.flush()
        stored = reported_since_boot(store, now)
        writer.close()
        assert [event.at_ns for event in stored] == [reset.at_ns]
        assert Chronicle(stored).events([_look(folded, sensor="kmsg")]) == []
        assert [event.at_ns for event in Chronicle(stored).events([_look(later, sensor="kmsg")])] == [later.at_ns]
        assert [event.subject for event in Chronicle(stored).events([_look(other, sensor="kmsg")])] == ["eth1"]
        running = Chronicle(stored)
        first = Look("kmsg", 7, Reading((Sample("kernel_log_records", 9),), (folded,)), 0.0)
        again = replace(folded, at_ns=reset.at_ns + NS // 2, first_at_ns=reset.at_ns + NS // 2)
        assert running.events([first]) == []
        assert [event.at_ns for event in running.events([_look(again, sensor="kmsg")])] == [again.at_ns]
        rebooted = ClockReading(BOOTED_NS + 60 * NS, 20 * NS, 20 * NS)
        assert reported_since_boot(store, rebooted) == []


def test_a_store_that_cannot_be_read_has_told_nothing(tmp_path: Path) -> None:
    assert reported_since_boot(tmp_path / "none", ClockReading(BOOTED_NS, 0, 0)) == []
