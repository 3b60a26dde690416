"""Numbers of the window and of quiet times."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.config import Config
from necroscope.diagnose.why.facts import gather, with_suspect
from necroscope.diagnose.why.scene import Held, look_around, span_of
from necroscope.diagnose.why.suspects import LineUp, Suspect
from necroscope.model import Sample, Signal
from necroscope.store.writer import Writer
from necroscope.verdict import Complaint
from stage.incident import SMAPS, Played, at, nic_reset


def test_rates_now_and_before_and_what_stood_there(tmp_path: Path) -> None:
    node = Played(2, 80)
    node.usual()
    node.gauges = {"memcg_zombies": 4321.0, "memcg_live": 50.0, "memcg_leaked_directories": 3.0, "processes": 30.0}
    node.does(1, 60, 66, 1.0, "walks", 2, frames=SMAPS, mode="system")
    nic_reset(node, 70)
    node.happens(64, "oom-kill", "x")
    store = node.write(tmp_path)
    labels = [Signal("softnet_squeezed_rounds", "rounds", "counter", "x", ("cpu",))]
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9, signals=labels)
    for second in range(80):
        faults = 100.0 * second + (4900.0 * max(0, min(6, second - 60)))
        squeezed = [Sample("softnet_squeezed_rounds", float(second * cpu), (str(cpu),)) for cpu in (0, 1)]
        writer.add_signals(at(second), [Sample("vmstat_pgfault", faults), *squeezed], "more")
    writer.close(merge=False)
    held = Held(store)
    recorded = span_of(held.snapshot())
    assert recorded is not None
    scene = look_around(held, Complaint("nic-reset", at(70), "kmsg", "x"), recorded, Config())
    quiet = [(at(10), at(15)), (at(20), at(25))]
    facts, series = gather(scene, scene.runs[0], quiet)
    assert (facts["zombies"], facts["live"], facts["oom_events"]) == (4321.0, 50.0, 1.0)
    assert facts["directories"] == 20.0
    assert facts["vmstat_pgfault"] == pytest.approx(5000.0, rel=0.15)
    assert facts["vmstat_pgfault_before"] == pytest.approx(100.0)
    assert facts["vmstat_pgfault_lift"] == pytest.approx(50.0, rel=0.15)
    assert facts["softnet_squeezed_rounds_core"] == pytest.approx(1.0)
    assert "vmstat_pgscan_direct" not in facts
    assert series["vmstat_pgfault"][0].at_ns.size == 80
    assert scene.runs[0].window[0] == at(60)
    assert scene.lookback[1] - scene.symptom.at_ns == 2 * NS


@pytest.mark.parametrize(("others", "execs"), [(0, 1 / 5), (30, 31 / 5), (60, 500.0)])
def test_starts_of_others_are_not_the_suspects(others: int, execs: float) -> None:
    run = Run(0, 0, 5 * NS, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
    own = Suspect("find", "/a", "", (7,), 4.0, 0.8, 0.0, 1e-9, 1.0, ())
    children = Suspect("child", "/a", "", tuple(range(100, 100 + others)), 0.5, 0.1, 0.0, 1e-9, 1.0, ())
    elsewhere = Suspect("true", "/b", "", tuple(range(1000, 1100)), 0.5, 0.1, 0.0, 1e-9, 1.0, ())
    lineup = LineUp((own, children, elsewhere), (), None, 1.0, 5)
    facts = with_suspect({"execs": 500.0}, run, own, lineup)
    assert facts["execs"] == pytest.approx(execs)
    assert (facts["pids"], facts["suspect_starts"], facts["core_system"]) == (1.0, 0.2, 1.0)
