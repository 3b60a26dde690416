"""One real perf: it starts with what works here, delivers while it runs, and never outlives us."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from necroscope.sense.host import Host
from necroscope.sense.perf.launch.options import PerfOptions, named
from necroscope.sense.perf.launch.session import PerfSession
from necroscope.sense.perf.launch.starter import PerfStarter
from stage.perf_shim import OLDER, Shim
from stage.recorders import load

real = [pytest.mark.root, pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")]


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _wait(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    ends = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < ends:
        time.sleep(0.02)
    return holds


class TestReal:
    pytestmark = real

    def test_data_comes_while_it_runs_and_nothing_remains(self) -> None:
        with PerfStarter(Host()).start() as session:
            ends = time.monotonic() + 3.5
            took = [len(session.take(0.5) or b"") for _ in iter(lambda: time.monotonic() < ends, False)]
            assert 3 <= sum(size > 0 for size in took) <= 40
            assert session.hangs_for_s() < 2.0
            pid = session.pid
        assert _gone(pid)

    def test_the_stream_begins_like_a_pipe_of_perf(self) -> None:
        with PerfStarter(Host()).start() as session:
            assert (session.take(2.0) or b"")[:8] == b"PERFILE2"

    def test_a_stopped_perf_is_noticed_and_ended(self) -> None:
        session = PerfStarter(Host()).start()
        try:
            os.kill(session.pid, signal.SIGSTOP)
            assert _wait(lambda: session.hangs_for_s() > 2.0)
        finally:
            session.close()
        assert _gone(session.pid)

    def test_a_killed_perf_ends_the_stream(self) -> None:
        with PerfStarter(Host()).start() as session:
            os.kill(session.pid, signal.SIGKILL)
            assert _wait(lambda: session.take(0.1) is None)

    def test_perf_does_not_outlive_a_killed_recorder(self) -> None:
        start = "from necroscope.sense.perf.launch.starter import *; s = PerfStarter(Host()).start()"
        code = f"{start}; print(s.pid, flush=True); import time; time.sleep(60)"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        pid = int(child.stdout.readline())
        child.kill()
        child.communicate()
        assert _wait(lambda: _gone(pid))

    def test_tracefs_is_mounted_for_perf_alone(self) -> None:
        before = _mounted("tracefs"), _mounted("debugfs")
        with PerfStarter(Host()).start() as session:
            assert (_mounted("tracefs"), _mounted("debugfs")) == before
            assert session.options.tracepoints


def _mounted(kind: str) -> list[str]:
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in lines if line.split()[2] == kind]


def _real(tmp_path: Path, lacks: tuple[str, ...]) -> PerfStarter:
    """The real perf behind a command line that lacks some options."""
    return PerfStarter(Host(), perf=str(Shim(lacks=lacks, real=str(shutil.which("perf"))).write(tmp_path / "perf")))


def _comes(session: PerfSession, seconds: float = 20.0) -> bool:
    ends = time.monotonic() + seconds
    return any(session.take(0.1) for _ in iter(lambda: time.monotonic() < ends, False))


@pytest.mark.root
@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")
class TestWaysToWakeARealPerf:
    """With each of them data comes as early, and a perf that is stopped is noticed."""

    WAYS = (
        pytest.param((), [], id="control"),
        pytest.param(OLDER, ["build-ids", "cgroups", "control"], id="signal"),
        pytest.param((*OLDER, "switch-output"), ["build-ids", "cgroups", "control", "signal"], id="sample"),
    )

    @pytest.mark.parametrize(("lacks", "without"), WAYS)
    def test_data_comes_every_second(self, tmp_path: Path, lacks: tuple[str, ...], without: list[str]) -> None:
        with load(), _real(tmp_path, lacks).start() as session:
            assert session.options == PerfOptions().without(named(without))
            assert _comes(session)
            time.sleep(1.5)
            session.take(0.0)
            ends, late_s, came = time.monotonic() + 4.0, 0.0, time.monotonic()
            while time.monotonic() < ends:
                if session.take(0.05):
                    late_s, came = max(late_s, time.monotonic() - came), time.monotonic()
            assert late_s < 2.0, "1 s, and what a busy machine needs; without a waking it is minutes"
            assert session.hangs_for_s() < 2.0
        assert _gone(session.pid)

    @pytest.mark.parametrize(("lacks", "without"), WAYS)
    def test_a_stopped_perf_is_noticed(self, tmp_path: Path, lacks: tuple[str, ...], without: list[str]) -> None:
        session = _real(tmp_path, lacks).start()
        try:
            assert _comes(session)
            time.sleep(1.5)
            os.kill(session.pid, signal.SIGSTOP)
            assert _wait(lambda: session.hangs_for_s() > 2.0)
        finally:
            session.close()
        assert _gone(session.pid)
