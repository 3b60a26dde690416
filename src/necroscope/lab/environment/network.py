"""A network of the lab's own: a namespace joined to ours by a pair of virtual devices.

A process keeps the namespace, without a name: with it, namespace and devices are gone.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import dataclass

from necroscope.errors import Unavailable
from necroscope.lab.actors.timing import answer
from necroscope.lab.environment.complaints import failure

_CLONE_NEWNET = 0x40000000


@dataclass(frozen=True, slots=True)
class Network:
    """`device` and `address` are our end, `peer` is the address of the other, where the process `holder` is."""

    holder: int
    device: str
    inner: str
    address: str
    peer: str

    def inside(self, *command: str) -> list[str]:
        """A command line that runs on the other side."""
        return ["nsenter", "--target", str(self.holder), "--net", *command]


def hold() -> None:
    """What the holder does: it enters a network namespace of its own and stays."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace can be made")
    answer("kept")
    sys.stdin.read()


def enter(holder: int) -> None:
    """Enter the namespace of the holder."""
    fd = os.open(f"/proc/{holder}/ns/net", os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(fd, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "the network namespace cannot be entered")
    finally:
        os.close(fd)


def join(holder: int, device: str, octet: int) -> Network:
    """The pair, up and with addresses of a block that is set aside for examples (RFC 5737)."""
    made = Network(holder, device, f"{device[:13]}-i", f"198.51.100.{octet}", f"198.51.100.{octet + 1}")
    _run("ip", "link", "add", device, "type", "veth", "peer", "name", made.inner, "netns", str(holder))
    _run("ip", "address", "add", f"{made.address}/30", "dev", device)
    _run("ip", "link", "set", device, "up")
    for arguments in (
        ("address", "add", f"{made.peer}/30", "dev", made.inner),
        ("link", "set", made.inner, "up"),
        ("link", "set", "lo", "up"),
    ):
        _run(*made.inside("ip", *arguments))
    return made


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=10)
    if done.returncode:
        raise Unavailable(failure(command, done), "is the kernel built with veth?")
