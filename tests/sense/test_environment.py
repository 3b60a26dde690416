"""What of the environment steers the program, with and without privileges."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from necroscope.sense import environment
from necroscope.sense.environment import FOLDERS, for_programs, home, program_folders, users

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
HOSTILE = {
    "LD_PRELOAD": "/home/eve/evil.so",
    "PYTHONPATH": "/home/eve",
    "PERF_CONFIG": "/home/eve/.perfconfig",
    "HOME": "/home/eve",
    "PATH": "/home/eve/bin:/usr/bin",
    "DOCKER_HOST": "unix:///home/eve/docker.sock",
    "CONTAINER_RUNTIME_ENDPOINT": "unix:///home/eve/cri.sock",
    "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/home/eve/bus",
    "XDG_CONFIG_HOME": "/home/eve",
    "BASH_ENV": "/home/eve/rc",
}


@pytest.fixture(params=[True, False])
def root(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    more: bool = request.param
    monkeypatch.setattr(environment, "privileged", lambda: more)
    monkeypatch.delenv("NECROSCOPE_PATH", raising=False)
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    return more


def test_variables_of_other_programs(root: bool) -> None:
    assert users("DOCKER_HOST") == ("" if root else "unix:///home/eve/docker.sock")
    assert home() == (pwd.getpwuid(os.geteuid()).pw_dir if root else "/home/eve")


def test_programs_that_are_asked_get_nothing_of_it(root: bool) -> None:
    given = for_programs()
    assert (given["LC_ALL"], given["PERF_CONFIG"]) == ("C", "/dev/null")
    if root:
        assert "eve" not in repr(given)
        assert (given["HOME"], given["PATH"]) == ("/", ":".join(FOLDERS))


def test_where_programs_are(root: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert program_folders() == (FOLDERS if root else ("/home/eve/bin", "/usr/bin"))
    monkeypatch.setenv("NECROSCOPE_PATH", "/opt/a:relative::/opt/b")
    assert program_folders() == ("/opt/a", "/opt/b")


@pytest.mark.parametrize(
    "name",
    [environment.PROGRAMS, environment.SYSTEM_BUS, environment.CONTAINER_SOCKET, "NECROSCOPE_STORE", *FOLDERS],
)
def test_variables_and_folders_are_documented(name: str) -> None:
    assert f"`{name}`" in PAGE
