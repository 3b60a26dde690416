"""Two units leak side by side: one left nearly all of the zombies and seldom restarts, the other restarts often."""

from __future__ import annotations

from necroscope.lab.actors.leaks import leaked_before
from necroscope.lab.actors.walkers import PAST, episodes, reader_below, walk_scenario
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.environment.systemd import leaky_unit
from necroscope.lab.needs import SYSTEMD
from necroscope.lab.scenario import Subject, Truth
from necroscope.lab.scoring.checks import figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """Whoever counts only the leaks that he sees blames the loud one, which left one zombie in thirty."""
    node_name = stage.name("node")
    node = stage.systemd(node_name)
    top, slow, loud = stage.cgroup(node_name), stage.name("unit"), stage.name("unit")
    past = leaked_before(stage, node.unit_cgroup(slow), stage.rng.randint(*PAST))
    leaked_before(stage, node.unit_cgroup(loud), past // 30)
    node.add_unit(slow, leaky_unit(restart_ms=stage.rng.randint(1200, 1800), kb=16))
    node.add_unit(loud, leaky_unit(restart_ms=stage.rng.randint(100, 200), kb=16))
    stage.decoy("loud-leaker", kind="unit", name=loud)
    walker = reader_below(stage, node_name)
    with stage.recording():
        episodes(stage, walker)
        restarts = {unit: int(node.show(unit, "NRestarts")) for unit in (slow, loud)}
        stage.report.happened.update(
            zombies=zombies_below(top) or 0,
            leaked_before=past,
            restarts=restarts[slow],
            restarts_of_loud=restarts[loud],
        )
    return Truth("zombie-memcg", Subject("unit", slow), walker.name, walker.pid, stage.cpu)


scenario = walk_scenario(
    name="loud-leaker",
    summary="Two units leak: one restarts all the time, the other left nearly all of the zombies that a process walks.",
    play=play,
    subject="unit",
    needs=(SYSTEMD,),
    shows=(
        figure("restarts", "restarts of the one that left them", at_least=3, unit="restarts"),
        figure("restarts_of_loud", "restarts of the loud one", at_least=30, unit="restarts"),
    ),
)
