"""The driver's own statistics, by ioctl, on devices made in a network namespace that ends with its process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from procfiles import captured

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.net import ethtool
from necroscope.sense.net.ethtool import NET, driver_statistics

_ALONE = ("unshare", "--net", "--mount", "--propagation", "private")
_VETH = """
import socket, subprocess, sys
from necroscope.errors import Unavailable
from necroscope.sense.net import ethtool
from necroscope.sense.net.ethtool import driver_statistics
from necroscope.sense.host import Host

def veth(name):
    command = ["ip", "link", "add", name, "index", "9001", "type", "veth", "peer", "name", "nscopeb"]
    subprocess.run(command, check=True)
"""
needs_ip = pytest.mark.skipif(shutil.which("ip") is None, reason="needs ip (Debian: iproute2)")


def test_a_captured_host_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="captured"):
        driver_statistics(captured(tmp_path, {f"{NET}/eth0/ifindex": b"2\n"}), "eth0")


@pytest.mark.parametrize("device", ["nscope-absent", "a" * 300, ""])
def test_no_such_device(device: str) -> None:
    with pytest.raises(Unavailable):
        driver_statistics(Host(), device)


def test_a_device_without_statistics() -> None:
    with pytest.raises(Unavailable, match="lo"):
        driver_statistics(Host(), "lo")


@pytest.mark.root
@needs_ip
def test_a_veth_pair_names_its_peer() -> None:
    code = """
subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True)
veth("nscopea")
print(dict(driver_statistics(Host(), "nscopea"))["peer_ifindex"] == socket.if_nametoindex("nscopeb"))
"""
    assert _run(code) == "True"


@pytest.mark.root
@needs_ip
def test_a_device_of_the_same_name_elsewhere_is_not_taken_for_it() -> None:
    others = [path.name for path in Path(NET).iterdir() if (path / "device").exists()]
    if not others:
        pytest.skip("no network device with a driver here")
    code = f"""
veth({others[0]!r})
try:
    driver_statistics(Host(), {others[0]!r})
except Unavailable as error:
    print(error.message)
"""
    assert _run(code) == f"{others[0]} is in another network namespace"


@pytest.mark.root
@needs_ip
def test_statistics_that_came_between_two_calls_are_not_taken_for_others() -> None:
    """Names and values are asked for one after the other; a driver may have more of one by then."""
    code = """
subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True)
veth("nscopea")
names = ethtool._names
ethtool._names = lambda *asked: names(*asked)[:-1]
try:
    driver_statistics(Host(), "nscopea")
except Unavailable as error:
    print(error.message)
"""
    assert _run(code) == "the driver of nscopea changed its statistics while they were read"


@pytest.mark.parametrize(
    ("name", "text"),
    [(b"rx_drops".ljust(32, b"\0"), "rx_drops"), (b" \xff" + b"x" * 30, "\ufffd" + "x" * 30), (b"", "")],
)
def test_a_name_ends_at_its_zero_byte_or_with_its_field(name: bytes, text: str) -> None:
    assert ethtool._text(name) == text


def _run(code: str) -> str:
    done = subprocess.run([*_ALONE, sys.executable, "-c", _VETH + code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
