"""Two containers crash-loop alike, side by side; one of them leaks memory cgroups, and a process walks over them."""

from __future__ import annotations

from pathlib import Path

from necroscope.lab.actors.leaks import leaked_before
from necroscope.lab.actors.walkers import PAST, episodes, reader_below, walk_scenario
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.environment.cgroup_tree import memory_mount
from necroscope.lab.environment.podman import LEAKY, QUITTING
from necroscope.lab.needs import CONTAINERS
from necroscope.lab.scenario import Subject, Truth
from necroscope.lab.scoring.checks import figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """Both say the same and die the same death; which of them is started first is drawn."""
    slice_name, guilty, twin = stage.name("slice"), stage.name("container"), stage.name("container")
    engine = stage.containers(slice_name)
    top = stage.cgroup(slice_name)
    container = engine.create(guilty, LEAKY)
    engine.create(twin, QUITTING)
    past = leaked_before(stage, Path(memory_mount().path + container.cgroup), stage.rng.randint(*PAST))
    stage.say(f"container {guilty} has leaked {past} memory cgroups before, {twin} none")
    stage.decoy("twin", kind="container", name=twin)
    for name in stage.rng.sample((guilty, twin), 2):
        engine.podman("start", name)
    walker = reader_below(stage, slice_name)
    with stage.recording():
        episodes(stage, walker)
        restarts = [int(engine.inspect(name, "{{.RestartCount}}")) for name in (guilty, twin)]
        stage.report.happened.update(zombies=zombies_below(top) or 0, leaked_before=past)
        stage.report.happened.update(restarts=restarts[0], restarts_of_twin=restarts[1])
    for name in (guilty, twin):
        engine.remove(name)
    return Truth("zombie-memcg", Subject("container", guilty), walker.name, walker.pid, stage.cpu)


scenario = walk_scenario(
    name="twin-containers",
    summary="Two containers crash-loop alike and one of them leaks memory cgroups; a process outside walks over them.",
    play=play,
    subject="container",
    needs=(CONTAINERS,),
    decoys=1,
    shows=(
        figure("restarts", "restarts of the container", at_least=5, unit="restarts"),
        figure("restarts_of_twin", "restarts of its twin", at_least=5, unit="restarts"),
    ),
)
