"""`cpu.stat` of cgroups: who was kept off the CPU by a quota although cores were free.

    v1   nr_periods, nr_throttled, throttled_time (nanoseconds)
    v2   nr_periods, nr_throttled, throttled_usec, usage_usec; a cgroup without the cpu controller has only the usage

Reading `cpu.stat` of a v2 cgroup makes the kernel collect the statistics of its whole subtree from every CPU. So the
quota (`cpu.max`: 9 µs against 33 on 16 CPUs) is read first, and a cgroup without one is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.model import Reading, Sample, Signal, Unseen
from necroscope.sense.cgroups import Mount, directories, layout
from necroscope.sense.fields import flat_keyed
from necroscope.sense.host import Host

MAX_CGROUPS = 2_000
BUDGET_S = 0.15


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

    def read(self, host: Host) -> Reading:
        """One look at the hierarchy with the cpu controller."""
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
        samples = tuple(sample for group in seen.groups for sample in _samples(group))
        return Reading(samples=samples, unseen=tuple(unseen))


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
