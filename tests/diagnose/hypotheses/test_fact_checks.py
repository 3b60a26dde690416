"""What numbers say of a hypothesis."""

from __future__ import annotations

import pytest

from necroscope.diagnose.hypotheses.fact_checks import judge_facts
from necroscope.diagnose.hypotheses.hypothesis import Advice, Check, Hypothesis, filled, release
from necroscope.vocabulary.model import Subject
from necroscope.vocabulary.verdict import Remedy

MANY = Check("zombies", "{value} of at least {limit}", at_least=1000)
FEW = Check("zombies", "only {value}", at_most=300)
FORKS = Check("execs", "x", at_least=1)


def _one(**fields: object) -> Hypothesis:
    return Hypothesis("m", "t", **fields)  # type: ignore[arg-type]


def test_facts_confirm_fail_refute_or_are_unknown() -> None:
    one = _one(confirm=(MANY, FORKS), refute=(FEW,))
    many = judge_facts(one, {"zombies": 1000})
    assert (many.confirmed, many.refuted, many.failed, many.unknown) == (((MANY, 1000),), (), (), (FORKS,))
    assert judge_facts(one, {"zombies": 300}).refuted == ((FEW, 300),)
    between = judge_facts(one, {"zombies": 500, "execs": 0})
    assert (between.confirmed, between.refuted, between.unknown) == ((), (), ())
    assert [check for check, _ in between.failed] == [MANY, FORKS]


@pytest.mark.parametrize(
    ("now", "before", "confirms"),
    [(900.0, None, True), (900.0, 0.2, True), (900.0, 800.0, False), (900.0, 601.0, False), (900.0, 600.0, True)],
)
def test_what_holds_in_quiet_times_as_well_confirms_nothing(now: float, before: float | None, confirms: bool) -> None:
    facts = {"execs": now} | ({"execs_before": before} if before is not None else {})
    judged = judge_facts(_one(confirm=(FORKS,)), facts)
    assert judged.confirmed == (((FORKS, now),) if confirms else ())
    assert judged.usual == (() if confirms else ((FORKS, now),))
    assert judged.failed == ()


def test_what_is_usual_confirms_nothing_and_counts_where_it_fails() -> None:
    usual = Check("kernel_share", "x", at_least=0.5, usual=True)
    one = _one(confirm=(usual,))
    assert judge_facts(one, {"kernel_share": 0.9}).confirmed == ()
    assert judge_facts(one, {"kernel_share": 0.9}).usual == ((usual, 0.9),)
    assert judge_facts(one, {"kernel_share": 0.1}).failed == ((usual, 0.1),)


def test_both_bounds() -> None:
    between = Check("x", "x", at_least=1, at_most=2)
    assert [between.holds(value) for value in (0.9, 1, 2, 2.1)] == [False, True, True, False]


# -- sentences -----------------------------------------------------------------------------------------------


def test_numbers_in_sentences() -> None:
    assert MANY.says(68_440) == "68,440 of at least 1,000"
    assert FEW.says(12) == "only 12"
    assert Check("x", "{value} {percent} {other}", at_least=0).says(0.931) == "0.93 93 % {other}"
    assert filled("{percent} of {limit}", 0.5, 12.34) == "50 % of 12.3"
    assert filled("{value}", float("inf")) == "inf"


@pytest.mark.parametrize(
    ("says", "before", "text"),
    [
        ("{percent} of it", 0.05, "50 % of it, 5 % in quiet times"),
        ("{value} s a second", 0.05, "0.5 s a second, 0.05 in quiet times"),
        ("{value} s a second", 0.0, "0.5 s a second, 0 in quiet times"),
        ("{value} s a second", None, "0.5 s a second"),
    ],
)
def test_what_a_rival_says_beside_quiet_times(says: str, before: float | None, text: str) -> None:
    assert _one(says=says).says_with(0.5, before) == text


# -- remedies ------------------------------------------------------------------------------------------------


def test_a_command_names_the_subject_safely_and_only_where_it_suits() -> None:
    stop = Remedy("stop", command="systemctl stop -- {subject}", text="t", risk="r", cost="c")
    one = _one(advice=(Advice(stop, ("unit",)), Advice(Remedy("wait", text="t"))))
    unit, anybody = one.remedies_for(Subject("unit", "a b;rm.service"))
    assert (unit.subject, unit.command) == ("a b;rm.service", "systemctl stop -- 'a b;rm.service'")
    assert (anybody.action, anybody.subject) == ("wait", "")
    assert [remedy.action for remedy in one.remedies_for(Subject("container", "x"))] == ["wait"]
    assert [remedy.action for remedy in one.remedies_for(None)] == ["wait"]


@pytest.mark.parametrize(
    ("kernel", "given"),
    [("5.9.16-generic", True), ("5.10.0", False), ("6.1.0-9-amd64", False), ("", True), ("custom", True)],
)
def test_advice_ends_with_the_kernel_that_no_longer_needs_it(kernel: str, given: bool) -> None:
    one = _one(advice=(Advice(Remedy("newer-kernel", text="t"), below_kernel="5.10"),))
    assert bool(one.remedies_for(None, kernel)) is given


def test_releases_are_compared_as_numbers() -> None:
    assert release("5.15.0-91-generic") == (5, 15)
    assert release("5.9.1") < release("5.10.0")
    assert release("next-20260101") == ()
