"""The time around a symptom."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.query import extent
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.surroundings import look_around
from necroscope.sense.cpu.times import Cpu
from necroscope.store.format.core_times import LONGEST_NS
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import Sample
from necroscope.vocabulary.verdict import Complaint
from stage.incident import SMAPS, Played, at, walked
from stage.reading import around, case, complaint, surroundings


@pytest.fixture
def node() -> Played:
    return walked()


def test_starved_cores_and_what_is_known_of_them(node: Played, tmp_path: Path) -> None:
    scene = surroundings(node, tmp_path, 70)
    (run,) = scene.runs
    assert (run.cpu, run.from_ns, run.seconds, run.kind) == (1, at(60), 6.0, "held")
    assert (scene.cores, scene.counted) == (2, True)
    assert scene.covered((at(10), at(20))) == pytest.approx(1.0)
    assert scene.symptoms_ns == (at(70),)


def test_a_hung_task_is_reported_late(node: Played, tmp_path: Path) -> None:
    store = node.write(tmp_path)
    assert around(store, complaint(110, "hung-task")).lookback[0] == at(110 - 180)
    assert around(store, complaint(110)).lookback == (at(110 - 45), at(112))


@pytest.mark.parametrize(
    ("kind", "source", "begin", "in_time"),
    [
        ("nic-reset", "kmsg", 66, True),
        ("nic-reset", "kmsg", 70, False),
        ("job-failed", "mark", 70, True),
        ("moment", "asked", 71, True),
        ("moment", "asked", 73, False),
    ],
)
def test_what_begins_with_the_complaint_did_not_cause_it(
    tmp_path: Path, kind: str, source: str, begin: int, in_time: bool
) -> None:
    node = Played(2, 90)
    node.does(0, begin, begin + 6, 1.0, "walks", 1, frames=SMAPS, mode="system")
    scene = around(node.write(tmp_path), Complaint(kind, at(70.5), source, "x"))
    assert [scene.in_time(run) for run in scene.runs] == [in_time]


def test_an_empty_store_has_no_span(tmp_path: Path) -> None:
    assert extent.recorded(Played(1, 0, counted=False).write(tmp_path).snapshot()) is None


def test_a_store_that_grows_is_read_as_it_was(node: Played, tmp_path: Path) -> None:
    fixed = FixedStore(node.write(tmp_path))
    before = len(fixed.snapshot().segments)
    writer = Writer(tmp_path, signals=Cpu.signals)
    writer.add_signals(at(500), [Sample("cpu_time_seconds", 1.0, ("0", "user"))], "cpu")
    writer.close(merge=False)
    assert len(Store(tmp_path).snapshot().segments) > before
    assert len(fixed.snapshot().segments) == before
    assert fixed.once("asked", lambda: 1) == 1
    assert fixed.once("asked", lambda: 2) == 1


# -- averages, and samples alone --------------------------------------------------------------------------


def _with_averages(node: Played, folder: Path, idle: tuple[float, float]) -> Store:
    """The recording, and what sysstat says about all of it: one interval."""
    node.counted = False
    node.write(folder)
    writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=Cpu.signals)
    for second in (0, node.seconds):
        spent = [
            Sample("cpu_time_seconds", round(second * share, 3), (str(cpu), mode))
            for cpu, one in enumerate(idle)
            for mode, share in (("system", 1 - one), ("idle", one))
        ]
        writer.add_signals(at(second), spent, "cpu", LONGEST_NS)
    writer.close(merge=False)
    return Store(folder)


def test_averages_do_not_hide_what_samples_tell_of_seconds(node: Played, tmp_path: Path) -> None:
    made = case(_with_averages(node, tmp_path, (0.9, 0.85)), complaint(70))
    (one,) = made.starvations
    assert (one.run.cpu, one.run.from_ns, one.run.counted, one.run.kind) == (1, at(60), False, "sampled")
    assert (made.counted, made.covered, made.covered_close, made.averages_of_s) == (False, 0.0, 0.0, 120.0)
    assert (one.strip, made.strip) == (None, None)


def test_an_interval_without_idle_time_is_a_starved_core_and_another_is_not(tmp_path: Path) -> None:
    held = FixedStore(_with_averages(Played(2, 120), tmp_path, (0.0, 0.02)))
    scene = look_around(held, complaint(110), (at(0), at(120)), Config())
    assert [(run.cpu, run.from_ns, run.to_ns, run.counted) for run in scene.runs] == [(0, at(0), at(120), True)]


def test_the_time_before_the_symptom_is_covered_or_not(node: Played, tmp_path: Path) -> None:
    node.hole = (40, 62)
    made = case(node.write(tmp_path), complaint(70))
    # Of the hole's counters only an average is known.
    assert made.covered == pytest.approx(23 / 45, abs=0.03)
    assert made.covered_close == pytest.approx(8 / 15, abs=0.08)
    assert made.lookback[1] - made.symptom.at_ns == 2 * NS
