"""/proc/stat."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from procfiles import captured, mangled, real, undeclared

from necroscope.errors import Unavailable
from necroscope.sense.cpu.times import CoreTimes, Cpu, parse_stat

IDLE = CoreTimes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def test_a_real_file() -> None:
    stat = parse_stat(real("stat"))
    assert stat.cores == (
        CoreTimes(0, 4270, 0, 3489, 133801, 88, 0, 17, 27, 0, 0),
        CoreTimes(1, 6569, 0, 4683, 129184, 1104, 0, 116, 41, 0, 0),
    )
    assert (stat.context_switches, stat.boot_time_s, stat.forks) == (2109200, 1794840673, 40844)
    assert (stat.running, stat.blocked) == (1, 0)


def test_an_old_kernel_has_fewer_columns_and_no_zeros_for_them() -> None:
    assert parse_stat(b"cpu0 1 2 3 4\n").cores == (CoreTimes(0, 1, 2, 3, 4),)
    assert parse_stat(b"cpu0 1 2 3 4 5 6 7\n").cores[0].steal is None


def test_a_newer_kernel_may_have_more_columns() -> None:
    assert parse_stat(b"cpu0 1 2 3 4 5 6 7 8 9 10 11 12\n").cores == (CoreTimes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),)


def test_offline_cpus_and_thousands_of_them() -> None:
    text = b"".join(b"cpu%d 1 0 0 9 0 0 0 0 0 0\n" % cpu for cpu in range(8191, -1, -1) if cpu % 2)
    cores = parse_stat(text).cores
    assert [core.cpu for core in cores] == list(range(1, 8192, 2))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"cpu0 1 2 3 4 5",  # cut: the 5 may have been 512
        b"cpu  1 2 3 4\nctxt 5\n",  # no core
        b"cpu0 1 2 3\n",
        b"cpu0 1 2 -3 4\n",
        b"cpu0 1 2 " + b"9" * 6000 + b" 4\n",
        b"cpu99999999 1 2 3 4\n",
        b"\0\0\0\n",
    ],
)
def test_no_whole_core_is_unavailable(text: bytes) -> None:
    with pytest.raises(Unavailable, match="names no CPU"):
        parse_stat(text)


def test_a_broken_line_does_not_spoil_the_others() -> None:
    stat = parse_stat(b"cpu0 1 2 x 4\ncpu1 1 2 3 4\nctxt -5\nprocesses 7\nprocs_running 12")
    assert [core.cpu for core in stat.cores] == [1]
    assert (stat.context_switches, stat.forks, stat.running) == (None, 7, None)


@given(mangled(real("stat")))
def test_no_bytes_break_it(text: bytes) -> None:
    with contextlib.suppress(Unavailable):
        assert parse_stat(text).cores


def test_the_sensor_speaks_seconds(tmp_path: Path) -> None:
    reading = Cpu().read(captured(tmp_path, {"/proc/stat": b"cpu0 200 0 0 100 0 0 0 0 150 10\nctxt 9\n"}))
    values = {(sample.signal, *sample.labels): sample.value for sample in reading.samples}
    hz = os.sysconf("SC_CLK_TCK")
    assert values["cpu_time_seconds", "0", "user"] == 200 / hz
    assert values["cpu_guest_seconds", "0"] == 160 / hz
    assert values["cpu_context_switches",] == 9
    assert ("cpu_forks",) not in values
    assert undeclared(Cpu(), reading) == []
