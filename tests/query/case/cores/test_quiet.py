"""What is normal on a core."""

from __future__ import annotations

from pathlib import Path

from necroscope.query.case.cores.quiet import quiet_windows
from necroscope.query.cores.starved import within
from stage.incident import SMAPS, Played, at, nic_reset
from stage.reading import surroundings


def _walked(node: Played, begin: int, end: int, share: float = 1.0) -> None:
    node.does(1, begin, end, share, "walker", 9, frames=SMAPS, mode="system")


def test_away_from_the_run(tmp_path: Path) -> None:
    node = Played(2, 120)
    node.usual()
    _walked(node, 60, 66)
    nic_reset(node, 70)
    scene = surroundings(node, tmp_path, 70)
    quiet = quiet_windows(scene, scene.runs[0])
    assert len(quiet) >= 3
    assert all(high < at(59) or low > at(67) for low, high in quiet)


def test_a_run_before_no_symptom_is_part_of_what_is_normal(tmp_path: Path) -> None:
    node = Played(1, 200)
    node.usual()
    for begin in (20, 100, 160):
        node.does(0, begin, begin + 6, 0.9, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(node, 168)
    scene = surroundings(node, tmp_path, 168)
    quiet = quiet_windows(scene, scene.runs[-1])
    assert any(low <= at(22) <= high for low, high in quiet)
    assert not any(low <= at(162) <= high for low, high in quiet)


def test_the_edges_of_a_run_are_not_quiet(tmp_path: Path) -> None:
    """Somebody comes and goes by and by: his seconds beside the run are his too, though no core was starved then."""
    node = Played(2, 60)
    node.usual()
    for second, part in ((13, 0.5), (14, 0.6), (15, 0.8), (16, 0.8), (17, 0.8), (18, 0.6), (19, 0.5)):
        _walked(node, second, second + 1, part)
    nic_reset(node, 42)
    scene = surroundings(node, tmp_path, 42)
    (run,) = scene.runs
    assert (run.from_ns, run.to_ns) == (at(15), at(18))
    quiet = quiet_windows(scene, run)
    assert len(quiet) >= 3
    assert all(high < at(13) or low >= at(20) for low, high in quiet)


def test_as_far_from_symptoms_as_the_recording_allows(tmp_path: Path) -> None:
    node = Played(1, 300)
    node.usual()
    node.does(0, 200, 206, 0.9, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(node, 208)
    long = surroundings(node, tmp_path / "long", 208)
    assert all(high < at(148) or low > at(223) for low, high in quiet_windows(long, long.runs[-1]))
    node = Played(1, 80)
    node.usual()
    node.does(0, 40, 46, 0.9, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(node, 48)
    short = surroundings(node, tmp_path / "short", 48)
    blocks = quiet_windows(short, short.runs[-1])
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
    scene = surroundings(node, tmp_path, 37)
    (run,) = scene.runs
    assert (run.from_ns, run.to_ns) == (at(30), at(35))
    quiet = quiet_windows(scene, run)
    assert len(quiet) >= 3
    assert all(high < at(16) or low >= at(21) for low, high in quiet)


def test_the_rest_of_a_long_run_is_what_is_usual_for_a_part_of_it(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 0, 60, 0.5, "busy", 8)
    node.does(0, 0, 60, 0.5, "steady", 7)
    nic_reset(node, 34)
    scene = surroundings(node, tmp_path, 34)
    (whole,) = scene.runs
    assert quiet_windows(scene, whole) == []
    quiet = quiet_windows(scene, within(scene.times, whole, (at(28), at(32))))
    assert len(quiet) >= 3
    assert all(high < at(28) or low > at(32) for low, high in quiet)
