"""Kept cases have their right answers; no number that is believed without being measured decides one wrongly."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.vocabulary.case import Case
from stage.kept_cases import MISSED, NAMES, kept, outcome, truth

pytestmark = pytest.mark.slow

_KNOWN = catalogue()


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_case_has_its_right_answer(name: str) -> None:
    true = truth(name)
    verdict = judge(kept(name), _KNOWN)
    assert outcome(verdict, true) == "right"
    if true["cause"] is not None and true.get("process") and verdict.cause is not None and verdict.cause.process:
        process = verdict.cause.process
        assert (process.name, process.pid, verdict.cause.cpu) == (*true["process"].values(), true["cpu"])


@pytest.mark.xfail(strict=True, reason="known misses: when one is right, it moves up to the others")
@pytest.mark.parametrize("name", MISSED)
def test_a_known_miss_is_right(name: str) -> None:
    assert outcome(judge(kept(name), _KNOWN), truth(name)) == "right"


def _changed(prior: str, factor: float) -> Priors:
    value = getattr(PRIORS, prior)
    new = value * factor
    if isinstance(value, int):
        return replace(PRIORS, **{prior: max(1, round(new))})
    # a strength or a share is never above 1
    return replace(PRIORS, **{prior: min(1.0, new) if value <= 1 else new})


@pytest.mark.parametrize("factor", [0.7, 1.3])
@pytest.mark.parametrize("prior", [one.name for one in fields(Priors)])
def test_no_prior_makes_a_right_verdict_wrong(prior: str, factor: float) -> None:
    priors = _changed(prior, factor)
    wrong = [name for name in NAMES if outcome(judge(kept(name), _KNOWN, priors), truth(name)) == "wrong"]
    assert not wrong


def _without_texts(case: Case) -> Case:
    """As if no event said anything in words."""
    gaps = tuple(replace(one, text="") for one in case.gaps)
    blinds = tuple(replace(one, text="") for one in case.blinds)
    return replace(case, symptom=replace(case.symptom, text=""), gaps=gaps, blinds=blinds)


@pytest.mark.parametrize("name", NAMES)
def test_what_events_say_in_words_decides_nothing(name: str) -> None:
    case = kept(name)
    assert judge(_without_texts(case), _KNOWN).cause == judge(case, _KNOWN).cause


@pytest.mark.parametrize("name", NAMES)
def test_the_confidence_is_the_product_of_the_links(name: str) -> None:
    verdict = judge(kept(name), _KNOWN)
    if verdict.cause is None:
        return
    product = 1.0
    for link in verdict.links:
        product *= link.strength if link.strength is not None else 1.0
    most = PRIORS.most if verdict.verdict == "explained" else PRIORS.most_partial
    assert verdict.cause.confidence == pytest.approx(min(product, most), abs=0.005)
    assert verdict.weakest is not None
    assert verdict.weakest.strength == min(one.strength for one in verdict.links if one.strength is not None)
