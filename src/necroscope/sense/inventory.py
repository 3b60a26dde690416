"""Which node this is: name, kernel, boot, CPUs, age; and whether the kernel keeps its memory to itself."""

from __future__ import annotations

from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.cpu.times import parse_stat
from necroscope.sense.host import Host
from necroscope.sense.numbers import cpu_list, decimal
from necroscope.vocabulary.model import HostIdentity, Reading, Sample, Signal

UNKNOWN = "unknown"

_LONGEST = 4096


class Inventory:
    """The identity of the node. It always yields one; pieces that cannot be read are unknown."""

    name: ClassVar[str] = "inventory"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("host_uptime_seconds", "seconds", "gauge", "Time since the kernel started, sleep included."),
        Signal("host_cpus", "cpus", "gauge", "CPUs that are online."),
        Signal("host_kernel", "kernels", "gauge", "1: the release of the kernel that runs.", ("release",)),
    )

    def read(self, host: Host) -> Reading:
        """One look."""
        identity = identify(host)
        values = {"host_uptime_seconds": identity.uptime_s, "host_cpus": identity.cpus}
        samples = tuple(Sample(name, value) for name, value in values.items() if value is not None)
        if identity.kernel != UNKNOWN:
            samples += (Sample("host_kernel", 1.0, (identity.kernel,)),)
        return Reading(samples=samples, records=(identity,))


def identify(host: Host) -> HostIdentity:
    """The node's identity; words that cannot be read are `unknown`, and no CPUs are CPUs that could not be counted."""
    return HostIdentity(
        name=_word(host, "/proc/sys/kernel/hostname"),
        kernel=_word(host, "/proc/sys/kernel/osrelease"),
        boot_id=_word(host, "/proc/sys/kernel/random/boot_id"),
        cpus=online_cpus(host),
        uptime_s=parse_uptime(host.read_or_none("/proc/uptime", _LONGEST) or b""),
    )


def online_cpus(host: Host) -> int | None:
    """How many CPUs are online, by sysfs or else by /proc/stat; None when neither tells."""
    try:
        if cpus := cpu_list(host.read("/sys/devices/system/cpu/online", _LONGEST)):
            return len(cpus)
    except Unavailable:
        pass
    try:
        return len(parse_stat(host.read("/proc/stat")).cores)
    except Unavailable:
        return None


def parse_uptime(text: bytes) -> float | None:
    """Seconds since boot, the first number of /proc/uptime; None when it is cut or is none."""
    tokens = text.split()
    return decimal(tokens[0]) if len(tokens) == 2 else None


def _word(host: Host, path: str) -> str:
    try:
        return host.read(path, _LONGEST).decode("utf-8", "replace").strip("\0 \n") or UNKNOWN
    except Unavailable:
        return UNKNOWN
