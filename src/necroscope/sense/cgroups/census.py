"""The zombie census: memory cgroups that the kernel tracks, those that live, and what the difference is made of.

How it counts, the best method that works here first:

    kernel-walk     every memory cgroup, alive or not, by name, from kernel memory (needs BPF and BTF)
    cgroup-stat     v2: `nr_dying_subsys_memory` (6.12+) or `nr_dying_descendants` of every subtree that has any
    proc-cgroups    v1: /proc/cgroups minus the directories that exist

The last two name zombies only where MGLRU's debug file lists them.

A count inside a cgroup namespace is the host's on v1 and the namespace's own on v2; the census says which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import Layout, Mount, directories, layout, parse_cgroup_stat
from necroscope.sense.cgroups.memory_stat import pins_by_arithmetic
from necroscope.sense.host import Host
from necroscope.sense.kernel.lru_gen import zombies_listed
from necroscope.sense.kernel.memcg_walk import Walk, walk_memcgs
from necroscope.sense.replay import decode
from necroscope.vocabulary.cgroup_family import pattern
from necroscope.vocabulary.model import Census, DirectoryFamily, Family, ParentCount, Pin, Unseen

_TREE_BUDGET_S = 0.6
_LISTED_MOST = 5_000
_MIN_LEAKED = 10
# Cgroups that may come while the directories are counted.
_RACE = 50
# Units of these types own a cgroup and never a process: empty by nature, not leaked.
_EMPTY_BY_NATURE = (".mount", ".swap", ".slice", ".socket", ".automount", ".target", ".device")


def take_census(host: Host, walk: Callable[[Host], Walk] = walk_memcgs) -> tuple[Census, tuple[Unseen, ...]]:
    """Count with the best method that works here, and say what could not be seen."""
    where, mount, hidden, unseen = _place(host)
    try:
        walked = decode(Walk, host.recorded("memcg_walk")) if host.captured else walk(host)
    except Unavailable as error:
        unseen.append(Unseen("memcg-names", error.message, error.hint))
        return _count_files(host, where, mount, hidden, unseen)
    counted = _from_walk(where, walked, hidden)
    if walked.partial:
        unseen.append(Unseen("memcg-names", "; ".join(walked.reasons), "scan again"))
        counted = counted if _cut_short(host, mount) else _completed(counted, host)
    return counted, tuple(unseen)


def count_zombies(host: Host) -> tuple[Census, tuple[Unseen, ...]]:
    """Count from files, and nothing else: no names, no pins, no leaked directories. A few milliseconds."""
    where, mount, hidden, unseen = _place(host)
    if mount.v2:
        return _count_v2(host, where, mount), tuple(unseen)
    tree = None if hidden else _Tree([path for path, _ in directories(host, mount)], (), True)
    return replace(_count_v1(where, mount, tree, unseen), host_wide=hidden), tuple(unseen)


def _place(host: Host) -> tuple[Layout, Mount, bool, list[Unseen]]:
    """Where memory cgroups are, whether a namespace hides some, and the sentence that says so."""
    where = layout(host)
    mount = where.mount_of("memory")
    if mount is None:
        raise Unavailable(
            "no mounted hierarchy has the memory controller", "mount it, or boot with cgroup_enable=memory"
        )
    if not where.namespaced and mount.root == "/":
        return where, mount, False, []
    whose = "its own cgroups" if mount.v2 else "the whole host's count, of which it sees no directories,"
    reason = f"this is a cgroup namespace: {whose} is all it can see"
    return where, mount, True, [Unseen("memcg", reason, "run on the host")]


def _from_walk(where: Layout, walked: Walk, hidden: bool) -> Census:
    counted = Census(
        mode=where.mode,
        tracked=walked.live + walked.zombies,
        live=walked.live,
        zombies=walked.zombies,
        counted_by="kernel-walk",
        by_parent=walked.by_parent,
        families=walked.families,
        pinned_by=walked.pinned_by,
        host_wide=hidden,
        partial=walked.partial,
        source="kernel memory",
    )
    return _with_leaked(counted, walked.empty_directories)


def _completed(counted: Census, host: Host) -> Census:
    """What a walk that stopped early did not come to is there all the same: then files tell how many there are."""
    files, _ = count_zombies(host)
    if files.zombies is None or files.zombies <= (counted.zombies or 0):
        return counted
    return replace(
        counted,
        tracked=files.tracked,
        live=files.live,
        zombies=files.zombies,
        counted_by=files.counted_by,
        by_parent=files.by_parent or counted.by_parent,
        source=files.source,
    )


# -- without the walk: files --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tree:
    """The live directories: their paths, and the empty leaves grouped; `complete` unless the budget cut it."""

    paths: list[str]
    empty: tuple[DirectoryFamily, ...]
    complete: bool


def _count_files(
    host: Host, where: Layout, mount: Mount, hidden: bool, unseen: list[Unseen]
) -> tuple[Census, tuple[Unseen, ...]]:
    tree = _read_tree(host, mount)
    if not tree.complete:
        unseen.append(Unseen("memcg", "the cgroup tree is too large to look for leaked directories within the budget"))
    cut = _cut_short(host, mount)
    if cut:
        unseen.append(Unseen("memcg", "the capture was cut short, so live cgroups are unknown"))
    counted = (
        _count_v2(host, where, mount) if mount.v2 else _count_v1(where, mount, None if hidden or cut else tree, unseen)
    )
    counted = replace(counted, host_wide=hidden and not mount.v2, partial=not tree.complete)
    counted = _with_leaked(counted, tree.empty)
    if counted.zombies:
        pins = _pins(host, mount, tree, counted.zombies, unseen)
        counted = replace(_named_by_lru_gen(host, mount, counted), pinned_by=pins)
    return counted, tuple(unseen)


def _cut_short(host: Host, mount: Mount) -> bool:
    """True when a capture does not hold every directory of this mount."""
    try:
        return host.captured and mount.path in host.recorded("manifest").get("truncated", ())
    except (Unavailable, AttributeError, TypeError):
        return False


def _count_v1(where: Layout, mount: Mount, tree: _Tree | None, unseen: list[Unseen]) -> Census:
    row = where.controllers.get("memory")
    tracked = row.cgroups if row else None
    if tracked is None:
        unseen.append(Unseen("memcg", "/proc/cgroups has no memory row, so tracked cgroups are unknown, not zero"))
    live = None if tree is None else len(tree.paths)
    zombies = max(0, tracked - live) if tracked is not None and live is not None else None
    if tracked is not None and live is not None and live > tracked + max(_RACE, live // 50):
        zombies = None
        unseen.append(Unseen("memcg", f"/proc/cgroups tracks {tracked} cgroups and {live} directories exist: no sense"))
    return Census(
        where.mode,
        tracked,
        live,
        zombies,
        "proc-cgroups",
        source=f"/proc/cgroups, directories of {mount.path}",
        hierarchy=row.hierarchy if row else None,
    )


def _count_v2(host: Host, where: Layout, mount: Mount) -> Census:
    stat = parse_cgroup_stat(host.read(f"{mount.path}/cgroup.stat"))
    live = stat.subsys_memory
    if live is None and stat.descendants is not None:
        live = stat.descendants + 1
    tracked = live + stat.zombies if live is not None and stat.zombies is not None else None
    return Census(
        where.mode,
        tracked,
        live,
        stat.zombies,
        "cgroup-stat",
        by_parent=_dying_by_parent(host, mount) if stat.zombies else (),
        source=f"{mount.path}/cgroup.stat",
        hierarchy=0,
    )


def _dying_by_parent(host: Host, mount: Mount) -> tuple[ParentCount, ...]:
    """Own zombies of each live cgroup: its subtree's minus its children's. Subtrees without any are not entered."""
    counts: list[ParentCount] = []
    pending = [("", _dying(host, mount, ""))]
    while pending:
        path, dying = pending.pop()
        children = [(f"{path}/{name}", _dying(host, mount, f"{path}/{name}")) for name in _children(host, mount, path)]
        own = dying - sum(below for _, below in children)
        if own > 0:
            counts.append(ParentCount(path or "/", own))
        pending.extend((child, below) for child, below in children if below)
    return tuple(sorted(counts, key=lambda count: (-count.zombies, count.path)))


def _children(host: Host, mount: Mount, path: str) -> list[str]:
    try:
        return [name for name, _ in host.subdirectories(mount.path + path)]
    except Unavailable:
        return []


def _dying(host: Host, mount: Mount, path: str) -> int:
    text = host.read_or_none(f"{mount.path}{path}/cgroup.stat")
    try:
        return (parse_cgroup_stat(text).zombies or 0) if text is not None else 0
    except Unavailable:
        return 0


def _named_by_lru_gen(host: Host, mount: Mount, counted: Census) -> Census:
    """Families from MGLRU's list, where there is one and it is short: every page of it walks all cgroups before."""
    if not counted.zombies or counted.zombies > _LISTED_MOST:
        return counted
    try:
        gone = zombies_listed(host, mount.path)
    except Unavailable:
        return counted
    members: dict[str, list[str]] = {}
    parents: Counter[str] = Counter()
    for group in gone:
        members.setdefault(pattern(group.path), []).append(group.path)
        parents[_live_ancestor(host, mount, group.path)] += 1
    families = (
        Family(shape, _live_ancestor(host, mount, paths[0]), len(paths), tuple(paths[:3]))
        for shape, paths in members.items()
    )
    return replace(
        counted,
        families=tuple(sorted(families, key=lambda family: -family.zombies)),
        by_parent=counted.by_parent or tuple(ParentCount(path, count) for path, count in parents.most_common()),
        partial=counted.partial or len(gone) != counted.zombies,
    )


