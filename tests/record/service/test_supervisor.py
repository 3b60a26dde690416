"""systemd's notification protocol, over a real datagram socket."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from necroscope.record.service.supervisor import Supervisor


def _heard(listener: socket.socket) -> list[str]:
    listener.setblocking(False)
    found = []
    try:
        while True:
            found.append(listener.recv(4096).decode())
    except BlockingIOError:
        return found


@pytest.mark.parametrize("abstract", [False, True])
def test_ready_once_then_signs_of_life(tmp_path: Path, abstract: bool) -> None:
    name = f"\0necroscope-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(name)
        environment = {"NOTIFY_SOCKET": name.replace("\0", "@"), "WATCHDOG_USEC": "1", "INVOCATION_ID": "x"}
        supervisor = Supervisor(environment)
        supervisor.alive("recording\n3 s")
        supervisor.alive("recording 4 s")
        supervisor.reloading()
        supervisor.reloaded()
        supervisor.stopping()
        heard = _heard(listener)
    assert environment == {"INVOCATION_ID": "x"}, "children are not to tell systemd anything"
    assert heard[0] == f"READY=1\nSTATUS=recording 3 s\nMAINPID={os.getpid()}"
    assert heard[1:3] == ["WATCHDOG=1\nSTATUS=recording 3 s", "WATCHDOG=1\nSTATUS=recording 4 s"]
    assert heard[3].startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert heard[4:] == ["READY=1", "STOPPING=1"]


def test_a_watchdog_of_another_process_is_not_ours(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        said = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1"}
        supervisor = Supervisor(said)
        supervisor.alive("a")
        supervisor.alive("b")
        assert len(_heard(listener)) == 1


def test_nobody_listens_and_nothing_happens(tmp_path: Path) -> None:
    Supervisor({"NOTIFY_SOCKET": str(tmp_path / "absent")}).alive("a")
    Supervisor({}).alive("a")
