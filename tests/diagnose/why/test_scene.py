"""The time around a symptom."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.diagnose.why.scene import Held, Scene, look_around, quiet_blocks, span_of, strip_of
from necroscope.diagnose.why.tell import missing
from necroscope.model import Sample
from necroscope.query.starved import within
from necroscope.sense.cpu import Cpu
from necroscope.store.core_times import LONGEST_NS
from necroscope.store.reader import Store
from necroscope.store.writer import Writer
from necroscope.verdict import Complaint
from stage.incident import SMAPS, Played, at, nic_reset


def _scene(node: Played, folder: Path, second: float, kind: str = "nic-reset") -> Scene:
    held = Held(node.write(folder))
    recorded = span_of(held.snapshot())
    assert recorded is not None
    return look_around(held, Complaint(kind, at(second), "kmsg", "x"), recorded, Config())


@pytest.fixture
def node() -> Played:
    made = Played(2, 120)
    made.usual()
    made.does(1, 60, 66, 1.0, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(made, 70)
    return made


def test_runs_and_quiet_times(node: Played, tmp_path: Path) -> None:
    scene = _scene(node, tmp_path, 70)
    (run,) = scene.runs
    assert (run.cpu, run.from_ns, run.seconds) == (1, at(60), 6.0)
    assert (scene.cores, scene.counted) == (2, True)
    assert scene.covered((at(10), at(20))) == pytest.approx(1.0)
    quiet = quiet_blocks(scene, run)
    assert len(quiet) >= 3
    assert all(high < at(59) or low > at(67) for low, high in quiet)


def test_the_kernels_part_of_a_long_run_is_one_of_its_own(tmp_path: Path) -> None:
    node = Played(1, 90)
    node.does(0, 60, 66, 1.0, "walker", 9, frames=SMAPS, mode="system")
    node.does(0, 20, 60, 1.0, "busy", 8)
    node.does(0, 66, 80, 1.0, "busy", 8)
    scene = _scene(node, tmp_path, 70)
    assert [(run.from_ns - at(0)) // NS for run in scene.runs] == [20, 60]
    assert [run.seconds for run in scene.runs] == [60.0, 6.0]


def test_a_run_before_no_symptom_is_part_of_what_is_normal(tmp_path: Path) -> None:
    node = Played(1, 200)
    node.usual()
    for begin in (20, 100, 160):
        node.does(0, begin, begin + 6, 0.9, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(node, 168)
    scene = _scene(node, tmp_path, 168)
    run = scene.runs[-1]
    quiet = quiet_blocks(scene, run)
    assert any(low <= at(22) <= high for low, high in quiet)
    assert not any(low <= at(162) <= high for low, high in quiet)


def test_a_hung_task_is_told_late(node: Played, tmp_path: Path) -> None:
    assert _scene(node, tmp_path, 110, "hung-task").lookback[0] < at(60)


def test_the_strip_shows_the_core_and_all_of_them(node: Played, tmp_path: Path) -> None:
    strip = strip_of(_scene(node, tmp_path, 70), 1)
    assert strip is not None
    place = (at(62) - strip.from_ns) // NS
    assert strip.busy[place] == pytest.approx(1.0)
    assert strip.system[place] == pytest.approx(0.8, abs=0.06)
    assert strip.average[place] == pytest.approx(0.625, abs=0.02)
    assert strip.busy[(at(50) - strip.from_ns) // NS] == pytest.approx(0.25, abs=0.02)


def test_an_empty_store_has_no_span(tmp_path: Path) -> None:
    assert span_of(Played(1, 0, counted=False).write(tmp_path).snapshot()) is None


def test_the_edges_of_a_run_are_not_quiet(tmp_path: Path) -> None:
    """Somebody comes and goes by and by: his seconds beside the run are his too, though no core was starved then."""
    node = Played(2, 60)
    node.usual()
    for second, part in ((13, 0.5), (14, 0.6), (15, 0.8), (16, 0.8), (17, 0.8), (18, 0.6), (19, 0.5)):
        node.does(1, second, second + 1, part, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(node, 42)
    scene = _scene(node, tmp_path, 42)
    (run,) = scene.runs
    assert (run.from_ns, run.to_ns) == (at(15), at(18))
    quiet = quiet_blocks(scene, run)
    assert len(quiet) >= 3
    assert all(high < at(13) or low >= at(20) for low, high in quiet)


def test_quiet_time_is_as_far_from_symptoms_as_the_recording_allows(tmp_path: Path) -> None:
    node = Played(1, 300)
    node.usual()
    node.does(0, 200, 206, 0.9, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(node, 208)
    long = _scene(node, tmp_path / "long", 208)
    assert all(high < at(148) or low > at(223) for low, high in quiet_blocks(long, long.runs[-1]))
    node = Played(1, 80)
    node.usual()
    node.does(0, 40, 46, 0.9, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(node, 48)
    short = _scene(node, tmp_path / "short", 48)
    blocks = quiet_blocks(short, short.runs[-1])
    assert len(blocks) >= 3
    assert all(high < at(28) or low > at(53) for low, high in blocks)


def test_the_same_again_is_no_quiet_time_though_it_left_a_little_idle(tmp_path: Path) -> None:
    """A real-time thread that the kernel stops for a twentieth of each second, twice; all of it is near symptoms."""
    node = Played(1, 45)
    node.does(0, 0, 45, 0.02, "steady", 500, cgroup="/steady")
    node.does(0, 16, 21, 0.92, "hog", 9, cgroup="/hog")
    node.does(0, 30, 35, 0.98, "hog", 9, cgroup="/hog")
    for second in (17, 19, 21, 23, 31, 33, 37):
        nic_reset(node, second)
    scene = _scene(node, tmp_path, 37)
    (run,) = scene.runs
    assert (run.from_ns, run.to_ns) == (at(30), at(35))
    quiet = quiet_blocks(scene, run)
    assert len(quiet) >= 3
    assert all(high < at(16) or low >= at(21) for low, high in quiet)


def test_the_rest_of_a_long_run_is_what_is_usual_for_a_part_of_it(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 0, 60, 0.5, "busy", 8)
    node.does(0, 0, 60, 0.5, "steady", 7)
    nic_reset(node, 34)
    scene = _scene(node, tmp_path, 34)
    (whole,) = scene.runs
    assert quiet_blocks(scene, whole) == []
    part = within(scene.times, whole, (at(28), at(32)))
    quiet = quiet_blocks(scene, part)
    assert len(quiet) >= 3
    assert all(high < at(28) or low > at(32) for low, high in quiet)


def _with_averages(node: Played, folder: Path, idle: tuple[float, float]) -> Held:
    """The recording, and what sysstat says about all of it: one interval."""
    node.counted = False
    node.write(folder)
    writer = Writer(folder, signals=Cpu.signals)
    for second in (0, node.seconds):
        spent = [
            Sample("cpu_time_seconds", round(second * share, 3), (str(cpu), mode))
            for cpu, one in enumerate(idle)
            for mode, share in (("system", 1 - one), ("idle", one))
        ]
        writer.add_signals(at(second), spent, "cpu", LONGEST_NS)
    writer.close(merge=False)
    return Held(Store(folder))


def test_averages_do_not_hide_what_samples_tell_of_seconds(node: Played, tmp_path: Path) -> None:
    held = _with_averages(node, tmp_path, (0.9, 0.85))
    recorded = span_of(held.snapshot())
    assert recorded is not None
    scene = look_around(held, Complaint("nic-reset", at(70), "kmsg", "x"), recorded, Config())
    assert [(run.cpu, run.from_ns, run.counted) for run in scene.runs] == [(1, at(60), False)]
    assert (scene.counted, scene.covered((at(50), at(70)))) == (False, 0.0)
    assert strip_of(scene, 1) is None
    assert [one.what for one in missing(scene, None) if "averages of up to 2 min" in one.what]


def test_an_interval_without_idle_time_is_a_starved_core_and_another_is_not(tmp_path: Path) -> None:
    held = _with_averages(Played(2, 120), tmp_path, (0.0, 0.02))
    scene = look_around(held, Complaint("nic-reset", at(110), "kmsg", "x"), (at(0), at(120)), Config())
    assert [(run.cpu, run.from_ns, run.to_ns, run.counted) for run in scene.runs] == [(0, at(0), at(120), True)]
