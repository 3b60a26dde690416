"""What the tests share: visible skips for what a machine lacks, and cgroups of their own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from necroscope.sense.host import Host
from stage.captured_host import lay_out
from stage.program import Program

# `make check` tries fewer examples of each property than `make test`.
settings.register_profile("check", max_examples=10)

HOSTS = Path(__file__).parent / "hosts"
REAL = Path(__file__).parent / "real"


def pytest_configure() -> None:
    """Whom tests start hears Ctrl-C and hangups, although `nohup` and shells without job control let us ignore them: a
    handler, unlike an ignored signal, is not inherited. We go on ignoring them."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


# What a test cannot be in `make check` for: the machine, the program started as a process, tests/real.
OUTSIDE = ("root", "bpf", "systemd", "containers", "program", "slow")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need root say so; elsewhere they are skipped, visibly. `unit` are those that need nothing."""
    for item in items:
        if "necroscope" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.program)
        if REAL not in item.path.parents and not any(map(item.get_closest_marker, OUTSIDE)):
            item.add_marker(pytest.mark.unit)
    if os.geteuid() == 0 and Path("/proc/self").exists():
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root on a real Linux kernel"))


@pytest.fixture
def captured(tmp_path: Path) -> Callable[[str], Host]:
    """A captured host of tests/hosts, laid out in a folder of its own.

    `incident` is the published incident's node, rebuilt from its figures.
    """

    def lay(name: str) -> Host:
        text = (HOSTS / f"{name}.host").read_text("utf-8")
        folder = tmp_path / name
        folder.mkdir()
        return Host(lay_out(text, folder))

    return lay


@pytest.fixture(scope="session")
def necroscope() -> Program:
    """The program as users start it."""
    return Program()
