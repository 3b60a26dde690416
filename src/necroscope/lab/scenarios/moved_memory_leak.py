"""A live process keeps memory of cgroups that it left and removed; another process has to walk over them."""

from __future__ import annotations

import mmap
import os
import sys
import time
from functools import partial
from pathlib import Path

from necroscope.lab.actors.walkers import PAST, WALKED_OVER, episodes, limit, reader, room_bytes
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.actors.zombie_maker import make_one
from necroscope.lab.environment.cgroup_tree import home, memory_mount
from necroscope.lab.needs import MEMORY_CGROUPS
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.stage import Stage

_ROOM = 20_000


def play(stage: Stage) -> Truth:
    """A worker pool that runs each job in a cgroup of its own and keeps what the job allocated."""
    slice_name, jobs = stage.name("slice"), stage.name("cgroup")
    top = stage.cgroup(slice_name)
    stage.cgroup(f"{slice_name}/{jobs}", parent=True)
    past, rest_s = stage.rng.randint(*PAST), stage.rng.uniform(0.1, 0.3)
    pool = stage.spawn(run_jobs, str(top / jobs), str(home(memory_mount())), stage.name("cgroup"), past, rest_s)
    pool.answer()
    stage.say(f"{pool.name} has left {past} memory cgroups before")
    walker = reader(stage, stage.cgroup(f"{slice_name}/{stage.name('cgroup')}"))
    limit(top, room_bytes(stage))
    stage.victim()
    with stage.recording():
        episodes(stage, walker)
        stage.told.happened.update(zombies=zombies_below(top) or 0, leaked_before=past)
    return Truth("zombie-memcg", Subject("process", pool.name), walker.name, walker.pid, stage.cpu)


def run_jobs(parent: str, back: str, word: str, past: int, rest_s: float) -> None:
    """Job after job: a cgroup, a page of memory, out again; the first `past` of them in a hurry."""
    held = mmap.mmap(-1, _ROOM * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.madvise(mmap.MADV_NOHUGEPAGE)
    home_fd = os.open(f"{back}/cgroup.procs", os.O_WRONLY)
    for number in range(_ROOM):
        make_one(Path(parent) / f"{word}-{number}", home_fd, partial(held.__setitem__, number * mmap.PAGESIZE, 1))
        if number + 1 == past:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
        if number >= past:
            time.sleep(rest_s)
    time.sleep(3600)


scenario = Scenario(
    name="moved-memory-leak",
    summary="A live process keeps memory of cgroups that it left and removed; another reclaims over them.",
    play=play,
    cause="zombie-memcg",
    subject="process",
    innocent=True,
    needs=(MEMORY_CGROUPS,),
    shows=WALKED_OVER,
)
