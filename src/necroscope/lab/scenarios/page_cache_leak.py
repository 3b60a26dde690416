"""A crash-looping unit leaves log files whose pages another process keeps in memory: page cache pins its cgroups."""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from pathlib import Path

from necroscope.lab.actors.walkers import PAST, episodes, reader_below, walk_scenario
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.actors.zombies import run_maker
from necroscope.lab.environment.cgroup_tree import home, memory_mount
from necroscope.lab.environment.systemd import crashing_unit
from necroscope.lab.needs import SYSTEMD
from necroscope.lab.scenario import Subject, Truth
from necroscope.lab.scoring.checks import figure
from necroscope.lab.stage import Stage

_MCL_FUTURE = 2
_POLL_S = 0.05


def play(stage: Stage) -> Truth:
    """The pages are locked by a reader of the logs, so that reclaim passes them by and walks on."""
    logs = stage.folder / stage.name("file")
    logs.mkdir()
    node_name = stage.name("node")
    node = stage.systemd(node_name, binds=(logs,))
    top, unit = stage.cgroup(node_name), stage.name("unit")
    holder = stage.spawn(hold_files, str(logs))
    past = _leak(node.unit_cgroup(unit), stage.rng.randint(*PAST), logs)
    stage.say(f"{unit} has leaked {past} memory cgroups before")
    script = f"f={logs}/run-$$$$; head -c 8192 /dev/zero > $f; sync $f; sleep 0.1; exit 1"
    node.add_unit(unit, crashing_unit(script, stage.rng.randint(80, 250)))
    walker = reader_below(stage, node_name)
    stage.decoy("page-keeper", kind="process", name=holder.name)
    with stage.recording():
        episodes(stage, walker)
        restarts = int(node.show(unit, "NRestarts"))
        stage.report.happened.update(restarts=restarts, zombies=zombies_below(top) or 0, leaked_before=past)
    return Truth("zombie-memcg", Subject("unit", unit), walker.name, walker.pid, stage.cpu)


def _leak(cgroup: Path, count: int, folder: Path) -> int:
    cgroup.parent.mkdir(exist_ok=True)
    run_maker("page-cache", [cgroup.name] * count, cgroup.parent, home(memory_mount()), folder)
    return count


def hold_files(folder: str) -> None:
    """Map every file that appears in a folder, locked in memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mlockall(_MCL_FUTURE)
    kept: set[Path] = set()
    while True:
        for file in set(Path(folder).iterdir()) - kept:
            fd = os.open(file, os.O_RDONLY)
            size = os.fstat(fd).st_size
            if size:
                libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, mmap.MAP_SHARED, fd, ctypes.c_long(0))
                kept.add(file)
            os.close(fd)
        time.sleep(_POLL_S)


scenario = walk_scenario(
    name="page-cache-leak",
    summary="A crash-looping unit's log files stay in the page cache and pin its cgroups; a reader walks over them.",
    play=play,
    subject="unit",
    needs=(SYSTEMD,),
    shows=(figure("restarts", "restarts of the unit", at_least=20, unit="restarts"),),
)
