"""Units in trouble: from properties to records, the journal joined in, and hosts without systemd."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.replay import encode
from necroscope.sense.systemd import units as systemd
from necroscope.sense.systemd.journal import Journal, UnitHistory
from necroscope.sense.systemd.unit_properties import Units
from necroscope.sense.systemd.unit_runs import UnitRuns
from necroscope.sense.systemd.units import MAX_HISTORIES, Systemd, expected_cgroup, unit_state, with_history
from necroscope.vocabulary.model import Reading, Sample, UnitState, Unseen

# What the bus of systemd 252 says of a unit between two runs.
LEAKY: dict[str, Any] = {
    "Id": "leaky.service",
    "LoadState": "loaded",
    "ActiveState": "activating",
    "SubState": "auto-restart",
    "UnitFileState": "enabled",
    "UnitFilePreset": "enabled",
    "FragmentPath": "/etc/systemd/system/leaky.service",
    "WantedBy": ["multi-user.target"],
    "RequiredBy": [],
    "TriggeredBy": ["leaky.timer"],
    "ActiveEnterTimestampMonotonic": 1369835799,
    "InactiveExitTimestampMonotonic": 1369840304,
    "Result": "exit-code",
    "NRestarts": 6,
    "Restart": "always",
    "ExecMainCode": 1,
    "ExecMainStatus": 1,
    "ExecMainStartTimestampMonotonic": 1369835462,
    "ExecMainExitTimestampMonotonic": 1369840001,
    "MainPID": 0,
    "ControlGroup": "",
    "Slice": "system.slice",
}
# The same as systemctl spells it.
LEAKY_AS_TEXT = {name: " ".join(value) if isinstance(value, list) else str(value) for name, value in LEAKY.items()}
LEAKY_STATE = UnitState(
    name="leaky.service",
    active_state="activating",
    sub_state="auto-restart",
    result="exit-code",
    restarts=6,
    exit_code="exited",
    exit_status=1,
    restart_policy="always",
    since_start_s=2.0,
    unit_file_state="enabled",
    preset="enabled",
    wanted_by=("multi-user.target",),
    triggered_by=("leaky.timer",),
    fragment_path="/etc/systemd/system/leaky.service",
    control_group="/system.slice/leaky.service",
    started_us=1369835462,
    ended_us=1369840001,
)


@pytest.mark.parametrize("properties", [LEAKY, LEAKY_AS_TEXT])
def test_a_unit_is_the_same_from_the_bus_and_from_systemctl(properties: dict[str, Any]) -> None:
    assert unit_state(properties, 1371835462) == LEAKY_STATE


def test_a_unit_of_which_nothing_is_known_has_no_more_than_defaults() -> None:
    assert unit_state({}, 10) == UnitState("", "", "", "", 0)
    strange = {"Id": 7, "NRestarts": "many", "WantedBy": 3, "ExecMainCode": None, "Slice": ["x"], "MainPID": "9" * 40}
    assert unit_state(strange, 10) == UnitState("", "", "", "", 0)


def test_a_unit_that_has_been_up_for_a_minute_succeeds() -> None:
    running = {**LEAKY, "ActiveState": "active", "SubState": "running"}
    started_us = LEAKY["ExecMainStartTimestampMonotonic"]
    assert unit_state(running, started_us + 59_000_000).ever_succeeded is None
    assert unit_state(running, started_us + 60_000_000).ever_succeeded is True


def test_a_start_without_a_main_process_is_the_last_activation() -> None:
    mount = {"Id": "data.mount", "ActiveState": "failed", "InactiveExitTimestampMonotonic": 5_000_000}
    assert unit_state(mount, 8_000_000).since_start_s == 3.0


@pytest.mark.parametrize(
    ("slice_name", "expected"),
    [
        ("system.slice", "/system.slice/a.service"),
        ("-.slice", "/a.service"),
        ("system-getty.slice", "/system.slice/system-getty.slice/a.service"),
        ("", ""),
    ],
)
def test_the_cgroup_between_two_runs_follows_from_the_slice(slice_name: str, expected: str) -> None:
    assert expected_cgroup({"Id": "a.service", "Slice": slice_name}) == expected


def test_the_journal_fills_in_what_a_running_unit_does_not_show() -> None:
    running = UnitState("a.service", "active", "running", "success", 9)
    history = UnitHistory(("bad state",), False, "exit-code", "exited", 3)
    joined = with_history(running, history)
    assert (joined.result, joined.exit_code, joined.exit_status) == ("exit-code", "exited", 3)
    assert (joined.ever_succeeded, joined.last_lines) == (False, ("bad state",))


def test_what_systemd_shows_is_not_overruled_by_the_journal() -> None:
    failed = UnitState("a.service", "failed", "failed", "signal", 9, "killed", 9, ever_succeeded=True)
    joined = with_history(failed, UnitHistory((), False, "exit-code", "exited", 3))
    assert (joined.result, joined.exit_code, joined.exit_status, joined.ever_succeeded) == ("signal", "killed", 9, True)


# -- the sensor ------------------------------------------------------------------------------------------


def journal_of(text: bytes) -> Journal:
    return Journal(run=lambda command, timeout_s: text)


def test_no_systemd_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="systemd does not run here"):
        Systemd(bus=str(tmp_path / "absent")).read(Host())


def test_units_samples_and_what_was_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    units = Units({"active": 3, "activating": 1}, (LEAKY,), unasked=5, undescribed=2)
    monkeypatch.setattr(systemd, "over_bus", lambda socket, budget_s, moved: units)
    (tmp_path / "bus").touch()
    reading = Systemd(bus=str(tmp_path / "bus"), journal=journal_of(b"")).read(Host())
    assert reading.samples == (
        Sample("systemd_units", 3, ("active",)),
        Sample("systemd_units", 1, ("activating",)),
        Sample("systemd_unit_restarts", 6, ("leaky.service",)),
    )
    assert [record.name for record in reading.records if isinstance(record, UnitState)] == ["leaky.service"]
    assert [unseen.reason[:1] for unseen in reading.unseen] == ["5", "2"]


def test_a_silent_bus_of_this_host_is_replaced_by_systemctl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def silent(socket: str, budget_s: float, moved: object) -> Units:
        raise Unavailable("silent")

    def systemctl(command: Sequence[str], timeout_s: float) -> bytes:
        return "\n".join(f"{name}={value}" for name, value in LEAKY_AS_TEXT.items()).encode()

    monkeypatch.setattr(systemd, "over_bus", silent)
    monkeypatch.setattr(systemd, "USUAL", str(tmp_path))
    monkeypatch.setattr(systemd, "bus_socket", lambda: str(tmp_path))
    monkeypatch.setattr(systemd, "BOOTED", str(tmp_path))
    (record,) = Systemd(journal=journal_of(b""), run=systemctl).read(Host()).records
    assert isinstance(record, UnitState)
    assert (record.name, record.restarts, record.wanted_by) == ("leaky.service", 6, ("multi-user.target",))
    monkeypatch.setattr(systemd, "BOOTED", str(tmp_path / "absent"))
    with pytest.raises(Unavailable, match="silent"):
        Systemd(run=systemctl).read(Host())


def test_the_journal_is_asked_about_the_worst_units_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    many = tuple({**LEAKY, "Id": f"u{number}.service"} for number in range(MAX_HISTORIES + 3))
    monkeypatch.setattr(systemd, "over_bus", lambda socket, budget_s, moved: Units({}, many))
    line = b'{"MESSAGE":"bye","_PID":"7"}'
    reading = Systemd(bus=str(tmp_path), journal=journal_of(line)).read(Host())
    lines = [record.last_lines for record in reading.records if isinstance(record, UnitState)]
    assert lines == [("bye",)] * MAX_HISTORIES + [()] * 3
    assert reading.unseen[0].reason.startswith("no log lines of 3 troubled units")


def test_the_journal_is_not_asked_again_and_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[float] = []
    now_s = [0.0]

    def journalctl(command: Sequence[str], timeout_s: float) -> bytes:
        asked.append(now_s[0])
        return b'{"MESSAGE":"bye","_PID":"7"}'

    monkeypatch.setattr("necroscope.clock.elapsed_s", lambda: now_s[0])
    sensor = Systemd(bus=str(tmp_path), journal=Journal(run=journalctl))
    for at_s, restarts in ((1000.0, 6), (1010.0, 7), (1060.0, 7), (1070.0, 7), (1130.0, 7), (1140.0, 8)):
        now_s[0] = at_s
        unit = {**LEAKY, "NRestarts": restarts}
        monkeypatch.setattr(systemd, "over_bus", lambda socket, budget_s, moved, unit=unit: Units({}, (unit,)))
        (record,) = sensor.read(Host()).records
        assert isinstance(record, UnitState)
        assert record.last_lines == ("bye",)
    assert sorted(set(asked)) == [1000.0, 1060.0, 1140.0]


def test_a_unit_that_only_moved_is_reported_and_the_journal_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def journalctl(command: Sequence[str], timeout_s: float) -> bytes:
        raise AssertionError(command)

    timer = {"Id": "tidy.service", "ActiveState": "inactive", "SubState": "dead", "Result": "success"}
    monkeypatch.setattr(systemd, "over_bus", lambda socket, budget_s, moved: Units({}, (timer,)))
    reading = Systemd(bus=str(tmp_path), journal=Journal(run=journalctl), runs=UnitRuns()).read(Host())
    (record,) = reading.records
    assert isinstance(record, UnitState)
    assert (record.name, record.starts, reading.unseen) == ("tidy.service", 0, ())


def test_without_a_journal_the_units_are_still_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(command: Sequence[str], timeout_s: float) -> bytes:
        raise Unavailable("journalctl is not installed")

    monkeypatch.setattr(systemd, "over_bus", lambda socket, budget_s, moved: Units({}, (LEAKY,)))
    reading = Systemd(bus=str(tmp_path), journal=Journal(run=absent)).read(Host())
    (record,) = reading.records
    assert isinstance(record, UnitState)
    assert record.ever_succeeded is None
    assert reading.unseen == (Unseen("systemd", "no log lines of 1 troubled units: journalctl is not installed"),)


def test_a_captured_host_is_replayed(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        Systemd().read(Host(tmp_path))
    reading = Reading(records=(LEAKY_STATE,))
    (tmp_path / "necroscope").mkdir()
    (tmp_path / "necroscope/systemd.json").write_text(json.dumps(encode(reading)))
    assert Systemd().read(Host(tmp_path)) == reading
