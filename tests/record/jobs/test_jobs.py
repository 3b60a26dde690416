"""Jobs: lines of Ray's logs become events at once; those that stand still are noticed, and near misses are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.query.case.symptom import is_symptom
from necroscope.record.jobs import logs
from necroscope.record.jobs.logs import JobLogs
from necroscope.record.jobs.stalled import HELD_BYTES, Stalled
from necroscope.sense.log import follow
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Sample
from stage.processes import wait_for

NODE = "f" * 56
LINES = (
    f"[2026-11-16 18:01:36,405 C 3315 3315] (gcs_server) gcs_health_check_manager.cc:108: "
    f"Health check failed for node {NODE}, remaining checks 0\n"
    "2026-11-16 18:01:40,466\tINFO job_supervisor.py:437 -- Job raysubmit_7 entrypoint command exited with code 1\n"
    "a line of the job itself: everything failed\n"
)


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[JobLogs, Path]]:
    monkeypatch.setattr(follow, "SEARCH_S", 0.0)
    monkeypatch.setattr(logs, "EVERY_S", 0.05)
    (tmp_path / "old.out").write_text(LINES)
    one = JobLogs([f"{tmp_path}/*.out"])
    wait_for(lambda: one._followed._began, "the first look")
    yield one, tmp_path
    one.close()


def test_failures_of_jobs_are_events_once(followed: tuple[JobLogs, Path]) -> None:
    one, folder = followed
    (folder / "raylet.out").write_text(LINES)
    (folder / "gcs_server.out").write_text(LINES)
    found: list[Event] = []
    wait_for(lambda: bool(found.extend(one.events())) or len(found) >= 2, "both events")
    assert {(event.kind, event.subject) for event in found} == {
        ("ray-health-check-failed", NODE),
        ("ray-job-failed", "raysubmit_7"),
    }
    assert all(event.source == "ray" and is_symptom(event) for event in found)
    assert all(event.path.startswith(str(folder)) for event in found)


def _gpu(stalled: Stalled, shares: list[float], held: int = 2 * HELD_BYTES, from_s: int = 0) -> list[Event]:
    found: list[Event] = []
    for second, share in enumerate(shares):
        samples = [Sample("gpu_utilization_percent", share, ("0",)), Sample("gpu_memory_used_bytes", held, ("0",))]
        found += stalled.gpus(samples, (1_000 + from_s + second) * NS)
    return found


def test_a_gpu_that_worked_and_stands_still_with_its_memory_held() -> None:
    (event,) = _gpu(Stalled(60.0), [95.0] * 60 + [0.0] * 200)
    assert (event.kind, event.subject, event.at_ns) == ("job-stalled", "gpu0", (1_000 + 60 + 60) * NS)
    assert event.text == "GPU 0 has been at 0 % for 1 min while 2.0 GiB of its memory are held"
    assert is_symptom(event)


def test_it_is_told_again_only_after_it_moved() -> None:
    stalled = Stalled(60.0)
    assert len(_gpu(stalled, [95.0] * 60 + [0.0] * 80 + [50.0] * 5 + [0.0] * 80)) == 2


@pytest.mark.parametrize(
    ("shares", "held"),
    [
        ([95.0] * 60 + [0.0] * 59, 2 * HELD_BYTES),
        ([95.0] * 60 + [0.0] * 200, HELD_BYTES - 1),
        ([0.0] * 300, 2 * HELD_BYTES),
        ([95.0] * 60 + ([0.0] * 50 + [3.0]) * 5, 2 * HELD_BYTES),
        ([95.0] * 20 + [0.0] * 200, 2 * HELD_BYTES),
    ],
    ids=["not-long-enough", "memory-free", "never-worked", "now-and-then", "worked-too-short"],
)
def test_gpus_that_are_idle_for_other_reasons(shares: list[float], held: int) -> None:
    assert _gpu(Stalled(60.0), shares, held) == []


def _mark(second: int, kind: str = "job-progress", subject: str = "7") -> Event:
    return Event(second * NS, kind, "mark", subject, "step")


def test_progress_that_stops() -> None:
    stalled = Stalled(60.0)
    stalled.marks([_mark(second) for second in (0, 30, 60, 90)])
    assert list(stalled.late(170 * NS)) == [], "three times the usual distance is 90 s"
    (event,) = stalled.late(185 * NS)
    assert event.text == "no progress of 7 for 1 min 35 s, usually each 30 s"
    assert list(stalled.late(300 * NS)) == [], "once"
    stalled.marks([_mark(310)])
    assert list(stalled.late(320 * NS)) == []
    assert len(list(stalled.late(500 * NS))) == 1


def test_jobs_that_ended_and_those_with_too_few_marks_are_not_late() -> None:
    stalled = Stalled(60.0)
    stalled.marks([*(_mark(second) for second in (0, 30, 60)), _mark(61, "job-finished")])
    stalled.marks([_mark(0, subject="8"), _mark(30, subject="8")])
    assert list(stalled.late(10_000 * NS)) == []


def test_the_memory_of_jobs_is_bounded() -> None:
    stalled = Stalled(60.0)
    stalled.marks(_mark(second, subject=f"{number}") for number in range(1_000) for second in range(12))
    assert len(stalled._jobs) <= 256
    assert max(len(job.at_ns) for job in stalled._jobs.values()) <= 9
