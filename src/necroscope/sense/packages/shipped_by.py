"""Which package ships each of some files, by dpkg's and rpm's own records. Bounded in files, bytes and time.

A node has one of the two, or none. /usr and / are one tree on most distributions: a list may say /lib/systemd where a
unit's path says /usr/lib/systemd.
"""

from __future__ import annotations

from collections.abc import Iterable

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.packages import dpkg, rpm

BUDGET_S = 0.7
_MERGED = ("/bin/", "/sbin/", "/lib/", "/lib64/")


def shipped_by(host: Host, paths: Iterable[str], budget_s: float = BUDGET_S) -> dict[str, str]:
    """By path: the package, with its version where the records tell it. Paths that nobody ships are not in it.
    `Unavailable` where there are no records, or they cannot be read whole."""
    asked = {path for path in paths if path.startswith("/")}
    spelled = {one: path for path in asked for one in _spellings(path)}
    deadline = clock.elapsed_s() + budget_s
    if host.exists(dpkg.LISTS):
        found = dpkg.owners(host, set(spelled), deadline)
    elif any(host.exists(place) for place in rpm.PLACES):
        found = rpm.owners(host, set(spelled), deadline)
    else:
        raise Unavailable("no records of dpkg or rpm are here", "which package ships a unit is unknown")
    return {spelled[path]: package for path, package in found.items()}


def _spellings(path: str) -> tuple[str, ...]:
    if path.startswith(_MERGED):
        return path, f"/usr{path}"
    if path.startswith(tuple(f"/usr{one}" for one in _MERGED)):
        return path, path.removeprefix("/usr")
    return (path,)
