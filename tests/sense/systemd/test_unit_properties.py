"""Asking systemd: systemctl's machine format, and buses that refuse, hang or talk nonsense."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.systemd import unit_properties
from necroscope.sense.systemd.unit_properties import Service, by_systemctl, over_bus, parse_show
from stage.sockets import peer

# `systemctl show --all --property=... '*'` of systemd 252, shortened to five units.
OVERVIEW = b"""NRestarts=7
Id=leaky.service
LoadState=loaded
ActiveState=activating
SubState=auto-restart

NRestarts=0
Id=fails.service
LoadState=loaded
ActiveState=failed
SubState=failed

Id=tmp.mount
LoadState=loaded
ActiveState=active
SubState=mounted

Id=gone.service
LoadState=not-found
ActiveState=inactive
SubState=dead

NRestarts=12
Id=flaps.service
LoadState=loaded
ActiveState=active
SubState=running
"""
DETAILS = b"""Id=flaps.service
NRestarts=12
WantedBy=multi-user.target graphical.target
Description=key=value, with = in it
"""


class FakeSystemctl:
    """Answers the overview and the details, and remembers what it was asked."""

    def __init__(self, overview: bytes = OVERVIEW, details: bytes = DETAILS) -> None:
        self.answers = [overview, details]
        self.commands: list[list[str]] = []

    def __call__(self, command: Sequence[str], timeout_s: float) -> bytes:
        self.commands.append(list(command))
        return self.answers[len(self.commands) - 1]


def test_parse_show_reads_blocks_and_keeps_equal_signs_in_values() -> None:
    assert [unit["Id"] for unit in parse_show(OVERVIEW)] == [
        "leaky.service",
        "fails.service",
        "tmp.mount",
        "gone.service",
        "flaps.service",
    ]
    assert parse_show(DETAILS)[0]["Description"] == "key=value, with = in it"


@pytest.mark.parametrize("text", [b"", b"\n\n\n", b"\xff\xfe\x00", b"no equal sign\nanywhere\n"])
def test_parse_show_finds_nothing_in_what_is_nothing(text: bytes) -> None:
    assert parse_show(text) == []


def test_systemctl_is_asked_about_troubled_units_only_worst_first() -> None:
    systemctl = FakeSystemctl()
    units = by_systemctl(systemctl, 1.0)
    assert units.by_state == {"activating": 1, "active": 2, "failed": 1}
    assert systemctl.commands[1][4:] == ["flaps.service", "leaky.service", "fails.service"]
    assert systemctl.commands[1][3] == "--"
    assert units.troubled[0]["WantedBy"] == "multi-user.target graphical.target"
    assert (units.unasked, units.undescribed) == (0, 0)


def test_systemctl_is_not_asked_twice_where_all_is_well() -> None:
    systemctl = FakeSystemctl(b"Id=a.service\nLoadState=loaded\nActiveState=active\nSubState=running\nNRestarts=0\n")
    assert by_systemctl(systemctl, 1.0).troubled == ()
    assert len(systemctl.commands) == 1


def test_units_that_moved_are_described_too() -> None:
    systemctl = FakeSystemctl(OVERVIEW.replace(b"Id=flaps", b"ExecMainStartTimestampMonotonic=77\nId=flaps"))
    seen: list[Service] = []

    def moved(service: Service) -> bool:
        seen.append(service)
        return service.name == "tmp.mount"

    units = by_systemctl(systemctl, 1.0, moved)
    assert systemctl.commands[1][4:] == ["flaps.service", "leaky.service", "fails.service", "tmp.mount"]
    assert Service("flaps.service", "active", "running", 12, 77) in units.services
    assert [one.name for one in units.services] == ["leaky.service", "fails.service", "flaps.service"]
    assert seen[1] == Service("fails.service", "failed", "failed", 0, 0)


def test_units_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_properties, "MAX_DESCRIBED", 2)
    systemctl = FakeSystemctl()
    assert by_systemctl(systemctl, 1.0).undescribed == 1
    assert systemctl.commands[1][4:] == ["flaps.service", "leaky.service"]


def refuse(visitor: socket.socket) -> None:
    visitor.close()


def hang(visitor: socket.socket) -> None:
    return


def babble(visitor: socket.socket) -> None:
    visitor.sendall(b"\x00\xff" * 4096 + b"\r\n")


def authenticate_then_babble(visitor: socket.socket) -> None:
    visitor.recv(4096)
    visitor.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
    visitor.recv(4096)
    visitor.sendall(b"AGREE_UNIX_FD\r\n" + b"l\x02\x01\x01" + b"\xff" * 64)


@pytest.mark.parametrize("talk", [refuse, hang, babble, authenticate_then_babble])
def test_a_bus_that_misbehaves_is_unavailable_and_in_time(talk: Callable[[socket.socket], None]) -> None:
    with peer(talk) as path:
        started = time.monotonic()
        with pytest.raises(Unavailable):
            over_bus(path, 0.3)
        assert time.monotonic() - started < 10.0


def test_no_bus_at_all_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="FileNotFoundError"):
        over_bus("/nowhere/at all, really;bus", 0.3)
