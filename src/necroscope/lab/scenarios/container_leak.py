"""A crash-looping container leaks memory cgroups; a process that is no container has to walk over them."""

from __future__ import annotations

from pathlib import Path

from necroscope.lab.actors.leaks import leaked_before
from necroscope.lab.actors.walkers import PAST, episodes, reader_below, walk_scenario
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.environment.cgroup_tree import memory_mount
from necroscope.lab.environment.podman import LEAKY
from necroscope.lab.needs import CONTAINERS
from necroscope.lab.scenario import Subject, Truth
from necroscope.lab.scoring.checks import figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """A container that leaves a file on a volume and dies; its engine starts it again."""
    slice_name, name = stage.name("slice"), stage.name("container")
    engine = stage.containers(slice_name)
    top = stage.cgroup(slice_name)
    container = engine.create(name, LEAKY)
    own = Path(memory_mount().path + container.cgroup)
    past = leaked_before(stage, own, stage.rng.randint(*PAST))
    stage.say(f"container {name} has leaked {past} memory cgroups before")
    engine.podman("start", name)
    walker = reader_below(stage, slice_name)
    with stage.recording():
        episodes(stage, walker)
        restarts = int(engine.inspect(name, "{{.RestartCount}}"))
        stage.report.happened.update(restarts=restarts, zombies=zombies_below(top) or 0, leaked_before=past)
    engine.remove(name)
    return Truth("zombie-memcg", Subject("container", name), walker.name, walker.pid, stage.cpu)


scenario = walk_scenario(
    name="container-leak",
    summary="A crash-looping container leaks memory cgroups; a process outside it reclaims over them and holds a core.",
    play=play,
    subject="container",
    needs=(CONTAINERS,),
    shows=(figure("restarts", "restarts of the container", at_least=5, unit="restarts"),),
)
