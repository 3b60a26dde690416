"""A healthy control: a batch job of the lowest priority fills a core that nobody else wants, and gives way at once."""

from __future__ import annotations

from necroscope.lab.actors.walkers import episodes
from necroscope.lab.scenario import Scenario, Show, Truth
from necroscope.lab.scenarios.user_hog import compute
from necroscope.lab.scoring.checks import core_held
from necroscope.lab.stage import Stage

_LOWEST = 19


def play(stage: Stage) -> Truth:
    """A core at 100 %, a driver that complains, and nothing that joins the two: whoever wants the core gets it."""
    batch = stage.spawn(compute, stage.rng.choice(("hash", "pack")), 1, 1.0, cpu=stage.cpu, nice=_LOWEST)
    stage.decoy("batch", kind="process", name=batch.name)
    stage.victim()
    with stage.recording():
        episodes(stage, batch, related=False)
    return Truth(None)


scenario = Scenario(
    name="patient-batch",
    summary="A batch job of the lowest priority fills a core and keeps nobody waiting; a network device fails.",
    play=play,
    cause=None,
    hides=("steady-load",),
    shows=(
        core_held(3.0, "user"),
        Show("the longest that a thread on that core did not run", Stage.stalled_s, at_most=0.2, unit="s"),
    ),
)
