"""Needs of scenarios, each with how it is found missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from necroscope.errors import Unavailable
from necroscope.lab.environment import podman, systemd
from necroscope.lab.scenario import Need


def _no_root() -> str:
    return "" if os.geteuid() == 0 else "root"


def _no_perf() -> str:
    return "" if shutil.which("perf") else "perf (Debian: linux-perf)"


def _no_memory_cgroups() -> str:
    from necroscope.lab.environment.cgroup_tree import memory_mount

    try:
        mount = memory_mount()
    except Unavailable as error:
        return error.message
    return "" if os.access(mount.path, os.W_OK) else f"the right to make cgroups in {mount.path}"


def _no_network_namespaces() -> str:
    return "" if shutil.which("ip") and Path("/proc/self/ns/net").exists() else "ip (Debian: iproute2)"


def _no_second_core() -> str:
    return (
        "" if len(os.sched_getaffinity(0)) > 1 else "a second core: the recorder runs on one, the incident on another"
    )


def memory_free(megabytes: int) -> Need:
    """So much memory that can be had without taking it from others."""

    def missing() -> str:
        lines = Path("/proc/meminfo").read_text().splitlines()
        available = next((int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable:")), 0)
        return "" if available >= megabytes else f"{megabytes} MB of free memory: {available} MB are there"

    return Need("memory", missing)


ROOT = Need("root", _no_root)
PERF = Need("perf", _no_perf)
CORES = Need("two cores", _no_second_core)
MEMORY_CGROUPS = Need("memory cgroups", _no_memory_cgroups)
SYSTEMD = Need("systemd", systemd.missing)
CONTAINERS = Need("containers", podman.missing)
NETWORK = Need("network namespaces", _no_network_namespaces)
ALWAYS = (ROOT, PERF, CORES)
NEEDS_HINT = "run as root after `make demo`, which installs it; `necroscope lab list` tells what can be played here"
