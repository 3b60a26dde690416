"""`cpu.stat` of cgroups: who was kept off the CPU by a quota although cores were free.

    v1   nr_periods, nr_throttled, throttled_time (nanoseconds)
    v2   nr_periods, nr_throttled, throttled_usec, usage_usec; a cgroup without the cpu controller has only the usage

Reading `cpu.stat` of a v2 cgroup makes the kernel collect the statistics of its whole subtree from every CPU. So the
quota (`cpu.max`: 9 µs against 33 on 16 CPUs) is read first, and a cgroup without one is left alone.

Cgroups with a quota are looked for seldom, the more cgroups the more seldom: the search takes at most a two-hundredth
of a core. Those that were found are read at every look, as many as `REFRESH_S` allows; the others in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import Mount, directories, layout
from necroscope.sense.host import Host
from necroscope.sense.numbers import flat_keyed
from necroscope.vocabulary.model import Reading, Sample, Signal, Unseen

MAX_CGROUPS = 2_000
BUDGET_S = 0.15
REFRESH_S = 0.01
REST = 200.0
REST_LEAST_S, REST_MOST_S = 5.0, 60.0


@dataclass(frozen=True, slots=True)
class CpuStat:
    """Quota periods of one cgroup since it was made, and how long it waited for the next one."""

    periods: int
    throttled_periods: int
    throttled_ns: int
    usage_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Throttled:
    """A cgroup that has a quota; `path` is within the mount, the root being `/`."""

    path: str
    stat: CpuStat


@dataclass(frozen=True, slots=True)
class Throttles:
    """The cgroups with a quota among the `looked_at` first; `complete` when those are all."""

    groups: tuple[Throttled, ...]
    looked_at: int
    complete: bool


class Throttle:
    """Quota throttling of every cgroup that has a quota."""

    name: ClassVar[str] = "throttle"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal(
            "throttle_periods",
            "periods",
            "counter",
            "Quota periods (100 ms unless set otherwise) in which the cgroup had something to run.",
            ("cgroup",),
        ),
        Signal(
            "throttle_throttled_periods",
            "periods",
            "counter",
            "Periods in which the cgroup used up its quota and was stopped.",
            ("cgroup",),
        ),
        Signal(
            "throttle_throttled_seconds",
            "seconds",
            "counter",
            "Time that the cgroup's run queues were stopped, summed over CPUs: it grows faster than time passes.",
            ("cgroup",),
        ),
    )

    def __init__(self) -> None:
        self._known: dict[str, CpuStat] = {}
        self._turn = 0
        self._search_s = 0.0
        self._mount: Mount | None = None
        self._unseen: tuple[Unseen, ...] = ()

    def read(self, host: Host) -> Reading:
        """One look at the hierarchy with the cpu controller."""
        if self._mount is None or clock.elapsed_s() >= self._search_s:
            self._search(host)
        elif self._known:
            self._refresh(host, self._mount)
        samples = tuple(sample for path, stat in self._known.items() for sample in _samples(Throttled(path, stat)))
        return Reading(samples=samples, unseen=self._unseen)

    def _search(self, host: Host) -> None:
        """Look at all cgroups, within bounds, and rest in proportion to what that took."""
        self._mount = None
        began_s, spent_s = clock.elapsed_s(), clock.thread_cpu_s()
        where = layout(host)
        mount = where.mount_of("cpu")
        if mount is None:
            raise Unavailable("no mounted hierarchy has the cpu controller", "mount it, or enable it in the v2 root")
        seen = throttles(host, mount)
        unseen = [] if seen.complete else [_cut(seen.looked_at)]
        if where.namespaced or mount.root != "/":
            unseen.append(
                Unseen(self.name, "this is a cgroup namespace: quotas outside it are hidden", "run on the host")
            )
        self._mount, self._unseen = mount, tuple(unseen)
        self._known = {group.path: group.stat for group in seen.groups}
        rest_s = min(max(REST * (clock.thread_cpu_s() - spent_s), REST_LEAST_S), REST_MOST_S)
        self._search_s = began_s + rest_s

    def _refresh(self, host: Host, mount: Mount) -> None:
        """Read the known ones again, from where the look before had to stop. What was removed is known no more."""
        paths = list(self._known)
        ends_s = clock.thread_cpu_s() + REFRESH_S
        for _ in range(len(paths)):
            self._turn = (self._turn + 1) % len(paths)
            stat = _stat_of(host, mount, paths[self._turn])
            if stat is None:
                del self._known[paths[self._turn]]
            else:
                self._known[paths[self._turn]] = stat
            if clock.thread_cpu_s() > ends_s:
                return


def parse_cpu_stat(text: bytes) -> CpuStat:
    """`cpu.stat` of either version; `Unavailable` when it does not count quota periods."""
    values = flat_keyed(text)
    waited_ns = values.get("throttled_time")
    if waited_ns is None and (waited_us := values.get("throttled_usec")) is not None:
        waited_ns = waited_us * 1000
    if waited_ns is None or "nr_periods" not in values or "nr_throttled" not in values:
        raise Unavailable("cpu.stat does not count quota periods")
    usage_us = values.get("usage_usec")
    usage_ns = None if usage_us is None else usage_us * 1000
    return CpuStat(values["nr_periods"], values["nr_throttled"], waited_ns, usage_ns)


def throttles(host: Host, mount: Mount, most: int = MAX_CGROUPS, budget_s: float = BUDGET_S) -> Throttles:
    """Cgroups of `mount` whose quota counted periods, within bounds of number and time."""
    ends = clock.elapsed_s() + budget_s
    groups: list[Throttled] = []
    looked_at = 0
    for path, _ in directories(host, mount):
        if looked_at >= most or clock.elapsed_s() > ends:
            return Throttles(tuple(groups), looked_at, complete=False)
        looked_at += 1
        stat = _stat_of(host, mount, path)
        if stat is not None and stat.periods > 0:
            groups.append(Throttled(path, stat))
    return Throttles(tuple(groups), looked_at, complete=True)


def _stat_of(host: Host, mount: Mount, path: str) -> CpuStat | None:
    folder = mount.path + path.rstrip("/")
    if mount.v2 and (host.read_or_none(f"{folder}/cpu.max") or b"").startswith(b"max"):
        return None
    try:
        return parse_cpu_stat(host.read(f"{folder}/cpu.stat"))
    except Unavailable:  # removed meanwhile, or without the controller
        return None


def _samples(group: Throttled) -> Iterator[Sample]:
    # A cgroup's name may hold any bytes; a label is text.
    label = (group.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),)
    yield Sample("throttle_periods", group.stat.periods, label)
    yield Sample("throttle_throttled_periods", group.stat.throttled_periods, label)
    yield Sample("throttle_throttled_seconds", group.stat.throttled_ns / 1e9, label)


def _cut(looked_at: int) -> Unseen:
    reason = f"only {looked_at} cgroups were looked at for throttling, there are more"
    return Unseen("throttle", reason, f"at most {MAX_CGROUPS} cgroups and {BUDGET_S} s are spent on it")
