"""What of a live host goes into a capture: an allow-list of files, the cgroup directories, and what sockets and kernel
memory answered. Never an environment; command lines only when asked for. A capture is read like a host (`Host(root)`).

    proc/…  sys/…  dev/kmsg            files under their own names, links kept as small files
    necroscope/manifest.json           schema, when, which host, which trees are cut short
    necroscope/clock.json              the three clocks at the capture
    necroscope/SENSOR.json             readings of sensors that ask sockets; memcg_walk.json: the names of zombies
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import Mount, directories, layout
from necroscope.sense.containers.engines import Containers
from necroscope.sense.host import RECORDED, Host
from necroscope.sense.kernel.memcg_walk import walk_memcgs
from necroscope.sense.log.kmsg import raw_records
from necroscope.sense.log.log_clock import debug_head
from necroscope.sense.net.nic import Nic
from necroscope.sense.processes.names import Processes
from necroscope.sense.replay import encode
from necroscope.sense.sensor import Sensor, look
from necroscope.sense.systemd.units import Systemd
from necroscope.store.bundle.archive import SCHEMA, Entry

MAX_DIRECTORIES = 20_000
MAX_FILE_BYTES = 4 << 20
MAX_PROCESSES = 5_000

FILES = (
    "/proc/cgroups",
    "/proc/interrupts",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/net/softnet_stat",
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
    "/proc/softirqs",
    "/proc/stat",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/random/boot_id",
    "/proc/uptime",
    "/proc/vmstat",
    "/proc/pressure/*",
    "/proc/irq/*/smp_affinity_list",
    "/proc/irq/*/effective_affinity_list",
    "/sys/class/net/*/carrier_changes",
    "/sys/class/net/*/operstate",
    "/sys/class/net/*/statistics/*",
    "/sys/class/net/*/queues/*/tx_timeout",
    "/sys/devices/system/cpu/online",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/security/lockdown",
)
LINKS = ("/proc/self/ns/cgroup", "/sys/class/net/*/device/driver")
CGROUP_FILES = {
    ("memory", False): ("cgroup.procs",),
    ("cpu", False): ("cpu.stat",),
    ("memory", True): ("cgroup.stat", "cgroup.events", "cgroup.controllers", "cpu.max", "cpu.stat"),
}


def capture(host: Host, arguments: bool = False) -> Iterator[Entry]:
    """Everything of a live host that belongs into a capture; the manifest comes last."""
    yield _recorded("clock", encode(host.clock()))
    for path in _expand(host, FILES):
        yield from _file(host, path)
    for path in _expand(host, LINKS):
        try:
            yield Entry(path, host.link(path).encode("utf-8", "surrogateescape") + b"\n")
        except Unavailable:
            continue
    truncated: list[str] = []
    yield from _cgroups(host, truncated)
    yield from _processes(host, arguments)
    yield from _asked(host)
    identity = {name: _text(host, f"/proc/sys/kernel/{name}") for name in ("hostname", "osrelease")}
    manifest = {"schema": SCHEMA, "host": identity, "arguments": arguments, "truncated": truncated}
    yield _recorded("manifest", manifest)


def _asked(host: Host) -> Iterator[Entry]:
    """What is no file: the kernel's log, kernel memory, and whoever answers on a socket."""
    with suppress(Unavailable):
        yield Entry("/dev/kmsg", raw_records(host))
    with suppress(Unavailable):
        yield Entry(*debug_head(host))
    with suppress(Unavailable):
        yield _recorded("memcg_walk", encode(walk_memcgs(host)))
    sensors: tuple[Sensor, ...] = (Systemd(), Containers(), Nic(), Processes())
    for seen in look(sensors, host):
        yield _recorded(seen.sensor, encode(seen.reading))


def _cgroups(host: Host, truncated: list[str]) -> Iterator[Entry]:
    try:
        where = layout(host)
    except Unavailable:
        return
    for controller in ("memory", "cpu"):
        mount = where.mount_of(controller)
        names = CGROUP_FILES.get((controller, mount.v2)) if mount else None
        if mount is not None and names is not None:
            yield from _tree(host, mount, names, truncated)


def _tree(host: Host, mount: Mount, names: Iterable[str], truncated: list[str]) -> Iterator[Entry]:
    for number, (path, _) in enumerate(directories(host, mount)):
        if number >= MAX_DIRECTORIES:
            truncated.append(mount.path)
            return
        folder = mount.path + path.rstrip("/")
        yield Entry(folder, None)
        for name in names:
            yield from _file(host, f"{folder}/{name}")


def _processes(host: Host, arguments: bool) -> Iterator[Entry]:
    names = ("stat", "cgroup", "cmdline") if arguments else ("stat", "cgroup")
    for pid in [name for name in host.names("/proc") if name.isdigit()][:MAX_PROCESSES]:
        for name in names:
            yield from _file(host, f"/proc/{pid}/{name}")


def _expand(host: Host, patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        found = [""]
        for part in pattern.split("/")[1:]:
            found = [f"{path}/{name}" for path in found for name in _matching(host, path or "/", part)]
        yield from found


def _matching(host: Host, folder: str, part: str) -> list[str]:
    if "*" not in part:
        return [part]
    try:
        return [name for name in host.names(folder) if fnmatchcase(name, part)]
    except Unavailable:
        return []


def _file(host: Host, path: str) -> Iterator[Entry]:
    data = host.read_or_none(path, MAX_FILE_BYTES)
    if data is not None:
        yield Entry(path, data)


def _recorded(name: str, value: Any) -> Entry:
    return Entry(f"{RECORDED}/{name}.json", json.dumps(value).encode())


def _text(host: Host, path: str) -> str:
    return (host.read_or_none(path) or b"unknown").decode("utf-8", "replace").strip()
