"""Which bus, and where its systemd stands."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense import environment
from necroscope.sense.host import READ_LIMIT_BYTES, Host
from necroscope.sense.systemd.bus import ADDRESS, USUAL, bus_socket, cgroup_root, file_root
from necroscope.sense.systemd.units import Systemd


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("", USUAL),
        ("unix:path=/x/bus", "/x/bus"),
        ("tcp:host=a;unix:path=/x/bus,guid=1", "/x/bus"),
        ("nonsense", USUAL),
    ],
)
def test_an_ordinary_user_can_name_the_bus(monkeypatch: pytest.MonkeyPatch, address: str, path: str) -> None:
    monkeypatch.setattr(environment, "privileged", lambda: False)
    monkeypatch.setenv(ADDRESS, address)
    assert bus_socket() == path


def test_with_privileges_only_our_own_variable_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "privileged", lambda: True)
    monkeypatch.setenv(ADDRESS, "unix:path=/home/eve/bus")
    assert bus_socket() == USUAL
    monkeypatch.setenv(environment.SYSTEM_BUS, "/run/box/bus")
    assert bus_socket() == "/run/box/bus"


@pytest.mark.root
def test_a_strangers_bus_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "bus"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(0.2)
        os.chown(path, 12345, 0)
        assert cgroup_root(Claims(b"0::/box/init.scope\n"), str(path)) == ""
        with pytest.raises(Unavailable, match="may be changed by others than root"):
            Systemd(bus=str(path)).read(Host())
        with pytest.raises(TimeoutError):
            listener.accept()


def test_files_lie_where_the_bus_lies() -> None:
    assert file_root(USUAL) is None
    assert file_root(f"/proc/7/root{USUAL}") == "/proc/7/root"
    assert file_root("/x/bus") is None


class Claims(Host):
    """A host on which this process stands in a cgroup of our choice."""

    def __init__(self, memberships: bytes) -> None:
        super().__init__()
        self._memberships = memberships

    def read(self, path: str, limit: int = READ_LIMIT_BYTES) -> bytes:
        assert path == f"/proc/{os.getpid()}/cgroup"
        return self._memberships


@pytest.mark.parametrize(
    ("memberships", "root"),
    [
        (b"4:memory:/init.scope\n", ""),
        (b"0::/init.scope\n", ""),
        (b"4:memory:/box/init.scope\n0::/other\n", "/box"),
        (b"0::/machine.slice/box/system.slice/dbus.service\n", "/machine.slice/box"),
        (b"0::/somewhere/else\n", ""),
        (b"", ""),
    ],
)
def test_the_listener_tells_where_its_systemd_stands(tmp_path: Path, memberships: bytes, root: str) -> None:
    path = str(tmp_path / "bus")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        assert cgroup_root(Claims(memberships), path) == root


def test_no_listener_no_root(tmp_path: Path) -> None:
    assert cgroup_root(Host(), str(tmp_path / "absent")) == ""
