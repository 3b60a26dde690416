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

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.perf.session import PerfOptions, PerfSession, perf_command, ring_pages

real = [pytest.mark.root, pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")]


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _wait(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    ends = time.monotonic() + seconds
    while not condition() and time.monotonic() < ends:
        time.sleep(0.02)
    return condition()


@pytest.mark.parametrize(("cpus", "pages"), [(2, 512), (16, 512), (32, 512), (96, 128), (512, 32), (100_000, 1)])
def test_rings_stay_below_their_limit(cpus: int, pages: int) -> None:
    assert ring_pages(cpus) == pages
    assert pages == 1 or pages * 4096 * cpus <= 64 << 20


def test_the_command_asks_for_one_stream_of_everything() -> None:
    command = " ".join(perf_command(PerfOptions(), 2, (5, 6)))
    assert "-g --all-cpus --clockid mono --mmap-pages 512" in command
    assert "--control fd:5,6 --event cycles/freq=97/ --event cgroup:cgroup_mkdir" in command
    assert "-F" not in command.split()
    assert command.endswith("--output -")
    plain = " ".join(perf_command(PerfOptions(cgroups=False, build_ids=False, tracepoints=False), 2, (5, 6)))
    assert not any(word in plain for word in ("--all-cgroups", "--buildid-mmap", "cgroup:"))


class TestReal:
    pytestmark = real

    def test_data_comes_while_it_runs_and_nothing_remains(self) -> None:
        with PerfSession.start(Host()) as session:
            ends = time.monotonic() + 2.5
            took = [len(session.take(0.5) or b"") for _ in iter(lambda: time.monotonic() < ends, False)]
            assert sum(size > 0 for size in took) >= 3
            assert session.hangs_for_s() < 2.0
            pid = session.pid
        assert _gone(pid)

    def test_the_stream_begins_like_a_pipe_of_perf(self) -> None:
        with PerfSession.start(Host()) as session:
            assert (session.take(2.0) or b"")[:8] == b"PERFILE2"

    def test_a_stopped_perf_is_noticed_and_ended(self) -> None:
        session = PerfSession.start(Host())
        try:
            os.kill(session.pid, signal.SIGSTOP)
            assert _wait(lambda: session.hangs_for_s() > 2.0)
        finally:
            session.close()
        assert _gone(session.pid)

    def test_a_killed_perf_ends_the_stream(self) -> None:
        with PerfSession.start(Host()) as session:
            os.kill(session.pid, signal.SIGKILL)
            assert _wait(lambda: session.take(0.1) is None)

    def test_perf_does_not_outlive_a_killed_recorder(self) -> None:
        start = "from necroscope.sense.perf.session import *; s = PerfSession.start(Host())"
        code = f"{start}; print(s.pid, flush=True); import time; time.sleep(60)"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        pid = int(child.stdout.readline())
        child.kill()
        child.communicate()
        assert _wait(lambda: _gone(pid))

    def test_tracefs_is_mounted_for_perf_alone(self) -> None:
        before = _mounted("tracefs"), _mounted("debugfs")
        with PerfSession.start(Host()) as session:
            assert (_mounted("tracefs"), _mounted("debugfs")) == before
            assert session.options.tracepoints


def _mounted(kind: str) -> list[str]:
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in lines if line.split()[2] == kind]


def test_no_perf_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NECROSCOPE_PATH", "/nowhere")
    with pytest.raises(Unavailable, match="perf is not installed") as caught:
        PerfSession.start(Host())
    assert "linux-perf" in caught.value.hint


def test_a_perf_that_does_not_start_is_tried_with_less_and_then_a_sentence(tmp_path: Path) -> None:
    log = tmp_path / "log"
    fake = tmp_path / "perf"
    fake.write_text(f'#!/bin/sh\necho "$*" >> {log}\necho "no permission to sample" >&2\nexit 255\n')
    fake.chmod(0o755)
    with pytest.raises(Unavailable, match="no permission to sample"):
        PerfSession.start(Host(), perf=str(fake))
    attempts = log.read_text().splitlines()
    assert len(attempts) == 5
    assert "--event cycles/freq=97/" in attempts[0]
    assert "--event cpu-clock/freq=97/" in attempts[1]
    assert "cgroup:" not in attempts[-1]
    assert "--all-cgroups" not in attempts[-1]
