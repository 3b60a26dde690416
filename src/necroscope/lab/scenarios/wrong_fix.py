"""The obvious fix is wrong: whoever walks over the zombies is ended, the leak goes on, and the next one walks."""

from __future__ import annotations

from necroscope.lab.actors.leaks import leaked_before
from necroscope.lab.actors.walkers import PAST, WALKED_OVER, limit, reader, room_bytes
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.environment.systemd import leaky_unit
from necroscope.lab.needs import MEMORY_CGROUPS, SYSTEMD
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """A walk and a symptom; the walker is ended, which a mark of kind `fix` tells; later another does its work."""
    node_name = stage.name("node")
    node = stage.systemd(node_name)
    top, unit = stage.cgroup(node_name), stage.name("unit")
    leaked_before(stage, node.unit_cgroup(unit), stage.rng.randint(*PAST))
    node.add_unit(unit, leaky_unit(restart_ms=stage.rng.randint(80, 250), kb=stage.rng.choice((16, 32))))
    cgroup = stage.cgroup(f"{node_name}/{stage.name('cgroup')}")
    first, second = reader(stage, cgroup), reader(stage, cgroup)
    limit(top, 2 * room_bytes(stage))
    stage.victim()
    with stage.recording():
        with stage.episode():
            first.cue(f"{stage.seconds(4.0, 6.0):.2f}")
            first.answer()
        stage.symptom()
        stage.sleep(stage.seconds(3.0, 6.0))
        before = zombies_below(top) or 0
        first.end()
        stage.mark(f"ended {first.name}, which held core {stage.cpu}", kind="fix", subject=first.name)
        stage.sleep(stage.seconds(14.0, 18.0))
        with stage.episode():
            second.cue(f"{stage.seconds(4.0, 6.0):.2f}")
            second.answer()
        stage.symptom()
        stage.sleep(stage.seconds(2.0, 4.0))
        stage.report.happened.update(since_fix=(zombies_below(top) or 0) - before, zombies=zombies_below(top) or 0)
    notes = {"fix": "wrong", "ended": first.name}
    return Truth("zombie-memcg", Subject("unit", unit), second.name, second.pid, stage.cpu, notes)


scenario = Scenario(
    name="wrong-fix",
    summary="Who walks over the zombies is ended, the unit that makes them is not: it all comes back.",
    play=play,
    cause="zombie-memcg",
    subject="unit",
    innocent=True,
    needs=(MEMORY_CGROUPS, SYSTEMD),
    shows=(*WALKED_OVER, figure("since_fix", "zombies made after the wrong fix", at_least=20, unit="cgroups")),
)
