"""What pins zombies, by arithmetic over `memory.stat`: for nodes where kernel memory cannot be walked.

A removed cgroup's pages stay charged to it and are still part of its ancestors' hierarchical sums. So

    the zombies' share below P  =  hierarchical sum of P  −  P's own  −  hierarchical sums of P's live children

On v1 every term is in `memory.stat` (`total_*` is hierarchical). On v2 a cgroup's own part is not separate, so the
share is an upper bound there.

Reading `memory.stat` walks every cgroup below on kernels before 5.8, zombies included: with tens of thousands of them
that is itself the disease, and a live leaf may hide them all. So with more than a few zombies nothing is read unless
the kernel has a mark of 5.8 (`pgscan_anon` in /proc/vmstat), and then only after a timed probe: leaves first, then a
small subtree, from which a cost per cgroup follows. `memory.numa_stat` is never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import Mount
from necroscope.sense.host import Host
from necroscope.sense.numbers import flat_keyed
from necroscope.vocabulary.model import Pin, PinKind

BUDGET_S = 0.25
_PROBE_LEAVES = 3
_PROBE_SUBTREE = (4, 128)
_HARMLESS_ZOMBIES = 500
_SLOWEST_READ_S = 0.05


@dataclass(frozen=True, slots=True)
class MemoryStat:
    """Bytes by class: this cgroup's own (v1 only) and hierarchical."""

    own: tuple[int, int, int]
    total: tuple[int, int, int]


_KINDS: tuple[PinKind, ...] = ("tmpfs", "page-cache", "anon")


def parse_memory_stat(text: bytes) -> MemoryStat:
    """`memory.stat` of v1 (cache, rss, shmem and their `total_`) or v2 (file, anon, shmem)."""
    values = flat_keyed(text)
    if "total_cache" in values:
        return MemoryStat(_classes(values, "cache", "rss"), _classes(values, "total_cache", "total_rss", "total_"))
    if "file" in values:
        return MemoryStat((0, 0, 0), _classes(values, "file", "anon"))
    raise Unavailable("memory.stat holds no hierarchical sums")


def pins_by_arithmetic(
    host: Host, mount: Mount, paths: Sequence[str], zombies: int, budget_s: float = BUDGET_S
) -> tuple[Pin, ...]:
    """Pin classes of all zombies below the live cgroups `paths` (parents first, the root is `/`).

    Raises `Unavailable` when the probe predicts more than the budget, or the budget runs out on the way.
    """
    if zombies > _HARMLESS_ZOMBIES and b"\npgscan_anon " not in (host.read_or_none("/proc/vmstat") or b""):
        raise Unavailable("on this kernel one read of memory.stat may walk every zombie, so pin classes are unknown")
    below = _live_descendants(paths)
    reader = _TimedReader(host, mount, budget_s)
    order = sorted((path for path in paths if path != "/" or not mount.v2), key=lambda path: below[path])
    _probe(reader, order, below, zombies)
    stats = {path: stat for path in order if (stat := reader.read(path)) is not None}
    children: dict[str, list[MemoryStat]] = {path: [] for path in stats}
    for path, stat in stats.items():
        if path != "/" and (parent := _parent(path)) in children:
            children[parent].append(stat)
    share = [0, 0, 0]
    for path, stat in stats.items():
        for kind, value in enumerate(_share(stat, children[path], mount.v2)):
            share[kind] += value
    return tuple(Pin(kind, size) for kind, size in zip(_KINDS, share, strict=True) if size > 0)


def _classes(values: Mapping[str, int], cache: str, anon: str, prefix: str = "") -> tuple[int, int, int]:
    shmem = values.get(prefix + "shmem", 0)
    return shmem, max(0, values.get(cache, 0) - shmem), values.get(anon, 0)


def _share(stat: MemoryStat, children: Sequence[MemoryStat], v2: bool) -> tuple[int, ...]:
    if v2 and not children:
        return (0, 0, 0)
    sums = (sum(child.total[kind] for child in children) for kind in range(3))
    return tuple(max(0, total - own - live) for total, own, live in zip(stat.total, stat.own, sums, strict=True))


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _live_descendants(paths: Sequence[str]) -> dict[str, int]:
    counts = dict.fromkeys(paths, 0)
    for path in paths:
        above = path
        while above != "/":
            above = _parent(above)
            counts[above] = counts.get(above, 0) + 1
    return counts


def _probe(reader: _TimedReader, order: Sequence[str], below: Mapping[str, int], zombies: int) -> None:
    """Read leaves, then one small subtree; refuse when a cgroup costs too much times the zombies there are."""
    leaves = [path for path in order[:_PROBE_LEAVES] if not below[path]]
    leaf_s = min((reader.timed(path) for path in leaves), default=0.0)
    low, high = _PROBE_SUBTREE
    subtree = next((path for path in reversed(order) if low <= below[path] <= high and path != "/"), None)
    if subtree is None:
        if zombies > _HARMLESS_ZOMBIES:
            raise Unavailable("no small subtree of cgroups to probe what reading memory.stat costs here")
        return
    per_cgroup_s = max(0.0, reader.timed(subtree) - leaf_s) / below[subtree]
    if per_cgroup_s * zombies > reader.budget_s:
        cost = per_cgroup_s * zombies
        raise Unavailable(f"reading memory.stat over {zombies} zombies would hold a core for about {cost:.1f} s")


class _TimedReader:
    """Reads `memory.stat` once per cgroup, within a budget; a slow read ends it, a vanished cgroup is None."""

    def __init__(self, host: Host, mount: Mount, budget_s: float) -> None:
        self._host, self._mount = host, mount
        self._seen: dict[str, tuple[MemoryStat | None, float]] = {}
        self._ends = clock.elapsed_s() + budget_s
        self.budget_s = budget_s

    def read(self, path: str) -> MemoryStat | None:
        return self._once(path)[0]

    def timed(self, path: str) -> float:
        return self._once(path)[1]

    def _once(self, path: str) -> tuple[MemoryStat | None, float]:
        if path not in self._seen:
            started = clock.elapsed_s()
            if started > self._ends:
                raise Unavailable(f"reading memory.stat of every cgroup takes longer than {self.budget_s} s here")
            file = f"{self._mount.path}{path.rstrip('/')}/memory.stat"
            text = self._host.read_or_none(file)
            stat = None if text is None else parse_memory_stat(text)
            took = clock.elapsed_s() - started
            if took > _SLOWEST_READ_S:
                raise Unavailable(f"one read of {file} took {took:.2f} s, so no more of them were made")
            self._seen[path] = (stat, took)
        return self._seen[path]
