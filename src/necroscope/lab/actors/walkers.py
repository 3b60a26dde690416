"""Walkers: processes that do ordinary work and have to walk over whatever was leaked beside them.

Where the memory of a common parent is at its limit, every page that somebody below it reads first has to find a page to
give up, and looks for one in every memory cgroup under the parent, the removed ones included (Linux 5.8 and later; on
older kernels readers of statistics walk as well).
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from necroscope.lab.actors.actors import Actor
from necroscope.lab.actors.timing import answer
from necroscope.lab.needs import MEMORY_CGROUPS
from necroscope.lab.scenario import Need, Scenario, Show, Truth
from necroscope.lab.scoring.checks import core_held, figure, victim_stalled
from necroscope.lab.stage import Stage

FILE_BYTES = 1 << 30
PAST = (6000, 10000)  # how many leaked before the recording: enough to take a core
ROOM_BYTES = 48 << 20
WALKED_OVER = (
    core_held(3.0, "system"),
    victim_stalled(0.5),
    figure("zombies", "zombies below the common parent", at_least=5000, unit="cgroups"),
)
"""What a walk over thousands of zombies shows."""
_READ = 1 << 20
_REST_S = 0.25


def reader(stage: Stage, cgroup: Path, name: str = "") -> Actor:
    """A process in `cgroup`, on the stage's core, that reads a large file. It works a little all the time; on the cue
    `SECONDS` it reads without rest for so long, then answers with the bytes it read.

    It has real-time priority: on kernels that reschedule in reclaim this stands for those that do not.
    """
    file = stage.folder / f"data-{stage.name('file')}"
    with file.open("wb") as made:
        made.truncate(FILE_BYTES)  # holes: pages come into the cache without a disk
    return stage.spawn(read_file, str(file), name=name, cpu=stage.cpu, cgroup=cgroup, realtime=1)


def reader_below(stage: Stage, parent: str) -> Actor:
    """A reader in a cgroup below `parent`, whose memory is at its limit from now on; and a victim on the core."""
    walker = reader(stage, stage.cgroup(f"{parent}/{stage.name('cgroup')}"))
    limit(stage.cgroup(parent), room_bytes(stage))
    stage.victim()
    return walker


def walk_scenario(
    name: str,
    summary: str,
    play: Callable[[Stage], Truth],
    subject: str,
    needs: tuple[Need, ...] = (),
    shows: tuple[Show, ...] = (),
    decoys: int = 2,
) -> Scenario:
    """A scenario in which an innocent process walks over what `subject` has leaked."""
    return Scenario(
        name=name,
        summary=summary,
        play=play,
        cause="zombie-memcg",
        subject=subject,
        innocent=True,
        needs=(MEMORY_CGROUPS, *needs),
        shows=(*WALKED_OVER, *shows),
        decoys=decoys,
    )


def episodes(stage: Stage, walker: Actor, after: Callable[[], None] = lambda: None, related: bool = True) -> None:
    """One or two times: the walker works hard for some seconds, then a driver complains, of this core or (not
    `related`) of something else; `after` each."""
    for _ in range(stage.rng.choice((1, 2))):
        with stage.episode():
            walker.cue(f"{stage.seconds(4.0, 7.0):.2f}")
            walker.answer()
        stage.symptom(related=related)
        stage.sleep(stage.seconds(2.0, 6.0))
        after()


def room_bytes(stage: Stage) -> int:
    """How much the common parent may grow: enough for what leaks during the recording, or the kernel would kill."""
    return round(ROOM_BYTES * max(1.0, stage.scale))


def limit(cgroup: Path, room_bytes: int) -> int:
    """Let the memory of a cgroup grow by no more than this; the limit."""
    v1 = cgroup / "memory.limit_in_bytes"
    usage = int((cgroup / ("memory.usage_in_bytes" if v1.exists() else "memory.current")).read_text())
    (v1 if v1.exists() else cgroup / "memory.max").write_text(str(usage + room_bytes))
    return usage + room_bytes


def read_file(path: str) -> None:
    """What the reader does. Two threads read, one of them without real-time priority: the kernel takes a twentieth of
    each second away from real-time threads, and the core would be idle then."""
    fd, buffer = os.open(path, os.O_RDONLY), bytearray(4096)
    while True:
        if not select.select([sys.stdin], [], [], _REST_S)[0]:
            os.preadv(fd, [buffer], 0)
            continue
        ends = time.monotonic() + float(sys.stdin.readline() or 0)
        helper = threading.Thread(target=_read_without_priority, args=(fd, ends))
        helper.start()
        count = _read_on(fd, ends, 0)
        helper.join()
        answer(count)


def _read_without_priority(fd: int, ends: float) -> None:
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    _read_on(fd, ends, FILE_BYTES // 2)


def _read_on(fd: int, ends: float, at: int) -> int:
    buffer, count = bytearray(_READ), 0
    while time.monotonic() < ends:
        got = os.preadv(fd, [buffer], at)
        at, count = (at + got) % FILE_BYTES, count + got
    return count
