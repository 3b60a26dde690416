"""The seeds' incident: a crash-looping unit leaks memory cgroups; an innocent process has to walk over them."""

from __future__ import annotations

from collections.abc import Callable

from necroscope.lab.actors.actors import Actor
from necroscope.lab.actors.leaks import leaked_before
from necroscope.lab.actors.walkers import PAST, episodes, reader_below, walk_scenario
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.environment.systemd import leaky_unit
from necroscope.lab.needs import NETWORK, SYSTEMD
from necroscope.lab.scenario import Subject, Truth
from necroscope.lab.scoring.checks import echo_delayed, figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """A unit that leaves a file behind and dies, thousands of times before the recording and on during it."""
    return incident(stage)


def incident(stage: Stage, afterwards: Callable[[Actor], None] = lambda walker: None) -> Truth:
    """The incident; `afterwards` is what somebody does about the walker while it is recorded."""
    node_name = stage.name("node")
    node = stage.systemd(node_name)
    top, unit = stage.cgroup(node_name), stage.name("unit")
    past = leaked_before(stage, node.unit_cgroup(unit), stage.rng.randint(*PAST))
    stage.say(f"{unit} has leaked {past} memory cgroups before")
    node.add_unit(unit, leaky_unit(restart_ms=stage.rng.randint(80, 250), kb=stage.rng.choice((16, 32, 64))))
    walker = reader_below(stage, node_name)
    stage.echo()
    with stage.recording():
        episodes(stage, walker)
        afterwards(walker)
        restarts = int(node.show(unit, "NRestarts"))
        stage.report.happened.update(restarts=restarts, zombies=zombies_below(top) or 0, leaked_before=past)
    return Truth("zombie-memcg", Subject("unit", unit), walker.name, walker.pid, stage.cpu)


scenario = walk_scenario(
    name="seeds-incident",
    summary="A crash-looping unit leaks memory cgroups; another process reclaims over them and holds a core.",
    play=play,
    subject="unit",
    needs=(SYSTEMD, NETWORK),
    shows=(
        echo_delayed(0.3),
        figure("restarts", "restarts of the unit", at_least=20, unit="restarts"),
    ),
)
