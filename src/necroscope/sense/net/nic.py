"""Network devices with a driver behind them: link, standard counters, queues, and the driver's own statistics.

Files of /sys/class/net tell the first three. The statistics that only the driver has (resets, missed completions) come
from the kernel (see ethtool.py); a capture keeps the whole reading, and its
files serve where it does not. Virtual devices
(lo, veth, bridges: those without `device`) are left out: a node full of pods has hundreds of them.
Attributes that take the network's big lock (speed, duplex) are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.net.ethtool import NET, driver_statistics
from necroscope.sense.numbers import count
from necroscope.sense.replay import replay
from necroscope.vocabulary.model import NicState, Reading, Sample, Signal, Unseen

# Each of these files makes the driver sum up all its queues, so only those that say something are read.
_COUNTERS = {
    "rx_bytes": ("bytes", "Bytes received."),
    "tx_bytes": ("bytes", "Bytes sent."),
    "rx_packets": ("packets", "Packets received."),
    "tx_packets": ("packets", "Packets sent."),
    "rx_errors": ("packets", "Packets received broken, for whatever reason."),
    "tx_errors": ("packets", "Packets that could not be sent, for whatever reason."),
    "rx_dropped": ("packets", "Packets received and thrown away for want of memory or of a taker."),
    "tx_dropped": ("packets", "Packets thrown away on their way out."),
    "rx_missed_errors": ("packets", "Packets the device had to drop because the host did not fetch them in time."),
    "rx_fifo_errors": ("packets", "Packets lost because the device's receive buffer was full."),
    "tx_carrier_errors": ("packets", "Packets that could not be sent because the link was gone."),
}


class Nic:
    """Network devices with a driver, as files tell them and as their drivers do."""

    name: ClassVar[str] = "nic"
    signals: ClassVar[tuple[Signal, ...]] = (
        *(Signal(f"nic_{file}", unit, "counter", text, ("device",)) for file, (unit, text) in _COUNTERS.items()),
        Signal("nic_carrier_changes", "changes", "counter", "How often the link came or went.", ("device",)),
        Signal(
            "nic_tx_timeouts",
            "timeouts",
            "counter",
            "How often the kernel's watchdog found a send queue stuck; the driver then resets the device.",
            ("device", "queue"),
        ),
        Signal("nic_queues", "queues", "gauge", "Queues of the device by direction.", ("device", "direction")),
    )

    def read(self, host: Host) -> Reading:
        """One look at every device with a driver; without its driver's statistics where those cannot be had."""
        if host.captured and (recorded := _recorded(host)) is not None:
            return recorded
        names = devices(host)
        if not names:
            raise Unavailable("no network device here has a driver", "in a container: use the host's network")
        states, unseen = _with_statistics(host, [state(host, name) for name in names])
        samples = tuple(sample for name in names for sample in _samples(host, name))
        return Reading(samples=samples, records=tuple(states), unseen=tuple(unseen))


def devices(host: Host) -> tuple[str, ...]:
    """Names of the devices that have a driver (or a hypervisor's device) behind them, sorted."""
    return tuple(name for name in host.names(NET) if host.exists(f"{NET}/{name}/device"))


def state(host: Host, device: str) -> NicState:
    """What files tell of a device: driver, the version of its module, and the link; statistics are not among it."""
    try:
        driver = host.link(f"{NET}/{device}/device/driver").rpartition("/")[2]
    except Unavailable:
        driver = ""
    version = _word(host, f"/sys/module/{driver}/version") if driver else ""
    return NicState(device, driver, version, _word(host, f"{NET}/{device}/operstate"))


def queues(host: Host, device: str) -> tuple[str, ...]:
    """Queue names as sysfs has them (`rx-0`, `tx-0`), sorted by direction and number; empty when unknown."""
    try:
        found = [(kind, number, name) for name in host.names(f"{NET}/{device}/queues") for kind, number in _queue(name)]
    except Unavailable:
        return ()
    return tuple(name for _, _, name in sorted(found))


def _recorded(host: Host) -> Reading | None:
    """The reading that a capture holds; None when it holds none that knows a device."""
    try:
        recorded = replay(host, Nic.name)
    except Unavailable:
        return None
    return recorded if recorded.records else None


def _with_statistics(host: Host, states: list[NicState]) -> tuple[list[NicState], list[Unseen]]:
    """The states with their drivers' statistics; one that cannot be had stays as it is, and is said."""
    seen: list[NicState] = []
    unseen: list[Unseen] = []
    for nic in states:
        try:
            seen.append(replace(nic, statistics=driver_statistics(host, nic.name)))
        except Unavailable as error:
            seen.append(nic)
            unseen.append(Unseen(Nic.name, error.message, error.hint))
    return seen, unseen


def _queue(name: str) -> Iterator[tuple[str, int]]:
    kind, _, number = name.partition("-")
    if kind in ("rx", "tx") and (parsed := count(number.encode("utf-8", "replace"))) is not None:
        yield kind, parsed


def _word(host: Host, path: str) -> str:
    return (host.read_or_none(path, 4096) or b"").decode("utf-8", "replace").strip()


def _number(host: Host, path: str) -> int | None:
    text = host.read_or_none(path, 4096)
    return None if text is None else count(text.strip())


def _samples(host: Host, device: str) -> Iterator[Sample]:
    files = {f"nic_{file}": f"{NET}/{device}/statistics/{file}" for file in _COUNTERS}
    files["nic_carrier_changes"] = f"{NET}/{device}/carrier_changes"
    for signal, path in files.items():
        if (value := _number(host, path)) is not None:
            yield Sample(signal, value, (device,))
    names = queues(host, device)
    for direction in ("rx", "tx"):
        if own := [name for name in names if name.startswith(direction)]:
            yield Sample("nic_queues", len(own), (device, direction))
    for name in names:
        if name.startswith("tx") and (value := _number(host, f"{NET}/{device}/queues/{name}/tx_timeout")) is not None:
            yield Sample("nic_tx_timeouts", value, (device, name))
