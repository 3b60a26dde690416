"""A control: a network device fails by itself, and a moment later a process takes a core."""

from __future__ import annotations

from necroscope.lab.scenario import Scenario, Truth
from necroscope.lab.scenarios.user_hog import compute
from necroscope.lab.scoring.checks import core_held, figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """What begins after a symptom did not cause it, however near it is."""
    hog = stage.spawn(compute, stage.rng.choice(("hash", "pack")), 1, 1.0, cpu=stage.cpu, realtime=1)
    stage.decoy("hog", kind="process", name=hog.name)
    stage.victim()
    with stage.recording():
        said = stage.symptom(related=False)
        stage.sleep(stage.rng.uniform(0.3, 0.8))
        stage.report.happened["after_symptom_s"] = round(stage.since_s(said.at_ns), 2)
        with stage.episode():
            hog.cue(f"{stage.seconds(4.0, 7.0):.2f}")
            hog.answer()
    return Truth(None, cpu=stage.cpu)


scenario = Scenario(
    name="late-hog",
    summary="A network device fails by itself; half a second later a process takes a core for seconds.",
    play=play,
    cause=None,
    hides=("steady-load",),
    shows=(
        core_held(3.0),
        figure("after_symptom_s", "the core was taken after the symptom", at_least=0.2, at_most=2.0, unit="s"),
    ),
)
