"""A process whose memory limit is smaller than what it needs reclaims its own pages all the time; nobody leaks."""

from __future__ import annotations

import mmap
import os
import random
import time

from necroscope.lab.actors.timing import answer, on_cues
from necroscope.lab.actors.walkers import episodes, limit
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.needs import MEMORY_CGROUPS
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, figure, victim_stalled
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

FILE_BYTES = 256 << 20
_ROUND = 256


def play(stage: Stage) -> Truth:
    """Its own data fills most of the limit; the file it looks things up in has to do with the little that is left."""
    cgroup = stage.cgroup(stage.name("cgroup"))
    file = stage.folder / stage.name("file")
    with file.open("wb") as made:
        made.truncate(FILE_BYTES)
    held, room = stage.rng.randint(48, 160) << 20, stage.rng.randint(12, 24) << 20
    mappings = stage.rng.randint(150, 250)
    worker = stage.spawn(
        look_up, str(file), held, mappings, stage.rng.random(), cpu=stage.cpu, cgroup=cgroup, realtime=1
    )
    worker.answer()
    most = limit(cgroup, room)
    stage.victim()
    with stage.recording():
        episodes(stage, worker)
        stage.report.happened.update(limit_bytes=most, zombies=zombies_below(cgroup) or 0)
    notes = {"cgroup": stage.cgroup_path(cgroup)}
    return Truth("memcg-reclaim", Subject("process", worker.name), worker.name, worker.pid, stage.cpu, notes)


def look_up(path: str, held: int, mappings: int, seed: float) -> None:
    """Fill memory of its own; then look at pages of a file, here and there: a few, or on a cue without rest.

    The file is mapped often, as programs and their data are by many processes: to give up a page of it is work.
    """
    own = mmap.mmap(-1, held, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    own.madvise(mmap.MADV_NOHUGEPAGE)
    for offset in range(0, held, mmap.PAGESIZE):
        own[offset] = 1
    fd, draw = os.open(path, os.O_RDONLY), random.Random(seed)
    area, *_kept = [mmap.mmap(fd, FILE_BYTES, prot=mmap.PROT_READ) for _ in range(mappings)]
    area.madvise(mmap.MADV_RANDOM)
    places = [draw.randrange(0, FILE_BYTES, mmap.PAGESIZE) for _ in range(1 << 16)]

    def some(first: int, count: int) -> None:
        for place in places[first : first + count]:
            area[place]

    def hard(ends: float) -> int:
        count = 0
        while time.monotonic() < ends:
            some(count % len(places), _ROUND)
            count += _ROUND
        return count

    answer("ready")
    on_cues(lambda: some(0, 8), hard)


scenario = Scenario(
    name="tight-limit",
    summary="A process at a memory limit that is too small for it reclaims its own pages without end; nothing leaks.",
    play=play,
    cause="memcg-reclaim",
    subject="process",
    needs=(MEMORY_CGROUPS,),
    shows=(
        core_held(3.0, "system"),
        victim_stalled(0.5),
        functions_sampled("reclaim at a limit", ("try_to_free_mem_cgroup_pages",), 0.4),
        figure("zombies", "zombies below the limit", at_most=100, unit="cgroups"),
    ),
)
