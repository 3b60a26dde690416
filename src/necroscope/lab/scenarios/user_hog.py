"""A process that computes on one core and lets nobody else run: pinned, with real-time or the highest priority."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import zlib
from collections.abc import Callable

from necroscope.lab.actors.timing import on_cues
from necroscope.lab.actors.walkers import episodes
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, victim_stalled
from necroscope.lab.stage import Stage

_BLOCK = 1 << 18
_HIGHEST = -20


def play(stage: Stage) -> Truth:
    """Hashing or packing, in one thread of real-time priority or in a few of the highest usual one."""
    work, realtime = stage.rng.choice(("hash", "pack")), stage.rng.choice((0, 1, 20))
    threads = 1 if realtime else stage.rng.randint(3, 5)
    hog = stage.spawn(
        compute, work, threads, stage.rng.uniform(0.5, 3.0),
        cpu=stage.cpu, realtime=realtime, nice=0 if realtime else _HIGHEST,
    )  # fmt: skip
    stage.victim()
    with stage.recording():
        episodes(stage, hog)
    notes = {"work": work, "threads": threads, "realtime": realtime}
    return Truth("user-hog", Subject("process", hog.name), hog.name, hog.pid, stage.cpu, notes)


def compute(work: str, threads: int, little: float) -> None:
    """A few milliseconds of it now and then; on a cue, without rest. Both kinds let other threads of Python run."""
    data = os.urandom(_BLOCK)
    step: Callable[[], object] = {"hash": lambda: hashlib.sha512(data), "pack": lambda: zlib.compress(data, 6)}[work]

    def loop(ends: float) -> None:
        while time.monotonic() < ends:
            step()

    def hard(ends: float) -> int:
        others = [threading.Thread(target=loop, args=(ends,)) for _ in range(threads - 1)]
        for thread in others:
            thread.start()
        loop(ends)
        for thread in others:
            thread.join()
        return threads

    on_cues(lambda: loop(time.monotonic() + little / 1000), hard)


scenario = Scenario(
    name="user-hog",
    summary="A process bound to one core computes there with such a priority that nobody else runs.",
    play=play,
    cause="user-hog",
    subject="process",
    shows=(core_held(3.0, "user"), victim_stalled(0.3)),
)
