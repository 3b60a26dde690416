"""Right, wrong, abstained."""

from __future__ import annotations

from typing import Any

import pytest

from necroscope.lab.judge import calibration, judge

TRUTH: dict[str, Any] = {
    "scenario": "seeds-incident",
    "seed": 3,
    "cause": "zombie-memcg",
    "subject": {"kind": "unit", "name": "calm.service"},
    "cpu": 1,
    "happened": {"shown": [{"ok": True}]},
}
CAUSE: dict[str, Any] = {
    "kind": "zombie-memcg",
    "subject": {"kind": "unit", "name": "calm.service"},
    "cpu": 1,
    "confidence": 0.9,
}


def answer(**changes: Any) -> dict[str, Any]:
    return {"verdict": "explained", "cause": {**CAUSE, **changes}}


def test_right_is_mechanism_subject_and_core() -> None:
    judged = judge(TRUTH, answer(), 1.5)
    assert (judged.mark, judged.because, judged.confidence, judged.seconds) == ("right", "", 0.9, 1.5)
    assert (judged.scenario, judged.seed, judged.happened, judged.verdict) == ("seeds-incident", 3, True, "explained")


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"kind": "memcg-reclaim"}, "mechanism is zombie-memcg, not memcg-reclaim"),
        (
            {"subject": {"kind": "unit", "name": "other.service"}},
            "subject is unit calm.service, not unit other.service",
        ),
        (
            {"subject": {"kind": "process", "name": "calm.service"}},
            "subject is unit calm.service, not process calm.service",
        ),
        (
            {"subject": None, "cpu": 0},
            "subject is unit calm.service, not None None; core is 1, not 0",
        ),
        ({"cpu": 0}, "core is 1, not 0"),
    ],
)
def test_anything_else_is_wrong(changes: dict[str, Any], because: str) -> None:
    judged = judge(TRUTH, answer(**changes))
    assert (judged.mark, judged.because) == ("wrong", because)


def test_no_cause_is_abstaining_where_there_is_one_and_right_where_there_is_none() -> None:
    unexplained = {"verdict": "unexplained", "cause": None}
    healthy = {**TRUTH, "cause": None, "subject": None, "cpu": None}
    assert judge(TRUTH, unexplained).mark == "abstained"
    assert judge(healthy, unexplained).mark == "right"
    accused = judge(healthy, answer())
    assert (accused.mark, accused.because) == ("wrong", "named zombie-memcg where there is no cause to be seen")


def test_nobody_to_act_on_is_abstaining_where_the_rest_is_right() -> None:
    judged = judge(TRUTH, answer(subject=None))
    assert (judged.mark, judged.because, judged.confidence) == ("abstained", "names nobody to act on", None)
    healthy = {**TRUTH, "cause": None, "subject": None, "cpu": None}
    assert judge(healthy, answer(subject=None)).mark == "wrong"


def test_no_document_is_no_answer_and_what_did_not_happen_is_told() -> None:
    judged = judge({**TRUTH, "happened": {"shown": [{"ok": True}, {"ok": False}]}}, None)
    assert (judged.mark, judged.happened) == ("no answer", False)


def test_calibration_is_one_line() -> None:
    judged = [judge(TRUTH, answer()), judge(TRUTH, answer(cpu=0, confidence=0.5)), judge(TRUTH, {"cause": None})]
    assert calibration(judged) == (
        "1 right; 1 wrong; 1 abstained; 2 causes named with a mean confidence of 0.70, 0.50 of them right; "
        "Brier score 0.130"
    )
    assert calibration([]) == "nothing was judged"
