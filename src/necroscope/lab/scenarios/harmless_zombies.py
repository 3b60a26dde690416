"""A healthy control: thousands of zombies which nobody has to walk over, and a driver complains of its hardware."""

from __future__ import annotations

from necroscope.lab.actors.leaks import leaked_by_many
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.needs import MEMORY_CGROUPS
from necroscope.lab.scenario import Scenario, Truth
from necroscope.lab.scoring.checks import cores_calm, figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """They are there before the recording; nothing below their parent ever reaches a limit."""
    top, word = stage.cgroup(stage.name("slice")), stage.name("cgroup")
    names = [f"{word}-{number:06d}" for number in range(stage.rng.randint(3000, 6000))]
    leaked_by_many(stage, top, names)
    stage.victim()
    with stage.recording():
        stage.sleep(stage.seconds(4.0, 8.0))
        stage.symptom(related=False)
        stage.sleep(stage.seconds(3.0, 5.0))
        stage.report.happened["zombies"] = zombies_below(top) or 0
    return Truth(None)


scenario = Scenario(
    name="harmless-zombies",
    summary="Thousands of zombie cgroups that cost nobody anything; a network device fails by itself.",
    play=play,
    cause=None,
    needs=(MEMORY_CGROUPS,),
    hides=("innocent-zombies",),
    shows=(cores_calm(), figure("zombies", "zombies", at_least=3000, unit="cgroups")),
)
