"""A process makes a cgroup for each job and never removes one; an innocent reader of statistics visits them all."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from necroscope.lab.actors.timing import answer, on_cues
from necroscope.lab.actors.walkers import episodes
from necroscope.lab.needs import MEMORY_CGROUPS
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, figure, victim_stalled
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

_PAST = (2500, 5000)
_VISITS = (
    "kernfs_fop_readdir", "kernfs_iop_lookup", "kernfs_dop_revalidate", "kernfs_iop_permission", "kernfs_fop_open",
    "kernfs_fop_read_iter", "kernfs_seq_show", "kernfs_seq_start", "kernfs_fop_release", "cgroup_seqfile_show",
    "cgroup_pidlist_start", "memory_stat_show", "memcg_stat_show", "memcg_numa_stat_show", "memory_numa_stat_show",
)  # fmt: skip


def play(stage: Stage) -> Truth:
    """The directories were there before the recording, and more come during it."""
    slice_name, jobs = stage.name("slice"), stage.name("cgroup")
    top = stage.cgroup(slice_name)
    below = stage.cgroup(f"{slice_name}/{jobs}", parent=True)
    past, rest_s = stage.rng.randint(*_PAST), stage.rng.uniform(0.1, 0.3)
    runner = stage.spawn(
        run_jobs, str(below), stage.name("cgroup"), past, rest_s,
        cgroup=stage.cgroup(f"{slice_name}/{stage.name('cgroup')}"),
    )  # fmt: skip
    runner.answer()
    stage.say(f"{runner.name} has left {past} cgroup directories before")
    reader = stage.spawn(read_statistics, str(top), cpu=stage.cpu, realtime=1)
    stage.victim()
    with stage.recording():
        episodes(stage, reader)
        count = sum(1 for _ in os.scandir(below) if _.is_dir())
        stage.report.happened.update(directories=count, left_before=past)
    return Truth("cgroup-directories", Subject("process", runner.name), reader.name, reader.pid, stage.cpu)


def run_jobs(parent: str, word: str, past: int, rest_s: float) -> None:
    """Job after job in a cgroup of its own; the first `past` of them in a hurry. None is removed."""
    number = 0
    while True:
        cgroup = Path(parent, f"{word}-{number}")
        cgroup.mkdir()
        number += 1
        if number == past:
            answer("ready")
        if number >= past:
            _work_in(cgroup)
            time.sleep(rest_s)


def _work_in(cgroup: Path) -> None:
    """A child does the job there, and ends: the cgroup stays, empty."""
    child = os.fork()
    if child == 0:
        (cgroup / "cgroup.procs").write_text("0")
        sum(range(20_000))
        os._exit(0)
    os.waitpid(child, 0)


def read_statistics(top: str) -> None:
    """What an agent does: it looks for cgroups, and reads each one's memory and processes."""
    names = ("memory.stat", "memory.numa_stat", "memory.usage_in_bytes", "memory.current", "cgroup.procs")
    files = [name for name in names if Path(top, name).exists()]

    def hard(ends: float) -> int:
        count = 0
        while time.monotonic() < ends:
            for folder in folders_below(top):
                read_files(folder, files)
                count += 1
                if time.monotonic() >= ends:
                    break
        return count

    on_cues(lambda: read_files(top, files), hard)


def folders_below(top: str) -> Iterator[str]:
    """A directory and all below it."""
    yield top
    with os.scandir(top) as entries:
        folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    for folder in folders:
        yield from folders_below(folder)


def read_files(folder: str, files: list[str]) -> int:
    """Read files of a directory; how many bytes."""
    place, size = os.open(folder, os.O_RDONLY | os.O_DIRECTORY), 0
    try:
        for name in files:
            fd = os.open(name, os.O_RDONLY, dir_fd=place)
            try:
                size += len(os.read(fd, 1 << 16))
            finally:
                os.close(fd)
    finally:
        os.close(place)
    return size


scenario = Scenario(
    name="cgroup-directories",
    summary="A process leaves thousands of cgroup directories behind; a reader of statistics visits them all.",
    play=play,
    cause="cgroup-directories",
    subject="process",
    innocent=True,
    needs=(MEMORY_CGROUPS,),
    shows=(
        core_held(2.0, "system"),
        victim_stalled(0.5),
        functions_sampled("files of cgroups", _VISITS, 0.3),
        figure("directories", "cgroup directories left", at_least=2500, unit="directories"),
    ),
)
