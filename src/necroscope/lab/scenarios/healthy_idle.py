"""A healthy control: nothing goes on, and a driver complains of its hardware."""

from __future__ import annotations

from necroscope.lab.scenario import Scenario, Truth
from necroscope.lab.scoring.checks import cores_calm
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """A victim that always gets its core."""
    stage.victim()
    with stage.recording():
        stage.sleep(stage.seconds(4.0, 8.0))
        stage.symptom(related=False)
        stage.sleep(stage.seconds(3.0, 5.0))
    return Truth(None)


scenario = Scenario(
    name="healthy-idle",
    summary="Nothing goes on; a network device fails by itself.",
    play=play,
    cause=None,
    decoys=1,
    shows=(cores_calm(),),
)
