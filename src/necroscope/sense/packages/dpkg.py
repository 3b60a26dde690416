"""dpkg's file lists: /var/lib/dpkg/info/PACKAGE[:ARCH].list, one path a line."""

from __future__ import annotations

import re

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host

LISTS = "/var/lib/dpkg/info"
STATUS = "/var/lib/dpkg/status"
_LISTS_MOST, _LIST_BYTES, _STATUS_BYTES = 20_000, 8 << 20, 64 << 20
_VERSION = re.compile(rb"^Package: ([^\n]{1,200})\n(?:[^\n]+\n)*?Version: ([^\n]{1,200})$", re.MULTILINE)


def owners(host: Host, paths: set[str], deadline: float) -> dict[str, str]:
    """Package and version by path. `Unavailable` when the time is up before all lists were read."""
    wanted = {path.encode("utf-8", "surrogateescape"): path for path in paths}
    found: dict[str, str] = {}
    for name in [name for name in host.entries(LISTS) if name.endswith(".list")][:_LISTS_MOST]:
        if clock.elapsed_s() > deadline:
            raise Unavailable("dpkg's file lists were not read in time")
        lines = (host.read_or_none(f"{LISTS}/{name}", _LIST_BYTES) or b"").split(b"\n")
        package = name.removesuffix(".list").partition(":")[0]
        found |= {wanted[line]: package for line in wanted.keys() & lines}
    versions = _versions(host, set(found.values()))
    return {path: " ".join(filter(None, (package, versions.get(package)))) for path, package in found.items()}


def _versions(host: Host, packages: set[str]) -> dict[str, str]:
    status = host.read_or_none(STATUS, _STATUS_BYTES) or b""
    return parse_versions(status, packages)


def parse_versions(status: bytes, packages: set[str]) -> dict[str, str]:
    """Versions of some packages, from dpkg's status file; of a broken paragraph nothing is told."""
    wanted = {name.encode("utf-8", "surrogateescape"): name for name in packages}
    found = {}
    for match in _VERSION.finditer(status):
        if match[1] in wanted:
            found[wanted[match[1]]] = match[2].decode("utf-8", "replace")
    return found
