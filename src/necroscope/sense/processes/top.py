"""Who used the cores most since the look before, and how long they waited for one: a recorder's look at processes.

The processes that used most, whoever used a twentieth of a core, and whoever waited long for one without being made to
by its own niceness. Only these few are asked for their cgroup, and for the run delay of their threads. A process that
lived and died between two looks is not seen here; the profile has its samples.

Sources: /proc/PID/stat, /proc/PID/cgroup, /proc/PID/task/TID/schedstat (CONFIG_SCHED_INFO).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.sense.cpu.run_delay import parse_task_delay
from necroscope.sense.host import Host
from necroscope.sense.processes.names import Process, memory_cgroup
from necroscope.sense.processes.sweep import Moved, ProcessSweep
from necroscope.vocabulary.model import ProcessUse, Reading, Sample, Signal, Unseen

MOST = 10
BUSY_SHARE = 0.05
MOST_BUSY = 64
# Threads asked for their delay in one look; a process with more than is left is not asked.
MAX_THREADS = 512
# Processes that run or wait at the instant of a look, and used nothing: they may wait for a core since long.
MOST_WAITING = 16

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

Identity = tuple[int, int]


def nobody() -> Sequence[int]:
    """Where nothing is sampled, nobody is known to be busy beforehand."""
    return ()


class TopProcesses:
    """The sensor. `sampled` names processes that were seen on a core since it was last asked, the most often first:
    they are looked at first where there are too many to look at all. It keeps the run delays of the last look."""

    name: ClassVar[str] = "processes"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("processes", "processes", "gauge", "Processes on the node"),
        Signal("processes_looked_at", "processes", "gauge", "Processes whose use was read in this look."),
    )

    def __init__(self, sampled: Callable[[], Sequence[int]] = nobody, sweep: ProcessSweep | None = None) -> None:
        self._sampled, self._sweep = sampled, sweep or ProcessSweep()
        self._delays: dict[Identity, float] = {}
        self._reported: tuple[int, ...] = ()
        self._before_ns: int | None = None
        self._sparing = False

    def spare(self, sparing: bool) -> None:
        """Look at nobody but those that were sampled or reported before, or at all again."""
        self._sparing = sparing

    def read(self, host: Host) -> Reading:
        """The first look yields numbers only, every other one the use since the look before it."""
        now_ns = host.clock().boottime_ns
        passed_s = (now_ns - self._before_ns) / NS if self._before_ns is not None else 0.0
        seen = self._sweep.look(host, (*self._reported, *self._sampled()), others=not self._sparing)
        first, self._before_ns = self._before_ns is None, now_ns
        uses = () if first else self._uses(busiest(seen.moved, passed_s), host)
        samples = (Sample("processes", seen.processes), Sample("processes_looked_at", seen.looked_at))
        unseen = _SPARING if self._sparing else _IN_TURN
        return Reading(samples, uses, () if seen.looked_at == seen.processes else (unseen,))

    def _uses(self, ranked: Sequence[Moved], host: Host) -> tuple[ProcessUse, ...]:
        """The busiest first."""
        delays = _delays(host, [one.process for one in ranked])
        known, self._delays = self._delays, delays
        self._reported = tuple(one.process.pid for one in ranked)
        uses = ((one, _since(one, known, delays)) for one in ranked)
        return tuple(
            ProcessUse(
                pid=one.process.pid,
                start_ticks=one.process.start_ticks,
                comm=one.process.comm,
                cgroup=memory_cgroup(host, one.process.pid),
                user_s=one.user_ticks / _TICKS_PER_S,
                system_s=one.system_ticks / _TICKS_PER_S,
                run_delay_s=delay,
                rss_bytes=one.process.rss_pages * _PAGE_BYTES,
                cpu=one.process.cpu,
            )
            for one, delay in uses
            if one.user_ticks + one.system_ticks > 0 or delay
        )


_IN_TURN = Unseen(
    TopProcesses.name,
    "there are more processes than can be looked at every ten seconds: those that were sampled are, the others in turn",
)

_SPARING = Unseen(
    TopProcesses.name,
    "to save CPU, only processes that were sampled are looked at: who waits for a core and never gets it is not seen",
)


def busiest(moved: Iterable[Moved], passed_s: float) -> list[Moved]:
    """Who used most, the busiest first, then some that used nothing and want to run."""
    used = [one for one in moved if one.user_ticks + one.system_ticks > 0]
    waiting = [one for one in moved if one.user_ticks + one.system_ticks == 0]
    used.sort(key=lambda one: (-one.user_ticks - one.system_ticks, one.process.pid))
    enough = BUSY_SHARE * passed_s * _TICKS_PER_S
    busy = sum(1 for one in used if one.user_ticks + one.system_ticks >= enough)
    return used[: min(max(MOST, busy), MOST_BUSY)] + waiting[:MOST_WAITING]


def _since(one: Moved, known: dict[Identity, float], delays: dict[Identity, float]) -> float | None:
    """Delay since the look before: a young process has all of its own; threads that ended took theirs with them."""
    who = _identity(one.process)
    if who not in delays or (who not in known and not one.young):
        return None
    return max(0.0, delays[who] - known.get(who, 0.0))


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
