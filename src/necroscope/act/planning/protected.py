"""What `fix` never stops: the system, the way by which the caller is here, the recorder, runtime, network and storage.

It is a closure: a unit is protected under each of its names, and when stopping it would stop one that is, because that
requires it, is bound to it or is a part of it. The table is PROTECTED; patterns are those of `fnmatch`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from necroscope.act.node.doors import Node, ProcessView, UnitView
from necroscope.errors import Refused
from necroscope.store.regular_file import read_regular

PROTECTED: dict[str, tuple[str, ...]] = {
    "the system": (
        *("init.scope", "systemd-*", "dbus.*", "dbus-*", "polkit.service", "rescue.*", "emergency.*", "kmod*.service"),
        *("*.target", "*.slice", "*.scope", "*.device", "auditd.service", "chronyd.service", "cron.service"),
    ),
    "a way to log in": (
        *("ssh.*", "sshd.*", "ssh@*", "sshd@*", "user@*", "user-runtime-dir@*", "getty@*", "serial-getty@*"),
        *("console-getty.service", "amazon-ssm-agent.service", "google-guest-agent.service", "tailscaled.service"),
        *("snap.amazon-ssm-agent.*", "teleport.service", "walinuxagent.service"),
    ),
    "the recorder": ("necroscope*",),
    "the container runtime or its node agent": (
        *("containerd.*", "docker.*", "crio.*", "cri-o.*", "podman.*", "kubelet.*", "rke2-*", "k3s*", "buildkit.*"),
    ),
    "the network": (
        *("network.*", "networking.*", "NetworkManager*", "wpa_supplicant*", "dhcpcd*", "ifup@*", "netplan*"),
        *("nftables.*", "iptables*", "firewalld.*", "wicked*", "connman*", "resolvconf*", "rdma-*", "openibd.*"),
    ),
    "storage": (
        *("*.mount", "*.automount", "*.swap", "iscsi*", "open-iscsi*", "multipath*", "lvm2-*", "mdmonitor*", "mdadm*"),
        *("zfs*", "rpcbind.*", "nfs-*", "rpc-statd*", "lustre*", "drbd*", "blk-availability.service", "nvmf-*"),
    ),
}
_CLOSURE_MOST = 200
_SERVICE = ".service"


def stopped_with(node: Node, view: UnitView) -> list[UnitView]:
    """The units that systemd stops with this one, itself first."""
    found, pending = {view.name: view}, [view]
    while pending and len(found) < _CLOSURE_MOST:
        for name in pending.pop().stops_too:
            if name not in found and (one := node.units.unit(name)) is not None:
                found[one.name] = one
                pending.append(one)
    return list(found.values())


def refuse_protected(node: Node, views: list[UnitView], recorder: Path | None) -> None:
    """`Refused` where any of these units is protected: by name, or because the caller or the recorder lives in it."""
    first = views[0].name
    lived_in = dict(_lived_in(node, recorder))
    for view in views:
        for name in dict.fromkeys((view.name, *view.names)):
            what = lived_in.get(name) or class_of(name)
            if what:
                also = f"stopping {first} would stop {name}, which is" if view is not views[0] else f"{name} is"
                raise Refused(f"{also[:1].upper()}{also[1:]} protected: {what}.", "fix never stops it; stop it by hand")


def class_of(name: str) -> str:
    """Which class of protected units a name falls into; empty: none."""
    return next(
        (what for what, patterns in PROTECTED.items() if any(fnmatchcase(name, one) for one in patterns)),
        "",
    )


def unit_in(cgroup: str) -> str:
    """The innermost unit that a cgroup path names; empty where it names none."""
    return next((part for part in reversed(cgroup.split("/")) if part.endswith((_SERVICE, ".scope"))), "")


def _lived_in(node: Node, recorder: Path | None) -> Iterator[tuple[str, str]]:
    """Units in which this program, its callers or the recorder run."""
    for process in node.processes.callers():
        for cgroup in process.cgroups:
            if unit := unit_in(cgroup):
                yield unit, "the way by which you are here"
    if (writer := _recorder(node, recorder)) is not None:
        for cgroup in writer.cgroups:
            if unit := unit_in(cgroup):
                yield unit, "the recorder"


def _recorder(node: Node, store: Path | None) -> ProcessView | None:
    """Who holds the lock of the store, or was the last to."""
    if store is None:
        return None
    try:
        pid = json.loads(read_regular(store / "lock", 4096))["pid"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    found = node.processes.process(pid) if type(pid) is int else None
    return found if found is not None and "necroscope" in found.name else None
