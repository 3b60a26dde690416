"""Network devices: files of sysfs, and the driver's statistics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from procfiles import captured, undeclared

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.net.nic import Nic, devices, queues, state
from necroscope.sense.replay import encode
from necroscope.vocabulary.model import NicState, Reading, Sample

ETH0 = "/sys/class/net/eth0"
FILES = {
    f"{ETH0}/operstate": b"up\n",
    f"{ETH0}/carrier_changes": b"3\n",
    f"{ETH0}/device/driver": b"../../../../bus/pci/drivers/ena\n",
    f"{ETH0}/statistics/rx_bytes": b"18446744073709551615\n",
    f"{ETH0}/statistics/rx_errors": b"-1\n",
    f"{ETH0}/queues/rx-0/rps_cpus": b"0\n",
    f"{ETH0}/queues/tx-0/tx_timeout": b"0\n",
    f"{ETH0}/queues/tx-10/tx_timeout": b"2\n",
    f"{ETH0}/queues/tx-9/tx_timeout": b"\xff\n",
    "/sys/module/ena/version": b"2.10.0g\n",
    "/sys/class/net/lo/operstate": b"unknown\n",
    "/sys/class/net/bonding_masters": b"\n",
}
RESETS = (("total_resets", 4), ("queue_0_tx_cnt", 12))
RECORDED = Reading(
    samples=(Sample("nic_rx_bytes", 7, ("eth0",)),), records=(NicState("eth0", "ena", statistics=RESETS),)
)


def test_files_of_a_captured_host(tmp_path: Path) -> None:
    host = captured(tmp_path, FILES)
    assert devices(host) == ("eth0",)
    assert state(host, "eth0") == NicState("eth0", "ena", "2.10.0g", "up")
    assert queues(host, "eth0") == ("rx-0", "tx-0", "tx-9", "tx-10")


def test_unknown_pieces_are_empty(tmp_path: Path) -> None:
    host = captured(tmp_path, {f"{ETH0}/device/vendor": b"0x1d0f\n"})
    assert state(host, "eth0") == NicState("eth0", "")
    assert queues(host, "eth0") == ()


def test_samples_and_records_of_files(tmp_path: Path) -> None:
    reading = Nic().read(captured(tmp_path, FILES))
    assert reading.records == (NicState("eth0", "ena", "2.10.0g", "up"),)
    assert {(sample.signal, *sample.labels): sample.value for sample in reading.samples} == {
        ("nic_rx_bytes", "eth0"): 18446744073709551615,
        ("nic_carrier_changes", "eth0"): 3,
        ("nic_queues", "eth0", "rx"): 1,
        ("nic_queues", "eth0", "tx"): 3,
        ("nic_tx_timeouts", "eth0", "tx-0"): 0,
        ("nic_tx_timeouts", "eth0", "tx-10"): 2,
    }
    assert undeclared(Nic(), reading) == []
    assert [unseen.reason for unseen in reading.unseen] == ["the driver statistics of eth0 were not captured"]


def test_a_recorded_reading_comes_back_whole(tmp_path: Path) -> None:
    reading = Nic().read(captured(tmp_path, {**FILES, "/necroscope/nic.json": json.dumps(encode(RECORDED)).encode()}))
    assert reading == RECORDED


@pytest.mark.parametrize("recorded", [b"", b"[]", b"{}", b"\xff", b'{"records": [{"is": "NicState"}]}'])
def test_broken_recordings_leave_the_files(tmp_path: Path, recorded: bytes) -> None:
    reading = Nic().read(captured(tmp_path, {**FILES, "/necroscope/nic.json": recorded}))
    assert reading.records == (NicState("eth0", "ena", "2.10.0g", "up"),)
    assert "captured" in reading.unseen[0].reason


def test_nothing_with_a_driver_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="has a driver"):
        Nic().read(captured(tmp_path, {"/sys/class/net/lo/operstate": b"unknown\n"}))


def test_this_machine() -> None:
    there = sorted(path.name for path in Path("/sys/class/net").iterdir() if (path / "device").exists())
    if not there:
        pytest.skip("no network device with a driver here")
    reading = Nic().read(Host())
    assert [record.name for record in reading.records if isinstance(record, NicState)] == there


def test_strange_queue_names_are_left_out(tmp_path: Path) -> None:
    names = ("rx-x", "tx-", "tx--1", "xx-1", "rx-" + "9" * 200)
    host = captured(tmp_path, {f"{ETH0}/queues/{name}/tx_timeout": b"1\n" for name in (*names, "tx-1")})
    assert queues(host, "eth0") == ("tx-1",)
