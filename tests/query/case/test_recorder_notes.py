"""What events tell about the recording, and about the hardware."""

from __future__ import annotations

from necroscope.query.case.recorder_notes import blinds_in, gaps_in, hardware_in, lost_in, starts_in
from necroscope.vocabulary.case import EVENTS_MOST, Blind, Gap, HardwareEvent, RecorderStart
from necroscope.vocabulary.event import Event
from stage.incident import at


def _event(second: float, kind: str, subject: str = "", **more: object) -> Event:
    return Event(at(second), kind, "recorder", subject, **more)  # type: ignore[arg-type]


def test_gaps_have_both_ends() -> None:
    known = _event(5, "recorder-gap", "perf", from_ns=at(5), to_ns=at(7), reason="perf was restarted")
    found = gaps_in([known, _event(8, "recorder-gap", "store"), _event(9, "boot")], at(9))
    (gap,) = found
    assert isinstance(gap, Gap)
    assert (gap.from_ns, gap.to_ns, gap.subject) == (at(5), at(7), "perf")
    assert gap.text.startswith("no samples were taken from 2")
    assert gap.text.endswith("(2.0 s): perf was restarted")


def test_each_sensor_is_blind_as_it_said_last() -> None:
    events = [
        _event(1, "sensor-blind", "systemd", text="no bus"),
        _event(2, "sensor-blind", "systemd", text="timed out"),
        _event(3, "perf-unavailable", "perf", text="no permission"),
        _event(4, "sensor-sees", "systemd"),
    ]
    assert blinds_in(events) == (Blind("systemd", at(2), "timed out"), Blind("perf", at(3), "no permission"))


def test_recorders_that_began() -> None:
    found = starts_in([_event(1, "recorder-started", pid=77), _event(2, "recorder-stopped", pid=77)], at(5))
    assert found == (RecorderStart(at(1), 77),)


def test_the_hardware_within_two_minutes() -> None:
    events = [_event(second, "hardware-error", "cpu3") for second in (10, 100, 300)]
    found = hardware_in([*events, _event(100, "nic-reset", "eth0")], at(150))
    assert found == (HardwareEvent(at(100), "hardware-error", "cpu3"),)


def test_samples_that_were_lost_near_a_run() -> None:
    lost = [_event(second, "samples-lost", count=1) for second in (10, 20, 30)]
    found = lost_in([*lost, _event(21, "boot"), _event(23.5, "sampling-throttled")], [(at(18), at(22))], at(40))
    assert found == (at(20), at(23.5))


def test_of_very_many_the_nearest_are_kept() -> None:
    lost = [_event(number / 10, "samples-lost", count=1) for number in range(200)]
    found = lost_in(lost, [(at(0), at(60))], at(60))
    assert len(found) == EVENTS_MOST
    assert (found[0], found[-1]) == (at(15.0), at(19.9))
