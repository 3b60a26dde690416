"""Who used the cores most between two looks at all processes, and how long they waited for one.

The processes that used most, and whoever used a twentieth of a core; what used nothing is left out. Only these few are
asked for their cgroup and run delay. A process that lived and died between two looks is not seen here; the profile has
its samples.

Sources: /proc/PID/cgroup, /proc/PID/task/TID/schedstat (CONFIG_SCHED_INFO).
"""

from __future__ import annotations

import os

from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.model import ProcessUse
from necroscope.sense.host import Host
from necroscope.sense.process import Process, ProcessTable, memory_cgroup
from necroscope.sense.run_delay import parse_task_delay

MOST = 10
BUSY_SHARE = 0.05
MOST_BUSY = 64
# Threads asked for their delay in one look; a process with more than is left is not asked.
MAX_THREADS = 512

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

Identity = tuple[int, int]


class TopProcesses:
    """Compares tables of processes; it keeps the run delays of the last look."""

    def __init__(self) -> None:
        self._delays: dict[Identity, float] = {}

    def between(self, before: ProcessTable, after: ProcessTable, host: Host) -> tuple[ProcessUse, ...]:
        """The busiest processes first."""
        ranked = busiest(before, after)
        delays = _delays(host, [process for process, _, _ in ranked])
        known, self._delays = self._delays, delays
        return tuple(
            ProcessUse(
                pid=process.pid,
                start_ticks=process.start_ticks,
                comm=process.comm,
                cgroup=memory_cgroup(host, process.pid),
                user_s=user / _TICKS_PER_S,
                system_s=system / _TICKS_PER_S,
                run_delay_s=_since(_identity(process), _started_between(before, process), known, delays),
                rss_bytes=process.rss_pages * _PAGE_BYTES,
                cpu=process.cpu,
            )
            for process, user, system in ranked
        )


def busiest(before: ProcessTable, after: ProcessTable) -> list[tuple[Process, int, int]]:
    """Processes with the user and system ticks they used in between, the busiest first."""
    used: list[tuple[Process, int, int]] = []
    for pid, process in after.processes.items():
        known = before.processes.get(pid)
        if known is process:
            continue
        if known is not None and known.start_ticks == process.start_ticks:
            user, system = process.user_ticks - known.user_ticks, process.system_ticks - known.system_ticks
        elif _started_between(before, process):
            user, system = process.user_ticks, process.system_ticks
        else:
            continue
        if user + system > 0:
            used.append((process, max(user, 0), max(system, 0)))
    used.sort(key=lambda one: (-one[1] - one[2], one[0].pid))
    enough = BUSY_SHARE * (after.boottime_ns - before.boottime_ns) / NS * _TICKS_PER_S
    busy = sum(1 for _, user, system in used if user + system >= enough)
    return used[: min(max(MOST, busy), MOST_BUSY)]


def _started_between(before: ProcessTable, process: Process) -> bool:
    # one tick is the resolution of the start
    return process.start_ticks >= before.boottime_ns * _TICKS_PER_S // NS - 1


def _since(one: Identity, young: bool, known: dict[Identity, float], delays: dict[Identity, float]) -> float | None:
    """Delay since the look before: a young process has all of its own; threads that ended took theirs with them."""
    if one not in delays or (one not in known and not young):
        return None
    return max(0.0, delays[one] - known.get(one, 0.0))


def _delays(host: Host, processes: list[Process]) -> dict[Identity, float]:
    """Run delay so far, over all threads that live, of each process that can be asked."""
    found: dict[Identity, float] = {}
    left = MAX_THREADS
    for process in processes:
        try:
            threads = host.names(f"/proc/{process.pid}/task")
        except Unavailable:
            continue
        if len(threads) > left:
            continue
        left -= len(threads)
        texts = (host.read_or_none(f"/proc/{process.pid}/task/{thread}/schedstat", 256) for thread in threads)
        delays = [delay for text in texts if text and (delay := parse_task_delay(text)) is not None]
        if delays:
            found[_identity(process)] = sum(delays)
    return found


def _identity(process: Process) -> Identity:
    return process.pid, process.start_ticks
