"""Who waited for a core, and what is no waiting for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.query.case.starvation.read import StarvationReader
from necroscope.query.case.starvation.waits import longest_share
from necroscope.sense.cgroups.throttle import Throttle
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.case import Run, Wait
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ProcessUse, Sample
from stage.incident import SMAPS, Played, at, walked
from stage.reading import around, complaint, reader


def _read(
    node: Played, folder: Path, second: float, throttled: dict[str, float] | None = None
) -> tuple[StarvationReader, Run]:
    """The reader, and the only starved core. With `throttled`, cgroups that are stopped for so many seconds in each
    second of the starved time."""
    store = node.write(folder)
    if throttled:
        writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=Throttle.signals)
        for number in range(50, 76):
            total = {path: share * min(max(number - 60, 0), 6) for path, share in throttled.items()}
            samples = [Sample("throttle_throttled_seconds", value, (path,)) for path, value in total.items()]
            writer.add_signals(at(number), samples, "throttle")
        writer.close(merge=False)
    scene = around(store, complaint(second))
    (run,) = scene.runs
    return reader(scene), run


@pytest.fixture
def node() -> Played:
    return walked()


def _job(run_delay_s: float, second: float = 68, pid: int = 5, cgroup: str = "/jobs/one") -> tuple[float, ProcessUse]:
    return second, ProcessUse(pid, 1, "job", cgroup, 0.1, 0.0, run_delay_s, 1, 1)


def test_who_waited_for_the_core(node: Played, tmp_path: Path) -> None:
    node.uses = [
        (68, ProcessUse(5, 1, "victim", "/", 0.1, 0.0, 4.5, 1, 1)),
        (68, ProcessUse(6, 1, "elsewhere", "/", 0.1, 0.0, 9.0, 1, 0)),
        (40, ProcessUse(7, 1, "before", "/", 0.1, 0.0, 9.0, 1, 1)),
        (60, ProcessUse(8, 1, "just-before", "/", 0.1, 0.0, 9.0, 1, 1)),
    ]
    found, run = _read(node, tmp_path, 70)
    assert found.waits(run) == (Wait("victim", 5, 4.5, 6.0, "/"),)


def test_waiting_is_a_share_of_what_is_known(tmp_path: Path) -> None:
    node = Played(2, 120)
    node.does(1, 60, 66, 1.0, "hog", 9, cgroup="/hog")
    # The first look at a process knows no delay; of the run, the second one tells of two seconds.
    node.uses.append((64, ProcessUse(501, 1, "victim", "/", 0.5, 0.0, None, 1 << 20, 1)))
    node.uses.append((74, ProcessUse(501, 1, "victim", "/", 0.5, 0.0, 1.7, 1 << 20, 1)))
    node.uses.append((75, ProcessUse(502, 1, "late", "/", 0.5, 0.0, 0.9, 1 << 20, 1)))
    found, run = _read(node, tmp_path, 70)
    waits = found.waits(run)
    assert [(one.name, one.seconds, one.known_s) for one in waits] == [("victim", 1.7, 2.0), ("late", 0.9, 1.0)]
    assert found.longest_wait(run) == pytest.approx(0.9)
    assert longest_share(waits[:1], run) == pytest.approx(0.85)
    node.uses = node.uses[:1]
    unknown, run = _read(node, tmp_path / "unknown", 70)
    assert unknown.longest_wait(run) is None


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
    found, run = _read(node, tmp_path, 70, {path: 0.9})
    assert found.longest_wait(run) == (pytest.approx(5.5 / 6, abs=0.01) if known else None)


@pytest.mark.parametrize(("stopped", "waited"), [(0.02, 5.5 - 0.12), (0.1, 5.5 - 0.6), (0.15, 5.5 - 0.9)])
def test_what_a_quota_stopped_now_and_then_is_taken_off(
    node: Played, tmp_path: Path, stopped: float, waited: float
) -> None:
    node.uses = [_job(5.5)]
    found, run = _read(node, tmp_path, 70, {"/jobs/one": stopped})
    (wait,) = found.waits(run)
    assert (wait.seconds, wait.cgroup) == (pytest.approx(waited, abs=0.12), "/jobs/one")


def test_a_wait_that_was_booked_when_it_ended_counts_for_when_it_was(node: Played, tmp_path: Path) -> None:
    node.uses = [_job(0.0, 64), _job(5.8, 74)]
    found, run = _read(node, tmp_path, 75)
    assert found.longest_wait(run) == pytest.approx(5.8 / 6, abs=0.01)
    assert found.waits(run) == (Wait("job", 5, pytest.approx(5.8), pytest.approx(6.0), "/jobs/one"),)
    node.uses = [_job(0.0, 64), _job(60.0, 74)]
    again, run = _read(node, tmp_path / "more", 75)
    assert [one.seconds for one in again.waits(run)] == [pytest.approx(6.0, abs=0.01)]


def test_a_look_while_the_core_is_taken_knows_nothing_of_who_may_be_waiting_still(node: Played, tmp_path: Path) -> None:
    """The kernel books a wait when it ends: who neither waited nor surely ran may have slept, or be waiting."""
    busy = ProcessUse(5, 1, "job", "/jobs/one", 3.0, 0.0, 0.0, 1, 1)
    node.uses = [(64, busy)]
    found, run = _read(node, tmp_path, 70)
    assert found.waits(run) == ()
    node.uses = [(64, busy), (74, replace(busy, user_s=0.0))]
    again, run = _read(node, tmp_path / "more", 75)
    assert [(one.seconds, one.known_s) for one in again.waits(run)] == [(0.0, pytest.approx(6.0, abs=0.01))]


def _long(node: Played, folder: Path) -> tuple[StarvationReader, Run, Run]:
    """A core that is starved for a minute and a half; the symptom comes in the middle of it."""
    scene = around(node.write(folder), complaint(80))
    (whole,) = scene.runs
    part = Run(1, at(62), at(82), whole.shares)
    assert whole.window == (at(20), at(110))
    return reader(scene), part, whole


@pytest.mark.parametrize(
    ("ran_s", "booked_s", "waited"),
    [
        (0.0, 90.0, 20.0),  # from the start to the end
        (0.0, 45.0, 10.0),  # from 72 on
        (0.0, 30.0, 0.0),  # later
        (5.0, 90.0, 0.0),  # it ran meanwhile: several threads together waited so long
    ],
)
def test_a_wait_that_ends_after_the_part_that_is_looked_at_is_credited_to_it(
    tmp_path: Path, ran_s: float, booked_s: float, waited: float
) -> None:
    node = Played(2, 140)
    node.does(1, 20, 110, 1.0, "walker", 9, frames=SMAPS, mode="system")
    node.uses = [
        (second, ProcessUse(5, 1, "victim", "/", ran_s, 0.0, booked_s if second == 117 else 0.0, 1, 1))
        for second in range(57, 127, 10)
    ]
    found, part, whole = _long(node, tmp_path)
    (wait,) = found.waits(part, whole)
    assert (wait.seconds, wait.known_s) == (pytest.approx(waited), pytest.approx(20.0))


def test_the_recorder_is_no_victim(node: Played, tmp_path: Path) -> None:
    node.uses = [_job(5.5, pid=77)]
    node.events.append(Event(at(0), "recorder-started", "recorder", "recorder", pid=77, boot="x"))
    found, run = _read(node, tmp_path, 70)
    assert found.waits(run) == ()


@pytest.mark.parametrize(
    ("name", "began", "waits"),
    [
        ("python3", {-7200: 77}, ["victim"]),
        ("necroscope", {-7200: 77}, ["victim"]),
        ("python3", {-7200: 77, -3600: 78}, ["python3", "victim"]),  # another one had the number later
        ("python3", {}, ["python3", "victim"]),
    ],
)
def test_a_recorder_that_began_long_ago_is_no_victim_either(
    node: Played, tmp_path: Path, name: str, began: dict[int, int], waits: list[str]
) -> None:
    node.uses = [
        (68, ProcessUse(77, 1, name, "/", 0.1, 0.0, 5.5, 1, 1)),
        (68, ProcessUse(5, 1, "victim", "/", 0.1, 0.0, 4.5, 1, 1)),
    ]
    for second, pid in began.items():
        node.events.append(Event(at(second), "recorder-started", "recorder", "recorder", pid=pid, boot="x"))
    found, run = _read(node, tmp_path, 70)
    assert [one.name for one in found.waits(run)] == waits


def test_of_very_many_the_longest_are_kept(node: Played, tmp_path: Path) -> None:
    node.uses = [_job(0.1 * number, pid=number) for number in range(1, 51)]
    found, run = _read(node, tmp_path, 70)
    waits = found.waits(run)
    assert [one.pid for one in waits] == list(range(50, 20, -1))
    assert waits[0].seconds == pytest.approx(5.0)
    assert run.seconds * NS == 6 * NS
