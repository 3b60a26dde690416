"""Run delay: the three layouts of /proc/schedstat, broken ones, and a real task that waits for its core."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import Unavailable
from necroscope.sense.cpu.run_delay import CoreDelay, RunDelay, parse_schedstat, parse_task_delay
from necroscope.sense.host import Host
from necroscope.vocabulary.model import Sample

CPUS = (
    b"cpu0 0 0 14021331 5034271 7128341 3071123 8901234567890 456789012345 8987060\n"
    b"cpu1 0 0 13021331 4034271 6128341 2071123 7901234567890 1234567 7987060\n"
)
V15 = (
    b"version 15\ntimestamp 4295892116\n"
    + CPUS[: CPUS.index(b"cpu1")]
    + b"domain0 00000003 1045 1042 3 53 2 0 1 1041 56 56 0 0 0 0 0 56 1163 1019 119 25544 26 0 0 1019 0 0 0 0 0 0 0 0 0"
    b" 1421 137 0\n" + CPUS[CPUS.index(b"cpu1") :]
)
V16 = b"version 16\ntimestamp 4295892116\n" + CPUS + b"domain0 00000003 1045 1042 3 0 0 0 0 53 2 0 1 1041\n"
V17 = b"version 17\ntimestamp 4295892116\n" + CPUS + b"domain0 MC 00000003 1045 1042 3 0 0 0 0 53 2 0 1 1041\n"
DELAYS = (CoreDelay(0, 456789012345), CoreDelay(1, 1234567))


@pytest.mark.parametrize("text", [V15, V16, V17])
def test_layouts(text: bytes) -> None:
    assert parse_schedstat(text) == DELAYS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "does not begin with its version"),
        (b"version", "does not begin with its version"),
        (b"version 15", "does not begin with its version"),
        (b"cpu0 0 0 1 2 3 4 5 6 7\n", "does not begin with its version"),
        (V15.replace(b"version 15", b"version 14"), "has version 14"),
        (V15.replace(b"version 15", b"version 18"), "has version 18"),
        (b"version 15\ntimestamp 1\n", "names no CPU"),
        (b"version 17\ncpu0 1 2 3\ncpu1 0 0 1 2 3 4 5 6\n", "names no CPU"),
        (b"\x00\xff" * 99, "does not begin with its version"),
    ],
)
def test_broken_files_are_unavailable(text: bytes, words: str) -> None:
    with pytest.raises(Unavailable, match=words):
        parse_schedstat(text)


def test_a_cut_line_is_left_out() -> None:
    assert parse_schedstat(V17[: V17.index(b"7987060") + 3]) == DELAYS[:1]


@given(st.binary(max_size=300))
def test_nothing_else_is_raised(text: bytes) -> None:
    try:
        parse_schedstat(b"version 15\n" + text)
    except Unavailable:
        return


def test_the_sensor_counts_seconds(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/schedstat").write_bytes(V16)
    samples = RunDelay().read(Host(tmp_path)).samples
    assert samples == (
        Sample("cpu_run_delay_seconds", 456.789012, ("0",)),
        Sample("cpu_run_delay_seconds", 0.001234, ("1",)),
    )


def test_a_kernel_without_it_is_reported_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="this kernel has no /proc/schedstat") as raised:
        RunDelay().read(Host(tmp_path))
    assert "CONFIG_SCHEDSTATS" in raised.value.hint


@pytest.mark.parametrize(
    ("text", "delay"),
    [(b"1000 2500000000 3\n", 2.5), (b"0 0 0\n", 0.0), (b"", None), (b"1 2", None), (b"a b c\n", None)],
)
def test_the_delay_of_one_task(text: bytes, delay: float | None) -> None:
    assert parse_task_delay(text) == delay


@pytest.mark.root
def test_two_tasks_on_one_core_wait_for_each_other() -> None:
    cpu = min(os.sched_getaffinity(0))
    pinned = f"import os\nos.sched_setaffinity(0, [{cpu}])\nwhile True: pass"
    rivals = [subprocess.Popen([sys.executable, "-c", pinned]) for _ in range(2)]
    try:
        time.sleep(1.0)
        waited = [parse_task_delay(Path(f"/proc/{one.pid}/schedstat").read_bytes()) for one in rivals]
    finally:
        for one in rivals:
            one.kill()
            one.wait()
    assert all(delay is not None and 0.1 < delay < 1.5 for delay in waited)
