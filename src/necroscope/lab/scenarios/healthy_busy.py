"""A healthy control: every core has work, shared fairly, and a driver complains of its hardware."""

from __future__ import annotations

from necroscope.lab.actors.decoys import burn_steadily, touch_pages
from necroscope.lab.scenario import Scenario, Truth
from necroscope.lab.scoring.checks import cores_calm, figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """Steady work on every core, about two thirds of it, from the beginning to the end."""
    for cpu in stage.cpus:
        actor = stage.spawn(burn_steadily, stage.rng.uniform(0.3, 0.45), cpu=cpu)
        stage.decoy("busy", kind="process", name=actor.name)
    actor = stage.spawn(touch_pages, stage.rng.randint(4, 12), 0.08)
    stage.decoy("page-faults", kind="process", name=actor.name)
    stage.victim()
    with stage.recording():
        stage.sleep(stage.seconds(4.0, 8.0))
        stage.symptom(related=False)
        stage.sleep(stage.seconds(3.0, 5.0))
        baseline = stage.report.baseline
        assert baseline is not None
        idle = [stage.cores.share(cpu, baseline.began_ns, baseline.ended_ns) for cpu in stage.cpus]
        stage.report.happened["busy_share"] = round(1 - max(idle), 3)
    return Truth(None)


scenario = Scenario(
    name="healthy-busy",
    summary="Every core is busy and none is starved; a network device fails by itself.",
    play=play,
    cause=None,
    decoys=1,
    hides=("steady-load", "page-faults"),
    shows=(cores_calm(), figure("busy_share", "work on the least busy core", at_least=0.25)),
)
