"""Who manages cgroups: the kubelet and its runtime must agree on `systemd` or `cgroupfs`.

Where they do not, both make cgroups for the same pods in different places, and what one removes the other one keeps:
nodes under pressure then misbehave in ways that no log explains.

Sources: the kubelet's command line and configuration file; containerd's, CRI-O's and Docker's configuration files. What
is set nowhere has the default that the documentation names: the kubelet `cgroupfs`,
containerd `cgroupfs`, CRI-O `systemd`, Docker `systemd` on cgroup v2 and `cgroupfs` on v1.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from necroscope.errors import Unavailable
from necroscope.sense.host import Host

_KUBELET_CONFIGS = ("/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet/kubelet-config.json")
_MOST_PROCESSES = 4_096
_YAML = re.compile(rb"^\s*[\"']?cgroupDriver[\"']?\s*:\s*[\"']?(systemd|cgroupfs)\b", re.MULTILINE)
_FLAG = re.compile(rb"--cgroup-driver[=\0](systemd|cgroupfs)\b")
_CONFIG_FLAG = re.compile(rb"--config[=\0]([^\0]+)")


@dataclass(frozen=True, slots=True)
class Driver:
    """A program's cgroup driver, and where that stands."""

    program: str
    driver: str
    source: str


def kubelet_driver(host: Host) -> Driver | None:
    """The kubelet's; None where none runs and none is configured."""
    line = _kubelet_line(host)
    if line is not None and (flag := _FLAG.search(line)) is not None:
        return Driver("kubelet", flag[1].decode(), "its command line")
    named = _CONFIG_FLAG.search(line or b"")
    places = ([named[1].decode("utf-8", "replace")] if named else []) + list(_KUBELET_CONFIGS)
    for path in places:
        text = host.read_or_none(path)
        if text is not None and (found := _YAML.search(text)) is not None:
            return Driver("kubelet", found[1].decode(), path)
    return Driver("kubelet", "cgroupfs", "its default") if line is not None else None


def runtime_drivers(host: Host, unified: bool) -> list[Driver]:
    """Those of the runtimes that are configured here. `unified`: cgroup v2 alone."""
    found = []
    if (text := host.read_or_none("/etc/containerd/config.toml")) is not None:
        found.append(Driver("containerd", containerd_driver(text), "/etc/containerd/config.toml"))
    if (text := host.read_or_none("/etc/crio/crio.conf")) is not None:
        match = re.search(rb"^\s*cgroup_manager\s*=\s*\"(systemd|cgroupfs)\"", text, re.MULTILINE)
        found.append(Driver("CRI-O", match[1].decode() if match else "systemd", "/etc/crio/crio.conf"))
    if (text := host.read_or_none("/etc/docker/daemon.json")) is not None:
        found.append(Driver("Docker", docker_driver(text, unified), "/etc/docker/daemon.json"))
    return found


def containerd_driver(text: bytes) -> str:
    """What containerd's configuration says of runc; `SystemdCgroup = true` anywhere outside a comment."""
    return "systemd" if re.search(rb"^\s*SystemdCgroup\s*=\s*true\b", text, re.MULTILINE) else "cgroupfs"


def docker_driver(text: bytes, unified: bool) -> str:
    """What Docker's configuration says; its default where it says nothing."""
    try:
        options: Any = json.loads(text).get("exec-opts", [])
    except (ValueError, AttributeError, RecursionError):
        options = []
    for option in options if isinstance(options, list) else []:
        if isinstance(option, str) and option.startswith("native.cgroupdriver="):
            return option.partition("=")[2][:32]
    return "systemd" if unified else "cgroupfs"


def _kubelet_line(host: Host) -> bytes | None:
    try:
        pids = [name for name in host.entries("/proc") if name.isdigit()][:_MOST_PROCESSES]
    except Unavailable:
        return None
    for pid in pids:
        if (host.short(f"/proc/{pid}/comm") or b"").strip() == b"kubelet":
            return host.read_or_none(f"/proc/{pid}/cmdline", 1 << 16)
    return None
