"""Where the cgroup hierarchies are: v1, v2 or both, who has which controller, and whether a namespace hides the rest.

Sources: /proc/cgroups (which controllers exist, how many cgroups each tracks), /proc/self/mountinfo (where the
hierarchies are mounted, and which part of each is visible), /proc/self/ns/cgroup. A missing row in /proc/cgroups
means nothing by itself: with CONFIG_MEMCG_V1=n the `memory` row can be absent while v2 has the controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import counts, flat_keyed, whole_lines

Mode = Literal["v1", "v2", "hybrid"]

DEPTH_MAX = 128

# PROC_CGROUP_INIT_INO (include/linux/proc_ns.h): the inode of the first cgroup namespace, the same since 4.6.
_INITIAL_NAMESPACE = "cgroup:[4026531835]"
_ESCAPE = re.compile(rb"\\([0-7]{3})")
# Options of a v1 mount that are no controllers (kernel/cgroup/cgroup-v1.c).
_OPTIONS = frozenset({"rw", "ro", "xattr", "noprefix", "clone_children", "cpuset_v2_mode", "none", "all"})


@dataclass(frozen=True, slots=True)
class Controller:
    """A row of /proc/cgroups. Hierarchy 0 is the v2 tree, or a controller mounted nowhere."""

    name: str
    hierarchy: int
    cgroups: int
    enabled: bool


@dataclass(frozen=True, slots=True)
class Mount:
    """One mounted hierarchy: where, which part of it (`root`), and its v1 controllers."""

    path: str
    root: str
    v2: bool
    controllers: frozenset[str]


@dataclass(frozen=True, slots=True)
class CgroupStat:
    """`cgroup.stat` of one v2 cgroup; a field that this kernel does not have is None.

    `subsys_memory` counts this cgroup too, the dying ones never do (6.12 and later).
    """

    descendants: int | None
    dying: int | None
    subsys_memory: int | None
    dying_subsys_memory: int | None

    @property
    def zombies(self) -> int | None:
        """Dying memory cgroups below; all dying cgroups on kernels that do not tell them apart."""
        return self.dying if self.dying_subsys_memory is None else self.dying_subsys_memory


@dataclass(frozen=True, slots=True)
class Layout:
    """The hierarchies of one host."""

    mode: Mode
    mounts: tuple[Mount, ...]
    controllers: dict[str, Controller]
    namespaced: bool
    v2_controllers: frozenset[str]

    def mount_of(self, controller: str) -> Mount | None:
        """The mount that shows most of the hierarchy with this controller; None when no mount has it."""
        v1 = [mount for mount in self.mounts if controller in mount.controllers]
        v2 = [mount for mount in self.mounts if mount.v2 and controller in self.v2_controllers]
        return min(v1 or v2, key=lambda mount: (mount.root != "/", len(mount.path)), default=None)


def parse_proc_cgroups(text: bytes) -> dict[str, Controller]:
    """Rows by name; rows that do not look like rows are left out."""
    rows: dict[str, Controller] = {}
    for line in whole_lines(text):
        name, *numbers = line.split() or [b""]
        values = counts(numbers)
        if values is not None and len(values) == 3:
            rows[name.decode("ascii", "replace")] = Controller(
                name.decode("ascii", "replace"), *values[:2], values[2] != 0
            )
    return rows


def parse_cgroup_mounts(text: bytes) -> tuple[Mount, ...]:
    """The cgroup and cgroup2 mounts of a mountinfo file, in its order."""
    mounts = []
    for line in text.splitlines():
        before, separator, after = line.partition(b" - ")
        fields, kind = before.split(b" "), after.split(b" ")
        if not separator or len(fields) < 6 or len(kind) < 3 or kind[0] not in (b"cgroup", b"cgroup2"):
            continue
        v2 = kind[0] == b"cgroup2"
        mounts.append(
            Mount(_unescape(fields[4]), _unescape(fields[3]), v2, frozenset() if v2 else _controllers(kind[2]))
        )
    return tuple(mounts)


def parse_cgroup_stat(text: bytes) -> CgroupStat:
    """Every field optional; a file without any known field is `Unavailable`."""
    values = flat_keyed(text)
    stat = CgroupStat(
        values.get("nr_descendants"),
        values.get("nr_dying_descendants"),
        values.get("nr_subsys_memory"),
        values.get("nr_dying_subsys_memory"),
    )
    if stat == CgroupStat(None, None, None, None):
        raise Unavailable("cgroup.stat holds no count that is known")
    return stat


def parse_memberships(text: bytes) -> dict[str, str]:
    """/proc/PID/cgroup: controller -> path; the v2 path stands under the empty name."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        fields = line.split(b":", 2)
        if len(fields) == 3:
            for controller in fields[1].decode("utf-8", "replace").split(","):
                paths[controller] = fields[2].decode("utf-8", "surrogateescape")
    return paths


def layout(host: Host) -> Layout:
    """The hierarchies of this host; `Unavailable` when none is mounted."""
    mounts = parse_cgroup_mounts(host.read("/proc/self/mountinfo"))
    if not mounts:
        raise Unavailable("no cgroup hierarchy is mounted", "mount cgroup2 at /sys/fs/cgroup")
    rows = parse_proc_cgroups(host.read_or_none("/proc/cgroups") or b"")
    v1 = any(mount.controllers for mount in mounts)
    v2 = [mount for mount in mounts if mount.v2]
    return Layout(
        mode="hybrid" if v1 and v2 else "v1" if v1 else "v2",
        mounts=mounts,
        controllers=rows,
        namespaced=_namespaced(host, mounts),
        v2_controllers=_v2_controllers(host, v2),
    )


def directories(host: Host, mount: Mount) -> Iterator[tuple[str, bool]]:
    """Every cgroup below the mount's root as (path within the mount, is a leaf), parents first; the root is `/`.

    A directory that vanishes on the way is left out with what was below it, and so is what lies deeper than
    `DEPTH_MAX`: no real tree does.
    """
    pending = [("", 0)]
    yield "/", False
    while pending:
        path, depth = pending.pop()
        try:
            for name, inner in host.subdirectories(mount.path + path):
                below = f"{path}/{name}"
                yield below, not inner
                if inner and depth < DEPTH_MAX:
                    pending.append((below, depth + 1))
        except Unavailable:
            continue


def _namespaced(host: Host, mounts: tuple[Mount, ...]) -> bool:
    try:
        if host.link("/proc/self/ns/cgroup") != _INITIAL_NAMESPACE:
            return True
    except Unavailable:
        pass
    return all(mount.root != "/" for mount in mounts)


def _v2_controllers(host: Host, mounts: list[Mount]) -> frozenset[str]:
    for mount in mounts:
        text = host.read_or_none(f"{mount.path}/cgroup.controllers")
        if text is not None:
            return frozenset(text.decode("ascii", "replace").split())
    return frozenset()


def _controllers(options: bytes) -> frozenset[str]:
    names = options.decode("utf-8", "replace").split(",")
    return frozenset(name for name in names if name not in _OPTIONS and "=" not in name)


def _unescape(field: bytes) -> str:
    plain = _ESCAPE.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), field)
    return plain.decode("utf-8", "surrogateescape")
