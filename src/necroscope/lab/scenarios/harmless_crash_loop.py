"""A healthy control: a unit crash-loops and leaks nothing, and a driver complains of its hardware."""

from __future__ import annotations

from necroscope.lab.environment.systemd import crashing_unit
from necroscope.lab.needs import SYSTEMD
from necroscope.lab.scenario import Scenario, Truth
from necroscope.lab.scoring.checks import cores_calm, figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """It has looped before the recording and goes on after it."""
    node, unit = stage.systemd(), stage.name("unit")
    node.add_unit(unit, crashing_unit("echo no configuration found >&2; exit 2", stage.rng.randint(300, 900)))
    stage.decoy("crash-loop", kind="unit", name=unit)
    stage.victim()
    with stage.recording():
        stage.sleep(stage.seconds(4.0, 8.0))
        stage.symptom(related=False)
        stage.sleep(stage.seconds(3.0, 5.0))
        stage.report.happened["restarts"] = int(node.show(unit, "NRestarts"))
    return Truth(None)


scenario = Scenario(
    name="harmless-crash-loop",
    summary="A unit crash-loops and leaks nothing; a network device fails by itself.",
    play=play,
    cause=None,
    needs=(SYSTEMD,),
    hides=("crash-loop",),
    shows=(cores_calm(), figure("restarts", "restarts of the unit", at_least=15, unit="restarts")),
)
