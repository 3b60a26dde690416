"""A process takes memory, touches it, gives it back and takes it again: the kernel hands out pages and nothing else."""

from __future__ import annotations

import mmap
import os
import select
import sys
import time

from necroscope.lab.actors.timing import answer
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, figure, victim_stalled
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

_FUNCTIONS = ("handle_mm_fault", "__handle_mm_fault", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault")
_REST_S = 0.3


def play(stage: Stage) -> Truth:
    """An allocator that keeps nothing: with private memory each page is made anew, with a shared file it is found."""
    kind = stage.rng.choice(("anonymous", "file"))
    megabytes = stage.rng.randint(32, 256)
    file = stage.shm() / f"data-{stage.name('file')}"
    if kind == "file":
        file.write_bytes(b"x" * (megabytes << 20))
    worker = stage.spawn(take_and_give, str(file) if kind == "file" else "", megabytes, cpu=stage.cpu, realtime=1)
    stage.victim()
    pages = 0
    with stage.recording():
        for _ in range(stage.rng.choice((1, 2))):
            with stage.episode():
                worker.cue(f"{stage.seconds(4.0, 7.0):.2f}")
                pages += int(worker.answer())
            stage.symptom()
            stage.sleep(stage.seconds(2.0, 6.0))
    stage.report.happened.update(memory=kind, megabytes=megabytes, pages=pages)
    return Truth("page-fault-storm", Subject("process", worker.name), worker.name, worker.pid, stage.cpu)


def take_and_give(path: str, megabytes: int) -> None:
    """A page now and then; on the cue `SECONDS` all of it, over and over; says how many pages it touched."""
    fd = os.open(path, os.O_RDWR) if path else -1
    while True:
        if not select.select([sys.stdin], [], [], _REST_S)[0]:
            touch(fd, 1)
            continue
        ends, count = time.monotonic() + float(sys.stdin.readline() or 0), 0
        while time.monotonic() < ends:
            count += touch(fd, megabytes)
        answer(count)


def touch(fd: int, megabytes: int) -> int:
    """Write a byte into each page of a mapping that is gone afterwards; a slice, so that hardly any of it is Python."""
    size = megabytes << 20
    pages = size // mmap.PAGESIZE
    flags = mmap.MAP_PRIVATE | (0 if fd >= 0 else mmap.MAP_ANONYMOUS)
    with mmap.mmap(fd, size, flags=flags) as area:
        area.madvise(mmap.MADV_NOHUGEPAGE)
        area[:: mmap.PAGESIZE] = bytes(pages)
    return pages


scenario = Scenario(
    name="page-fault-storm",
    summary="A process takes memory, touches it and gives it back without a rest; handing out pages holds the core.",
    play=play,
    cause="page-fault-storm",
    subject="process",
    shows=(
        core_held(3.0, "system"),
        victim_stalled(0.5),
        functions_sampled("page faults", _FUNCTIONS, 0.45),
        figure("pages", "pages touched", at_least=500_000, unit="pages"),
    ),
)
