"""A monitoring agent reads smaps of a process with a huge address space; the kernel visits each page of it."""

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

_POOL_BYTES = 128 << 20
_REST_S = 0.5


def play(stage: Stage) -> Truth:
    """The agent looks at a status file all the time, and every now and then at every page."""
    pool = stage.spawn(hold_pool, stage.rng.randint(200, 400))
    held = int(pool.answer())
    stage.say(f"{pool.name} has mapped {held >> 30} GiB")
    file = stage.rng.choice(("smaps", "smaps_rollup"))
    agent = stage.spawn(look, pool.pid, file, cpu=stage.cpu, realtime=1)
    stage.victim()
    stage.decoy("huge-process", kind="process", name=pool.name)
    reads = 0
    with stage.recording():
        for _ in range(stage.rng.choice((1, 2))):
            with stage.episode():
                agent.cue(f"{stage.seconds(4.0, 7.0):.2f}")
                reads += int(agent.answer())
            stage.symptom()
            stage.sleep(stage.seconds(2.0, 6.0))
    stage.report.happened.update(file=file, reads=reads, mapped_gib=held >> 30)
    return Truth("smaps-walk", Subject("process", agent.name), agent.name, agent.pid, stage.cpu)


def hold_pool(times: int) -> None:
    """Map the same memory again and again, as a server does whose workers share a pool; says how much that is."""
    fd = os.memfd_create("pool")
    os.ftruncate(fd, _POOL_BYTES)
    flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
    held = [mmap.mmap(fd, _POOL_BYTES, flags=flags) for _ in range(times)]
    answer(_POOL_BYTES * len(held))
    sys.stdin.read()


def look(pid: int, file: str) -> None:
    """What the agent does: on the cue `SECONDS` it reads the file again and again; says how often."""
    while True:
        if not select.select([sys.stdin], [], [], _REST_S)[0]:
            _read(f"/proc/{pid}/status")
            continue
        ends, count = time.monotonic() + float(sys.stdin.readline() or 0), 0
        while time.monotonic() < ends:
            _read(f"/proc/{pid}/{file}")
            count += 1
        answer(count)


def _read(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, 1 << 16):
        pass
    os.close(fd)


scenario = Scenario(
    name="smaps-reader",
    summary="A monitoring agent reads smaps of a process with a huge address space and holds a core.",
    play=play,
    cause="smaps-walk",
    subject="process",
    shows=(
        core_held(3.0, "system"),
        victim_stalled(0.5),
        functions_sampled("a walk over page tables for smaps", ("smap_gather_stats", "smaps_pte_range"), 0.6),
        figure("reads", "whole reads of the file", at_least=2, unit="reads"),
    ),
)
