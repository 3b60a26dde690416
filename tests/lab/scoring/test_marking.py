"""Right, wrong, abstained."""

from __future__ import annotations

from typing import Any

import pytest

from necroscope.lab.scoring.marking import calibration, failed, judge

TRUTH: dict[str, Any] = {
    "scenario": "seeds-incident",
    "seed": 3,
    "cause": "zombie-memcg",
    "subject": {"kind": "unit", "name": "calm.service"},
    "cpu": 1,
    "happened": {"shown": [{"ok": True}]},
}
ABSENT: dict[str, Any] = {
    **TRUTH,
    "happened": {
        "shown": [
            {"text": "one core at 95 % or more", "value": 2.03, "unit": "s", "ok": False},
            {"text": "a thread did not run", "value": 0.73, "unit": "s", "ok": True},
            {"text": "samples that show it", "value": 0.1, "unit": "", "ok": False},
        ]
    },
}
NOT_SHOWN = "did not show: one core at 95 % or more (2.03 s) and samples that show it (0.1)"
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
    judged = judge(ABSENT, None)
    assert (judged.mark, judged.happened) == ("no answer", False)
    assert judged.because == f"{NOT_SHOWN}; why gave no answer"


@pytest.mark.parametrize(
    ("said", "mark", "because"),
    [
        (answer(), "right", NOT_SHOWN),
        (answer(cpu=0), "wrong", f"{NOT_SHOWN}; core is 1, not 0"),
        (answer(subject=None), "abstained", f"{NOT_SHOWN}; names nobody to act on"),
        ({"verdict": "unexplained", "cause": None}, "abstained", NOT_SHOWN),
    ],
)
def test_what_did_not_happen_says_what_it_did_not_show(said: dict[str, Any], mark: str, because: str) -> None:
    judged = judge(ABSENT, said)
    assert (judged.happened, judged.mark, judged.because) == (False, mark, because)


def test_what_was_said_at_once_is_judged_beside_it() -> None:
    early = {"answered_s": 1.6, **answer(cpu=0)}
    judged = judge({**TRUTH, "asked_at_once": early}, answer())
    assert (judged.mark, judged.at_once, judged.answered_s, judged.bad) == ("right", "wrong", 1.6, True)
    assert judged.because == "asked at once: core is 1, not 0"
    nobody = {"answered_s": 0.7, "verdict": "unexplained", "cause": None}
    judged = judge({**TRUTH, "asked_at_once": nobody}, answer())
    assert (judged.at_once, judged.because, judged.bad) == ("abstained", "", False)
    judged = judge({**TRUTH, "asked_at_once": None}, answer())
    assert (judged.at_once, judged.answered_s, judged.bad) == (None, None, False)


def test_a_run_that_broke_off_did_not_happen_and_is_told() -> None:
    judged = failed("seeds-incident", 3, "the lab's recorder did not begin to record")
    assert (judged.scenario, judged.seed, judged.happened, judged.bad) == ("seeds-incident", 3, False, True)
    assert judged.in_short == "did not happen: it broke off: the lab's recorder did not begin to record"
    assert calibration([judged]) == "1 did not happen"


@pytest.mark.parametrize(
    ("truth", "said", "bad", "in_short"),
    [
        (TRUTH, answer(), False, "right"),
        (TRUTH, answer(cpu=0), True, "wrong: core is 1, not 0"),
        (TRUTH, None, True, "no answer: why gave no answer"),
        (TRUTH, {"cause": None}, False, "abstained"),
        (ABSENT, answer(), True, f"did not happen: {NOT_SHOWN}"),
    ],
)
def test_what_is_bad(truth: dict[str, Any], said: dict[str, Any] | None, bad: bool, in_short: str) -> None:
    judged = judge(truth, said)
    assert (judged.bad, judged.in_short) == (bad, in_short)


def test_calibration_is_one_line() -> None:
    judged = [judge(TRUTH, answer()), judge(TRUTH, answer(cpu=0, confidence=0.5)), judge(TRUTH, {"cause": None})]
    assert calibration(judged) == (
        "1 right; 1 wrong; 1 abstained; 2 causes named with a mean confidence of 0.70, 0.50 of them right; "
        "Brier score 0.130"
    )
    assert calibration([*judged, judge(ABSENT, answer()), judge(ABSENT, None)]) == (
        f"{calibration(judged)}; 2 did not happen"
    )
    assert calibration([judge(ABSENT, answer())]) == "1 did not happen"
    assert calibration([]) == "nothing was judged"
