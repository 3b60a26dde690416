"""A process moves memory about while another of its threads runs elsewhere: each step interrupts the other core."""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import threading
import time
from pathlib import Path

from necroscope.lab.actors.timing import on_cues
from necroscope.lab.actors.walkers import episodes
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, figure, victim_stalled
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

_INTERRUPTS = Path("/proc/interrupts")
TABLE = 2 << 20  # what one page of a page table maps: moved in one piece, with a shootdown of its own
_MADV_NOHUGEPAGE = 15
_MREMAP = 1 | 2 | 4  # may move, to a fixed place, and keep the old place: no other thread shall get it meanwhile
_MAP_FIXED, _MAP_NORESERVE = 0x10, 0x4000


def play(stage: Stage) -> Truth:
    """The mover waits in the kernel for the other core to forget; the other core gets on with its work in between."""
    tables, share = stage.rng.randint(64, 384), stage.rng.uniform(0.7, 0.85)
    mover = stage.spawn(
        move_about, tables, stage.rng.choice(stage.other_cpus), share, cpu=stage.cpu, realtime=stage.rng.randint(1, 10)
    )
    stage.victim()
    with stage.recording():
        before = shootdowns(_INTERRUPTS.read_text())
        episodes(stage, mover)
        seconds = sum(one.seconds for one in stage.report.episodes)
        stage.report.happened["shootdowns_per_s"] = round((shootdowns(_INTERRUPTS.read_text()) - before) / seconds)
    return Truth("tlb-shootdown", Subject("process", mover.name), mover.name, mover.pid, stage.cpu, {"tables": tables})


def shootdowns(interrupts: str) -> int:
    """Interrupts for them so far, on all cores, by /proc/interrupts; 0 where the kernel does not count them."""
    rows = [line.split() for line in interrupts.splitlines() if line.lstrip().startswith("TLB:")]
    return sum(int(field) for field in rows[0][1:] if field.isdigit()) if rows else 0


def move_about(tables: int, other_cpu: int, share: float) -> None:
    """On a cue: a second thread computes on another core, so that it knows the memory; this one moves it to and fro."""
    memory = Moving(tables * TABLE)

    def compute(ends: float) -> None:
        os.sched_setaffinity(0, {other_cpu})
        data = bytes(1 << 20)
        while (began := time.monotonic()) < ends:
            while time.monotonic() < began + share / 20:
                hashlib.sha256(data)
            time.sleep((1 - share) / 20)

    def hard(ends: float) -> int:
        other, count = threading.Thread(target=compute, args=(ends,)), 0
        other.start()
        while time.monotonic() < ends:
            memory.move()
            count += 1
        other.join()
        return count

    on_cues(memory.move, hard)


class Moving:
    """Memory that changes between two addresses; a page in each of its tables is there."""

    def __init__(self, size: int) -> None:
        self._libc = libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
        usual, self._size = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, size
        room = libc.mmap(None, 2 * size + TABLE, 0, usual | _MAP_NORESERVE, -1, 0)
        self.here = -(-room // TABLE) * TABLE
        self._there = self.here + size
        libc.mmap(self.here, size, mmap.PROT_READ | mmap.PROT_WRITE, usual | _MAP_FIXED, -1, 0)
        libc.madvise(ctypes.c_void_p(self.here), ctypes.c_size_t(size), _MADV_NOHUGEPAGE)
        for offset in range(0, size, TABLE):
            ctypes.memset(self.here + offset, 1, 1)

    def move(self) -> None:
        """Move it."""
        if self._libc.mremap(self.here, self._size, self._size, _MREMAP, self._there) != self._there:
            raise OSError(ctypes.get_errno(), "mremap")
        self.here, self._there = self._there, self.here


scenario = Scenario(
    name="tlb-shootdown",
    summary="A process moves memory about; the kernel interrupts the core of its other thread each time, and waits.",
    play=play,
    cause="tlb-shootdown",
    subject="process",
    shows=(
        core_held(3.0, "system"),
        victim_stalled(0.5),
        functions_sampled("shootdowns", ("flush_tlb_mm_range", "smp_call_function_many_cond"), 0.4),
        figure("shootdowns_per_s", "interrupts for it", at_least=20_000, unit="/s"),
    ),
)
