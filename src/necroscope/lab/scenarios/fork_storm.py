"""A process with much memory forks on and on: the kernel copies its page tables each time, and takes them down."""

from __future__ import annotations

import mmap
import os
import time

from necroscope.lab.actors.timing import answer, on_cues
from necroscope.lab.actors.walkers import episodes
from necroscope.lab.needs import memory_free
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, figure, victim_stalled
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

_MEGABYTES = (1536, 2560)
_FUNCTIONS = ("copy_page_range", "copy_pte_range", "copy_p4d_range", "copy_pud_range", "copy_pmd_range")


def play(stage: Stage) -> Truth:
    """What saves itself by forking (a database's snapshot) does so once in a while, and for some seconds on and on."""
    megabytes = stage.rng.randint(*_MEGABYTES)
    forker = stage.spawn(fork_on, megabytes, cpu=stage.cpu, realtime=1)
    forker.answer(60)
    stage.victim()
    with stage.recording():
        episodes(stage, forker)
    stage.report.happened["megabytes"] = megabytes
    return Truth("fork-copy", Subject("process", forker.name), forker.name, forker.pid, stage.cpu)


def fork_on(megabytes: int) -> None:
    """Have so much memory in small pages; hardly anything otherwise, on a cue one child after the other."""
    with mmap.mmap(-1, megabytes << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        area.madvise(mmap.MADV_NOHUGEPAGE)
        area[:: mmap.PAGESIZE] = bytes(len(area) // mmap.PAGESIZE)
        answer("ready")
        on_cues(lambda: None, _fork_until)


def _fork_until(ends: float) -> int:
    count = 0
    while time.monotonic() < ends:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        count += 1
    return count


scenario = Scenario(
    name="fork-storm",
    summary="A process with gigabytes of memory forks on and on; copying its page tables holds the core.",
    play=play,
    cause="fork-copy",
    subject="process",
    needs=(memory_free(_MEGABYTES[1] + 1024),),
    shows=(
        core_held(3.0, "system"),
        victim_stalled(0.5),
        functions_sampled("page tables being copied", _FUNCTIONS, 0.3),
        figure("megabytes", "memory of who forks", at_least=_MEGABYTES[0], unit="MB"),
    ),
)
