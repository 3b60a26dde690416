"""A crash-looping container leaks memory cgroups; a process that is no container has to walk over them."""

from __future__ import annotations

from pathlib import Path

from necroscope.lab.actors.leaks import leaked_before
from necroscope.lab.actors.walkers import PAST, WALKED_OVER, episodes, limit, reader, room_bytes
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.environment.cgroup_tree import memory_mount
from necroscope.lab.environment.podman import LEAKY
from necroscope.lab.needs import CONTAINERS, MEMORY_CGROUPS
from necroscope.lab.scenario import Scenario, Subject, Truth
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
    walker = reader(stage, stage.cgroup(f"{slice_name}/{stage.name('cgroup')}"))
    limit(top, room_bytes(stage))
    stage.victim()
    with stage.recording():
        episodes(stage, walker)
        restarts = int(engine.inspect(name, "{{.RestartCount}}"))
        stage.told.happened.update(restarts=restarts, zombies=zombies_below(top) or 0, leaked_before=past)
    engine.remove(name)
    return Truth("zombie-memcg", Subject("container", name), walker.name, walker.pid, stage.cpu)


scenario = Scenario(
    name="container-leak",
    summary="A crash-looping container leaks memory cgroups; a process outside it reclaims over them and holds a core.",
    play=play,
    cause="zombie-memcg",
    subject="container",
    innocent=True,
    needs=(MEMORY_CGROUPS, CONTAINERS),
    shows=(
        *WALKED_OVER,
        figure("restarts", "restarts of the container", at_least=5, unit="restarts"),
    ),
)
