"""Things that look guilty and are not. Each starts with the baseline and goes on to the end, so that it is as strong in
quiet times as before the symptom; none holds a core."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable

from necroscope.lab.actors.leaks import leaked_by_many
from necroscope.lab.scenario import Scenario
from necroscope.lab.stage import Stage

Decoy = Callable[[Stage], None]


def drawn(scenario: Scenario) -> Decoy:
    """Starts as many decoys as the scenario allows, drawn from those that do not blur its truth."""

    def start(stage: Stage) -> None:
        possible = [name for name in DECOYS if name not in scenario.hides]
        for name in stage.rng.sample(possible, min(scenario.decoys, len(possible))):
            DECOYS[name](stage)

    return start


def steady_load(stage: Stage) -> None:
    """A process of low priority that takes a fixed part of the same core all the time."""
    share = stage.rng.uniform(0.15, 0.35)
    actor = stage.spawn(burn_steadily, share, cpu=stage.cpu, nice=stage.rng.randint(5, 15))
    stage.decoy("steady-load", kind="process", name=actor.name)


def page_faults(stage: Stage) -> None:
    """A process that faults pages in by the thousand, all the time."""
    actor = stage.spawn(touch_pages, stage.rng.randint(4, 12), stage.rng.uniform(0.05, 0.15))
    stage.decoy("page-faults", kind="process", name=actor.name)


def crash_loop(stage: Stage) -> None:
    """Something that is started and dies again and again, and leaks nothing: a unit where there is a systemd."""
    if stage.node is not None:
        from necroscope.lab.environment.systemd import crashing_unit

        name = stage.name("unit")
        stage.node.add_unit(name, crashing_unit("exit 3", stage.rng.randint(300, 900)))
        stage.decoy("crash-loop", kind="unit", name=name)
        return
    actor = stage.spawn(start_and_die, stage.rng.uniform(0.2, 0.6))
    stage.decoy("crash-loop", kind="process", name=actor.name)


def innocent_zombies(stage: Stage) -> None:
    """Zombies elsewhere, from long ago, which nobody has to walk over."""
    parent, word = stage.name("slice"), stage.name("cgroup")
    names = [f"{word}-{number:04d}" for number in range(stage.rng.randint(20, 60))]
    leaked_by_many(stage, stage.cgroup(parent), names)
    stage.decoy("innocent-zombies", kind="cgroup", name=parent)


DECOYS: dict[str, Decoy] = {
    "steady-load": steady_load,
    "page-faults": page_faults,
    "crash-loop": crash_loop,
    "innocent-zombies": innocent_zombies,
}


# -- what the processes do -------------------------------------------------------------------------------


def burn_steadily(share: float) -> None:
    """Burn this share of a core, ten times a second."""
    while True:
        used = time.thread_time() + share / 10
        while time.thread_time() < used:
            pass
        time.sleep((1 - share) / 10)


def touch_pages(megabytes: int, rest_s: float) -> None:
    """Map memory, touch each page, give it back, rest."""
    while True:
        with mmap.mmap(-1, megabytes << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
            area.madvise(mmap.MADV_NOHUGEPAGE)
            for offset in range(0, megabytes << 20, mmap.PAGESIZE):
                area[offset] = 1
        time.sleep(rest_s)


def start_and_die(rest_s: float) -> None:
    """Start a child that fails at once, wait for it, rest."""
    while True:
        child = os.fork()
        if child == 0:
            os._exit(1)
        os.waitpid(child, 0)
        time.sleep(rest_s)
