"""Which boot of which node this is, and the live node as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from necroscope.act.node.doors import Node
from necroscope.act.node.engine import LiveEngine
from necroscope.act.node.memory import LiveMemory
from necroscope.act.node.paths import LivePaths
from necroscope.act.node.processes import LiveProcesses
from necroscope.act.node.units import LiveUnits
from necroscope.sense.host import Host

_BOOT_ID = "/proc/sys/kernel/random/boot_id"


class LiveBoot:
    """The boot of the running kernel."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def id(self) -> str:
        """The kernel's boot id."""
        return self._host.read(_BOOT_ID, 4096).decode("ascii", "replace").strip()


def live_node(bus: str | None = None, sockets: Sequence[str] | None = None) -> Node:
    """This node; with `bus`, the systemd behind another socket, whose files lie where that systemd lives."""
    host, units = Host(), LiveUnits(bus)
    return Node(
        units, LivePaths(units.root or "/"), LiveEngine(sockets), LiveMemory(host), LiveProcesses(host), LiveBoot(host)
    )
