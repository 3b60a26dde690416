"""Threads of one process want the lock of their address space: one holds it, another spins for it on its core."""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
import time

from necroscope.lab.actors.timing import on_cues
from necroscope.lab.actors.walkers import episodes
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, victim_stalled
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

_MADV_NOHUGEPAGE = 15
_SPINNING = ("rwsem_spin_on_owner", "rwsem_optimistic_spin", "osq_lock", "rwsem_down_write_slowpath")
_PROTECTIONS = (mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE)


def play(stage: Stage) -> Truth:
    """A writer of the address space waits by spinning as long as the one who holds the lock runs on another core."""
    size = stage.rng.randint(64, 192) << 20
    owner_cpu, pause = stage.rng.choice(stage.other_cpus), stage.rng.uniform(0.1, 0.2)
    threads = stage.rng.randint(3, 5)
    pool = stage.spawn(contend, size, threads, owner_cpu, pause, cpu=stage.cpu, realtime=1)
    stage.victim()
    with stage.recording():
        episodes(stage, pool)
    notes = {"area_bytes": size, "threads": threads, "holder_cpu": owner_cpu}
    return Truth("lock-contention", Subject("process", pool.name), pool.name, pool.pid, stage.cpu, notes)


def contend(size: int, threads: int, owner_cpu: int, pause: float) -> None:
    """On a cue: one thread, on another core, changes the protection of a large area again and again, which takes tens
    of milliseconds under the lock; the others do so with small areas, and wait for the lock each time.

    The one has the priority of the others: nobody spins for one who does not run. They are several, because the kernel
    stops one of them now and then to let others run, and whoever is stopped sleeps until the lock is free.
    """
    large, smalls = Area(size), [Area(mmap.PAGESIZE) for _ in range(threads)]

    def hold(ends: float) -> None:
        os.sched_setaffinity(0, {owner_cpu})
        while (began := time.monotonic()) < ends:
            large.protect()
            time.sleep((time.monotonic() - began) * pause)

    def want(small: Area, ends: float) -> None:
        while time.monotonic() < ends:
            small.protect()

    def hard(ends: float) -> int:
        team = [threading.Thread(target=hold, args=(ends,))]
        team += [threading.Thread(target=want, args=(small, ends)) for small in smalls]
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()
        return len(team)

    on_cues(smalls[0].protect, hard)


class Area:
    """Memory with small pages, all there, that changes between writable and not."""

    def __init__(self, size: int) -> None:
        self._libc = ctypes.CDLL(None)
        self._kept = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._kept.madvise(_MADV_NOHUGEPAGE)
        for offset in range(0, size, mmap.PAGESIZE):
            self._kept[offset] = 1
        self._size = ctypes.c_size_t(size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._kept))
        self._writable = True

    def protect(self) -> None:
        """Change it."""
        self._writable = not self._writable
        self._libc.mprotect(ctypes.c_void_p(self.address), self._size, _PROTECTIONS[self._writable])


scenario = Scenario(
    name="lock-contention",
    summary="A thread spins in the kernel for the lock of its address space, which another thread holds.",
    play=play,
    cause="lock-contention",
    subject="process",
    shows=(
        core_held(2.0, "system"),
        victim_stalled(0.2),
        functions_sampled("spinning for a lock", _SPINNING, 0.5),
    ),
)
