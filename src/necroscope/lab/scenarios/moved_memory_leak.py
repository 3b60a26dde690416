"""A live process keeps memory of cgroups that it left and removed; another process has to walk over them."""

from __future__ import annotations

import mmap
import os
import time
from functools import partial
from pathlib import Path

from necroscope.lab.actors.actors import Actor
from necroscope.lab.actors.timing import answer
from necroscope.lab.actors.walkers import PAST, episodes, reader_below, walk_scenario
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.actors.zombie_maker import make_one
from necroscope.lab.environment.cgroup_tree import home, memory_mount
from necroscope.lab.scenario import Subject, Truth
from necroscope.lab.stage import Stage

_ROOM = 20_000


def play(stage: Stage) -> Truth:
    """A worker pool that runs each job in a cgroup of its own and keeps what the job allocated."""
    slice_name = stage.name("slice")
    top = stage.cgroup(slice_name)
    pool, past = leaking_pool(stage, slice_name, PAST)
    walker = reader_below(stage, slice_name)
    with stage.recording():
        episodes(stage, walker)
        stage.report.happened.update(zombies=zombies_below(top) or 0, leaked_before=past)
    return Truth("zombie-memcg", Subject("process", pool.name), walker.name, walker.pid, stage.cpu)


def leaking_pool(stage: Stage, slice_name: str, past: tuple[int, int]) -> tuple[Actor, int]:
    """A worker pool below a slice that goes on leaking, and how many cgroups it has left already."""
    jobs = stage.name("cgroup")
    below = stage.cgroup(f"{slice_name}/{jobs}", parent=True)
    before, rest_s = stage.rng.randint(*past), stage.rng.uniform(0.1, 0.3)
    pool = stage.spawn(run_jobs, str(below), str(home(memory_mount())), stage.name("cgroup"), before, rest_s)
    pool.answer()
    stage.say(f"{pool.name} has left {before} memory cgroups before")
    return pool, before


def run_jobs(parent: str, back: str, word: str, past: int, rest_s: float) -> None:
    """Job after job: a cgroup, a page of memory, out again; the first `past` of them in a hurry."""
    held = mmap.mmap(-1, _ROOM * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.madvise(mmap.MADV_NOHUGEPAGE)
    home_fd = os.open(f"{back}/cgroup.procs", os.O_WRONLY)
    for number in range(_ROOM):
        make_one(Path(parent) / f"{word}-{number}", home_fd, partial(held.__setitem__, number * mmap.PAGESIZE, 1))
        if number + 1 == past:
            answer("ready")
        if number >= past:
            time.sleep(rest_s)
    time.sleep(3600)


scenario = walk_scenario(
    name="moved-memory-leak",
    summary="A live process keeps memory of cgroups that it left and removed; another reclaims over them.",
    play=play,
    subject="process",
)