def _live_ancestor(host: Host, mount: Mount, path: str) -> str:
    while path and not host.exists(mount.path + path):
        path = path.rpartition("/")[0]
    return path or "/"


def _read_tree(host: Host, mount: Mount) -> _Tree:
    """Every directory is counted; empty leaves are looked for while the budget lasts."""
    ends = clock.elapsed_s() + _TREE_BUDGET_S
    paths: list[str] = []
    empty: dict[str, list[str]] = {}
    complete = True
    for path, leaf in directories(host, mount):
        paths.append(path)
        if leaf and complete and _is_empty(host, mount, path):
            empty.setdefault(pattern(path), []).append(path)
        complete = complete and clock.elapsed_s() < ends
    families = (DirectoryFamily(shape, len(members), tuple(members[:3])) for shape, members in empty.items())
    return _Tree(paths, tuple(families), complete)


def _is_empty(host: Host, mount: Mount, path: str) -> bool:
    """No process in a leaf. The process list of a v1 cgroup is short when it is empty, whatever else it costs."""
    if mount.v2:
        return b"populated 0" in (host.read_or_none(f"{mount.path}{path}/cgroup.events") or b"")
    return host.read_or_none(f"{mount.path}{path}/cgroup.procs") == b""


def _pins(host: Host, mount: Mount, tree: _Tree, zombies: int, unseen: list[Unseen]) -> tuple[Pin, ...]:
    try:
        return pins_by_arithmetic(host, mount, tree.paths, zombies)
    except Unavailable as error:
        unseen.append(Unseen("memcg-pins", error.message, error.hint))
        return ()


# -- shared by all methods --------------------------------------------------------------------------------


def _with_leaked(counted: Census, empty: tuple[DirectoryFamily, ...]) -> Census:
    """Empty leaves are suspicious in numbers and under machine-made names; single ones are somebody's set-up."""
    suspicious = [
        family
        for family in empty
        if family.directories >= _MIN_LEAKED and "<" in family.pattern and not family.pattern.endswith(_EMPTY_BY_NATURE)
    ]
    suspicious.sort(key=lambda family: -family.directories)
    total = sum(family.directories for family in suspicious)
    return replace(counted, leaked_directories=total, leaked_families=tuple(suspicious))
