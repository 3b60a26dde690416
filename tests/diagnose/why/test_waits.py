"""Who waited for a core, and what is no waiting for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.config import Config
from necroscope.diagnose.why.scene import Held, Scene, look_around, span_of
from necroscope.diagnose.why.waits import waited_for, waiting
from necroscope.model import ProcessUse, Sample
from necroscope.sense.throttle import Throttle
from necroscope.store.tables import Event
from necroscope.store.writer import Writer
from necroscope.verdict import Complaint
from stage.incident import SMAPS, Played, at, nic_reset


def _scene(node: Played, folder: Path, second: float, throttled: dict[str, float] | None = None) -> Scene:
    """With `throttled`, cgroups that are stopped for so many seconds in each second of the starved time."""
    store = node.write(folder)
    if throttled:
        writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=Throttle.signals)
        for number in range(50, 76):
            total = {path: share * min(max(number - 60, 0), 6) for path, share in throttled.items()}
            samples = [Sample("throttle_throttled_seconds", value, (path,)) for path, value in total.items()]
            writer.add_signals(at(number), samples, "throttle")
        writer.close(merge=False)
    held = Held(store)
    recorded = span_of(held.snapshot())
    assert recorded is not None
    return look_around(held, Complaint("nic-reset", at(second), "kmsg", "x"), recorded, Config())


@pytest.fixture
def node() -> Played:
    made = Played(2, 120)
    made.usual()
    made.does(1, 60, 66, 1.0, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(made, 70)
    return made


def test_who_waited_for_the_core(node: Played, tmp_path: Path) -> None:
    node.uses = [
        (68, ProcessUse(5, 1, "victim", "/", 0.1, 0.0, 4.5, 1, 1)),
        (68, ProcessUse(6, 1, "elsewhere", "/", 0.1, 0.0, 9.0, 1, 0)),
        (40, ProcessUse(7, 1, "before", "/", 0.1, 0.0, 9.0, 1, 1)),
    ]
    scene = _scene(node, tmp_path, 70)
    assert waiting(scene, scene.runs[0]) == [("victim", 5, 4.5)]


def test_waiting_is_a_share_of_what_is_known(tmp_path: Path) -> None:
    node = Played(2, 120)
    node.does(1, 60, 66, 1.0, "hog", 9, cgroup="/hog")
    # The first look at a process knows no delay; of the run, the second one tells of two seconds.
    node.uses.append((64, ProcessUse(501, 1, "victim", "/", 0.5, 0.0, None, 1 << 20, 1)))
    node.uses.append((74, ProcessUse(501, 1, "victim", "/", 0.5, 0.0, 1.7, 1 << 20, 1)))
    node.uses.append((75, ProcessUse(502, 1, "late", "/", 0.5, 0.0, 0.9, 1 << 20, 1)))
    scene = _scene(node, tmp_path, 70)
    (run,) = scene.runs
    assert [(name, seconds) for name, _, seconds in waiting(scene, run)] == [("victim", 1.7), ("late", 0.9)]
    assert waited_for(scene, run, "hog") == pytest.approx(0.9)
    assert waited_for(scene, run, "late") == pytest.approx(0.85)
    node.uses = node.uses[:1]
    unknown = _scene(node, tmp_path / "unknown", 70)
    assert waited_for(unknown, unknown.runs[0], "hog") is None


def _job(run_delay_s: float, second: float = 68, pid: int = 5, cgroup: str = "/jobs/one") -> tuple[float, ProcessUse]:
    return second, ProcessUse(pid, 1, "job", cgroup, 0.1, 0.0, run_delay_s, 1, 1)


@pytest.mark.parametrize(
    ("path", "cgroup", "known"),
    [
        ("/jobs/one", "/jobs/one", False),
        ("/jobs", "/jobs/one", False),
        ("/jobs/one", "/jobs/one/worker", False),
        ("/jobs/other", "/jobs/one", True),
        ("/jobs/on", "/jobs/one", True),
        ("/", "/jobs/one", True),
    ],
)
def test_what_a_quota_stopped_did_not_wait_for_the_core(
    node: Played, tmp_path: Path, path: str, cgroup: str, known: bool
) -> None:
    node.uses = [_job(5.5, cgroup=cgroup)]
    scene = _scene(node, tmp_path, 70, {path: 0.9})
    assert waited_for(scene, scene.runs[0], "walker") == (pytest.approx(5.5 / 6, abs=0.01) if known else None)


def test_a_quota_that_hardly_ever_stops_changes_nothing(node: Played, tmp_path: Path) -> None:
    node.uses = [_job(5.5)]
    scene = _scene(node, tmp_path, 70, {"/jobs/one": 0.02})
    assert waited_for(scene, scene.runs[0], "walker") == pytest.approx(5.5 / 6, abs=0.01)


def test_a_wait_that_was_booked_when_it_ended_counts_for_when_it_was(node: Played, tmp_path: Path) -> None:
    node.uses = [_job(0.0, 64), _job(5.8, 74)]
    scene = _scene(node, tmp_path, 75)
    run = scene.runs[0]
    assert waited_for(scene, run, "walker") == pytest.approx(5.8 / 6, abs=0.01)
    assert waiting(scene, run) == [("job", 5, pytest.approx(5.8))]
    node.uses = [_job(0.0, 64), _job(60.0, 74)]
    again = _scene(node, tmp_path / "more", 75)
    assert waiting(again, again.runs[0]) == [("job", 5, pytest.approx(6.0, abs=0.01))]


def test_the_recorder_is_no_victim(node: Played, tmp_path: Path) -> None:
    node.uses = [_job(5.5, pid=77)]
    text = f"pid 77, boot {'0' * 8}-0000-0000-0000-{'0' * 12}"
    node.events.append(Event(at(0), "recorder-started", "recorder", "recorder", text))
    scene = _scene(node, tmp_path, 70)
    assert waiting(scene, scene.runs[0]) == []
