"""Which node this is."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from procfiles import captured, real, undeclared

from necroscope.sense.host import Host
from necroscope.sense.inventory import (
    Inventory,
    identify,
    online_cpus,
    parse_uptime,
)
from necroscope.vocabulary.model import HostIdentity

FILES = {
    "/proc/sys/kernel/hostname": b"node-7\n",
    "/proc/sys/kernel/osrelease": b"5.15.0-1051-aws\n",
    "/proc/sys/kernel/random/boot_id": b"6798175c-742c-4267-8b6e-92eb099ecb72\n",
    "/proc/uptime": b"786.70 1509.86\n",
    "/sys/devices/system/cpu/online": b"0-46,48-95\n",
}


def test_a_captured_host(tmp_path: Path) -> None:
    reading = Inventory().read(captured(tmp_path, FILES))
    boot_id = "6798175c-742c-4267-8b6e-92eb099ecb72"
    assert reading.records == (HostIdentity("node-7", "5.15.0-1051-aws", boot_id, 95, 786.7),)
    assert {sample.signal: sample.value for sample in reading.samples} == {
        "host_uptime_seconds": 786.7,
        "host_cpus": 95,
        "host_kernel": 1,
    }
    assert reading.samples[-1].labels == ("5.15.0-1051-aws",)
    assert undeclared(Inventory(), reading) == []


def test_missing_pieces_are_unknown(tmp_path: Path) -> None:
    reading = Inventory().read(captured(tmp_path, {"/proc/sys/kernel/hostname": b"\n", "/proc/uptime": b"\0"}))
    assert reading.records == (HostIdentity("unknown", "unknown", "unknown", None, None),)
    assert reading.samples == ()


@pytest.mark.parametrize("online", [b"\xff\n", b"\n", b"0-99999\n"])
def test_cpus_are_counted_in_stat_where_sysfs_does_not_tell(tmp_path: Path, online: bytes) -> None:
    files = {"/proc/stat": real("stat"), "/sys/devices/system/cpu/online": online}
    assert online_cpus(captured(tmp_path, files)) == 2


def test_this_machine() -> None:
    seen = identify(Host())
    assert (seen.name, seen.kernel, seen.cpus) == (platform.node(), platform.release(), os.cpu_count())
    assert seen.uptime_s is not None
    assert seen.uptime_s > 0


def test_uptime() -> None:
    assert parse_uptime(b"786.70 1509.86\n") == 786.7
    assert [parse_uptime(text) for text in (b"", b"786.7", b"-1 2\n", b"9" * 6000 + b" 1\n", b"nan nan\n")] == [
        None
    ] * 5


@given(st.binary(max_size=60))
def test_no_bytes_break_it(text: bytes) -> None:
    assert parse_uptime(text) is None or text.split()
