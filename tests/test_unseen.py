"""How answers about the unseen incidents are judged."""

from __future__ import annotations

from typing import Any

import pytest
from bench.unseen.incidents import INCIDENTS
from bench.unseen.score import judge, summary, truths

PLAYED = {"cpus": 16, "guilty": []}


def cause(
    kind: str, subject: tuple[str, str] | None, process: str, cpu: int, confidence: float = 0.9
) -> dict[str, Any]:
    named = {"kind": subject[0], "name": subject[1]} if subject else None
    who = {"name": process, "pid": 7}
    return {"kind": kind, "subject": named, "process": who, "cpu": cpu, "confidence": confidence}


def mark(name: str, verdict: str, named: dict[str, Any] | None, played: dict[str, Any] = PLAYED) -> str:
    return judge(truths()[name], played, {"verdict": verdict, "cause": named}).mark


def test_each_incident_has_a_truth() -> None:
    assert set(INCIDENTS) == set(truths())


def test_at_least_eight_want_no_cause() -> None:
    assert sum(truth["no_cause"] for truth in truths().values()) >= 8


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (cause("user-hog", ("process", "thumbgen"), "thumbgen", 4), "right"),
        (cause("user-hog", ("cgroup", "/media/thumbgen"), "thumbgen", 4), "right"),
        (cause("user-hog", ("process", "reindexd"), "reindexd", 11), "wrong"),
        (cause("user-hog", ("process", "thumbgen"), "thumbgen", 11), "wrong"),
        (cause("smaps-walk", ("process", "thumbgen"), "thumbgen", 4), "wrong"),
        (cause("user-hog", None, "thumbgen", 4), "abstained"),
        (None, "abstained"),
    ],
)
def test_a_guilty_process(named: dict[str, Any] | None, expected: str) -> None:
    assert mark("two-disturbances", "explained" if named else "unexplained", named) == expected


def test_of_two_processes_of_one_name_it_is_the_guilty_one() -> None:
    named = cause("user-hog", ("process", "worker"), "worker", 11)
    assert mark("twin-workers", "explained", named, {"cpus": 16, "guilty": [7]}) == "right"
    assert mark("twin-workers", "explained", named, {"cpus": 16, "guilty": [8]}) == "wrong"


def test_cores_are_those_of_the_machine() -> None:
    named = cause("user-hog", ("process", "thumbgen"), "thumbgen", 0)
    assert mark("two-disturbances", "explained", named, {"cpus": 2, "guilty": []}) == "right"


def test_to_name_somebody_for_a_control_is_wrong() -> None:
    named = cause("user-hog", ("process", "legacy-poller"), "legacy-poller", 6)
    assert mark("ever-the-same", "explained", named) == "wrong"
    assert mark("ever-the-same", "unexplained", None) == "right"


def test_a_mark_of_success_is_no_symptom() -> None:
    assert mark("all-is-well", "no-symptom", None) == "right"
    assert mark("all-is-well", "unexplained", None) == "abstained"


def test_a_quota_may_be_named_and_need_not() -> None:
    assert mark("out-of-quota", "unexplained", None) == "right"
    assert mark("out-of-quota", "explained", cause("cpu-quota", ("cgroup", "/jobs/nightly-report"), "", 4)) == "wrong"
    named = cause("cpu-quota", ("cgroup", "/jobs/nightly-report"), "nightly-report", 4)
    assert mark("out-of-quota", "explained", named) == "right"


def test_the_summary_counts_and_scores() -> None:
    known, answer = truths()["two-disturbances"], {"verdict": "explained"}
    right = cause("user-hog", ("process", "thumbgen"), "thumbgen", 4, 0.8)
    wrong = cause("user-hog", ("process", "reindexd"), "reindexd", 11, 0.6)
    marks = [judge(known, PLAYED, {**answer, "cause": each}) for each in (right, wrong)]
    counts = {"runs": 2, "right": 1, "abstained": 0, "wrong": 1, "no answer": 0}
    assert summary(marks) == {**counts, "Brier": 0.2, "most sure of a wrong one": 0.6}
