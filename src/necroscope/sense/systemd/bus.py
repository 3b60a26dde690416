"""Which system bus is asked, and where the system behind it stands.

$NECROSCOPE_SYSTEM_BUS, or for an ordinary user $DBUS_SYSTEM_BUS_ADDRESS (`unix:path=…`), names another bus than the
usual one: that of a container, or the host's seen from a container. What such a systemd says of its cgroups is relative
to its own root; whoever listens on the socket stands in a cgroup that we can see, and that tells where the root is.
"""

from __future__ import annotations

import os
import re
import socket
import struct

from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import parse_memberships
from necroscope.sense.environment import SYSTEM_BUS, users
from necroscope.sense.host import Host
from necroscope.sense.ownership import check_socket

USUAL = "/run/dbus/system_bus_socket"
ADDRESS = "DBUS_SYSTEM_BUS_ADDRESS"

# Who listens on the bus socket, relative to the root of its systemd: systemd itself, or the bus daemon.
_LISTENERS = ("/init.scope", "/system.slice/dbus.service", "/system.slice/dbus-broker.service")


def bus_socket() -> str:
    """The socket of the system bus."""
    if own := os.environ.get(SYSTEM_BUS):
        return own
    for address in users(ADDRESS).split(";"):
        if address.startswith("unix:path="):
            return address.removeprefix("unix:path=").partition(",")[0]
    return USUAL


def address(path: str) -> str:
    """The D-Bus address of a socket: everything but the optionally-escaped bytes as %xx."""
    escaped = re.sub(rb"[^-0-9A-Za-z_/.*\\]", lambda match: b"%%%02x" % match[0][0], path.encode()).decode()
    return f"unix:path={escaped}"


def file_root(path: str) -> str | None:
    """The root of the file system in which a bus lies at its usual place; None when that is our own."""
    return path.removesuffix(USUAL) or None if path.endswith(USUAL) else None


def cgroup_root(host: Host, path: str) -> str:
    """The memory cgroup below which the systemd behind this socket keeps its units; empty for the host's own."""
    try:
        check_socket(host.live_path(path))
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(0.2)
            peer.connect(str(host.live_path(path)))
            pid = struct.unpack("=iii", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        groups = parse_memberships(host.read(f"/proc/{pid}/cgroup"))
    except (OSError, Unavailable):
        return ""
    group = groups.get("memory", groups.get("", ""))
    return next((group.removesuffix(tail) for tail in _LISTENERS if group.endswith(tail)), "")
