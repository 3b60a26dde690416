"""The seeds' incident, and nobody recorded it: the recorder was down from before it to after the symptom."""

from __future__ import annotations

from necroscope.lab.actors.leaks import leaked_before
from necroscope.lab.actors.walkers import PAST, reader_below
from necroscope.lab.environment.systemd import leaky_unit
from necroscope.lab.needs import MEMORY_CGROUPS, SYSTEMD
from necroscope.lab.scenario import Scenario, Truth
from necroscope.lab.scoring.checks import core_held, figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """The symptom itself is known: the next recorder finds it in the log."""
    node_name = stage.name("node")
    node = stage.systemd(node_name)
    unit = stage.name("unit")
    leaked_before(stage, node.unit_cgroup(unit), stage.rng.randint(*PAST))
    node.add_unit(unit, leaky_unit(restart_ms=stage.rng.randint(80, 250)))
    walker = reader_below(stage, node_name)
    with stage.recording():
        assert stage.recorder is not None
        stage.recorder.stop()
        stage.sleep(stage.seconds(6.0, 9.0))
        with stage.episode():
            walker.cue(f"{stage.seconds(4.0, 7.0):.2f}")
            walker.answer()
        said = stage.symptom()
        stage.sleep(stage.seconds(4.0, 6.0))
        stage.recorder.start()
        stage.report.happened["hole_after_symptom_s"] = stage.since_s(said.at_ns)
        stage.sleep(stage.seconds(8.0, 10.0))
    return Truth(None, cpu=stage.cpu)


scenario = Scenario(
    name="recording-hole",
    summary="The seeds' incident with the recorder down at the symptom: right is unexplained, with the hole named.",
    play=play,
    cause=None,
    needs=(MEMORY_CGROUPS, SYSTEMD),
    shows=(
        core_held(3.0, "system"),
        figure("hole_after_symptom_s", "the recorder was down at the symptom and after", at_least=1.0, unit="s"),
    ),
)
