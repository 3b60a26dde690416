"""Processes between two looks: names that vanish and come back.

Between two looks a name is turning over when members of it vanished *and* younger ones appeared. One look says
nothing: a young process may be a fresh start as well as a crash loop. Kernel threads are left out. Seen with no help
from any engine.

Sources: /proc/PID/stat of every process, /proc/PID/cgroup of the new ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from necroscope import clock
from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import parse_memberships
from necroscope.sense.host import Host
from necroscope.sense.numbers import count
from necroscope.sense.replay import replay
from necroscope.vocabulary.cgroup_family import pattern
from necroscope.vocabulary.model import ProcessTurnover, Reading, Record, Sample, Signal, Unseen

MAX_PROCESSES = 20_000
BUDGET_S = 0.3
MAX_PIDS_SHOWN = 32
MAX_CGROUPS_READ = 256

_KTHREADD = 2
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `start_ticks` is its start on CLOCK_BOOTTIME in clock ticks: with the pid, its identity.

    `user_ticks` and `system_ticks` are what all its threads used so far; `cpu` is where its main thread ran last.
    """

    pid: int
    comm: str
    ppid: int
    start_ticks: int
    state: str
    user_ticks: int = 0
    system_ticks: int = 0
    rss_pages: int = 0
    cpu: int = -1


@dataclass(frozen=True, slots=True)
class ProcessTable:
    """All pids at one instant, and the processes that were read before the time was up."""

    boottime_ns: int
    pids: frozenset[int]
    processes: dict[int, Process]
    texts: dict[int, bytes] = field(default_factory=dict)

    def parent_name(self, process: Process) -> str:
        """The name of a process's parent; empty where it is gone or was not read."""
        parent = self.processes.get(process.ppid)
        return parent.comm if parent else ""


class Processes:
    """The sensor. It keeps the table of its last look, and compares the next one with it."""

    name: ClassVar[str] = "processes"
    signals: ClassVar[tuple[Signal, ...]] = (Signal("processes", "processes", "gauge", "Processes on the node"),)

    def __init__(self) -> None:
        self._before: ProcessTable | None = None

    def read(self, host: Host) -> Reading:
        """The first look yields numbers only, every other one the turnover since the look before it."""
        if host.captured:
            return replay(host, self.name)
        table = read_table(host, self._before)
        before, self._before = self._before, table
        records: tuple[Record, ...] = turnover(before, table, host) if before else ()
        return Reading((Sample("processes", len(table.pids)),), records, _unread(table))


def parse_stat(text: bytes) -> Process:
    """/proc/PID/stat. The name stands in parentheses and may itself hold some, and blanks: the last one ends it."""
    head, opening, tail = text.partition(b" (")
    comm, closing, rest = tail.rpartition(b") ")
    fields = rest.split()
    pid = count(head)
    if not opening or not closing or pid is None or len(fields) < 20:
        raise Unavailable("the stat of a process cannot be read")
    ppid, start_ticks, user, system = count(fields[1]), count(fields[19]), count(fields[11]), count(fields[12])
    if ppid is None or start_ticks is None or user is None or system is None:
        raise Unavailable("the stat of a process holds no numbers where they belong")
    name, state = comm.decode("utf-8", "replace"), fields[0].decode("ascii", "replace")
    rss = count(fields[21]) if len(fields) > 21 else None
    cpu = count(fields[36]) if len(fields) > 36 else None
    return Process(pid, name, ppid, start_ticks, state, user, system, rss or 0, -1 if cpu is None else cpu)


def read_table(host: Host, before: ProcessTable | None = None) -> ProcessTable:
    """All processes, within the limits; one that vanishes on the way is left out.

    Most processes of a node sleep: what reads as it did `before` is the same `Process`, and is not parsed again.
    """
    deadline = clock.elapsed_s() + BUDGET_S
    boottime_ns = host.clock().boottime_ns
    pids = [int(name) for name in host.names("/proc") if name.isdecimal()]
    processes: dict[int, Process] = {}
    texts: dict[int, bytes] = {}
    for position, pid in enumerate(pids[:MAX_PROCESSES]):
        if position % 64 == 0 and clock.elapsed_s() > deadline:
            break
        try:
            text = host.read(f"/proc/{pid}/stat", 4096)
            asleep = before.processes[pid] if before and before.texts.get(pid) == text else None
            processes[pid] = asleep or parse_stat(text)
        except Unavailable:
            continue
        texts[pid] = text
    return ProcessTable(boottime_ns, frozenset(pids), processes, texts)


def turnover(before: ProcessTable, after: ProcessTable, host: Host) -> tuple[ProcessTurnover, ...]:
    """Names that lost members and got new ones between two tables, the busiest first."""
    lost = {(process.comm, before.parent_name(process)) for process in _lost(before, after)}
    groups: dict[tuple[str, str, str], list[int]] = {}
    cgroups_read = 0
    for process in _born(before, after):
        key = (process.comm, after.parent_name(process))
        if key not in lost:
            continue
        cgroup = _cgroup_pattern(host, process.pid) if cgroups_read < MAX_CGROUPS_READ else ""
        cgroups_read += 1
        groups.setdefault((*key, cgroup), []).append(process.pid)
    window_s = (after.boottime_ns - before.boottime_ns) / NS
    found = [
        ProcessTurnover(name, parent, cgroup, tuple(pids[:MAX_PIDS_SHOWN]), len(pids), window_s)
        for (name, parent, cgroup), pids in groups.items()
    ]
    return tuple(sorted(found, key=lambda record: (-record.starts, record.name, record.cgroup)))


def _unread(table: ProcessTable) -> tuple[Unseen, ...]:
    """A few vanish while they are read; a tenth does not."""
    unread = len(table.pids) - len(table.processes)
    if unread <= len(table.pids) // 10:
        return ()
    return (Unseen(Processes.name, f"{unread} of {len(table.pids)} processes were not looked at: time was up"),)


def _lost(before: ProcessTable, after: ProcessTable) -> Iterable[Process]:
    for process in before.processes.values():
        now = after.processes.get(process.pid)
        if now is process:
            continue
        replaced = now is not None and now.start_ticks != process.start_ticks
        if (replaced or process.pid not in after.pids) and not _is_kernel_thread(process):
            yield process


def _born(before: ProcessTable, after: ProcessTable) -> Iterable[Process]:
    # A tick is the resolution of the start time: what started within it may be older than the look.
    earliest = before.boottime_ns * _TICKS_PER_S // NS - 1
    for process in after.processes.values():
        known = before.processes.get(process.pid)
        if known is process:
            continue
        same = known is not None and known.start_ticks == process.start_ticks
        if process.start_ticks >= earliest and not same and not _is_kernel_thread(process):
            yield process


def _is_kernel_thread(process: Process) -> bool:
    return _KTHREADD in (process.pid, process.ppid)


def _cgroup_pattern(host: Host, pid: int) -> str:
    """Where a process lives, ids taken out; empty when it is already gone."""
    return pattern(memory_cgroup(host, pid))


def memory_cgroup(host: Host, pid: int) -> str:
    """The memory cgroup of a process; empty when it is already gone."""
    paths = parse_memberships(host.read_or_none(f"/proc/{pid}/cgroup", 1 << 16) or b"")
    return paths.get("memory") or paths.get("", "/") if paths else ""
