"""The driver's own statistics, by ioctl, on devices made in a network namespace that ends with its process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from procfiles import captured

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.net.ethtool import NET, driver_statistics

_ALONE = ("unshare", "--net", "--mount", "--propagation", "private")
_VETH = """
import socket, subprocess, sys
from pyroute2 import IPRoute
from necroscope.errors import Unavailable
from necroscope.sense.net.ethtool import driver_statistics
from necroscope.sense.host import Host

def veth(name, index):
    with IPRoute() as route:
        route.link("add", ifname=name, kind="veth", index=index, peer="nscopeb")
"""


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
def test_a_veth_pair_names_its_peer() -> None:
    code = """
subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True)
veth("nscopea", 9001)
print(dict(driver_statistics(Host(), "nscopea"))["peer_ifindex"] == socket.if_nametoindex("nscopeb"))
"""
    assert _run(code) == "True"


@pytest.mark.root
def test_a_device_of_the_same_name_elsewhere_is_not_taken_for_it() -> None:
    others = [path.name for path in Path(NET).iterdir() if (path / "device").exists()]
    if not others:
        pytest.skip("no network device with a driver here")
    code = f"""
veth({others[0]!r}, 9001)
try:
    driver_statistics(Host(), {others[0]!r})
except Unavailable as error:
    print(error.message)
"""
    assert _run(code) == f"{others[0]} is in another network namespace"


@pytest.mark.root
def test_the_whole_package_can_be_imported_afterwards() -> None:
    code = """
subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True)
veth("nscopea", 9001)
for name in [name for name in sys.modules if name.startswith("pyroute2")]:
    del sys.modules[name]
driver_statistics(Host(), "nscopea")
assert not [name for name in sys.modules if name.startswith("pyroute2")]
from pyroute2 import Ethtool
from pyroute2.ethtool.ioctl import IoctlEthtool
print(dict(IoctlEthtool("nscopea").get_statistics())["peer_ifindex"] == socket.if_nametoindex("nscopeb"))
"""
    assert _run(code) == "True"


def _run(code: str) -> str:
    done = subprocess.run([*_ALONE, sys.executable, "-c", _VETH + code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
