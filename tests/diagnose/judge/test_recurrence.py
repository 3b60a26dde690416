"""The same again, over symptoms and over boots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.clock import NS
from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.judge.recurrence import Recurrence, projection
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.case import Boot, Case, OtherSymptom
from necroscope.vocabulary.verdict import Verdict
from stage.build_case import USER, again, case, leaks, other, starvation, suspect, zombie_walk

KNOWN = catalogue()
# Not so sure that nothing could be added: somebody else had a quarter of the core.
ONE = starvation(suspect("one", share=0.75), suspect("steady", USER, 0.25, before=0.25, chance=0.5, cgroup="/steady"))
TWO = starvation(suspect("two", pid=78, cgroup="/two"))


def _judged(*others: OtherSymptom, asked: bool = True) -> Verdict:
    return judge(case(ONE, others=others if asked else None), KNOWN)


def _confidence(verdict: Verdict) -> float:
    assert verdict.cause is not None
    return verdict.cause.confidence


def _claim(verdict: Verdict) -> tuple[str, float | None] | None:
    found = [(one.claim, one.strength) for one in verdict.links if one.kind == "recurrence"]
    return found[0] if found else None


def _before(seconds: float, one: object = ONE) -> OtherSymptom:
    return other(again(one, seconds), seconds=seconds)  # type: ignore[arg-type]


def test_seen_before_every_symptom_raises_and_alone_lowers() -> None:
    once = _judged()
    twice, often = _judged(_before(-100)), _judged(_before(-100), _before(-200), _before(-300))
    alone = _judged(_before(-100, TWO), _before(-200, TWO))
    assert _claim(once) is None
    assert _claim(twice) == ("seen before both symptoms", None)
    assert _claim(often) == ("seen before 4 of 4 symptoms", None)
    assert _claim(alone) == ("seen before 1 of 3 symptoms", PRIORS.again_alone)
    assert _confidence(often) > _confidence(twice) > _confidence(once) > _confidence(alone)
    assert _confidence(alone) == pytest.approx(PRIORS.again_alone * _confidence(once), abs=0.001)
    assert all(one.strength is None or one.strength <= 1 for one in often.links)


def test_one_other_symptom_without_it_says_nothing() -> None:
    verdict = _judged(_before(-100, TWO))
    assert _claim(verdict) == ("seen before 1 of 2 symptoms", None)
    assert _confidence(verdict) == _confidence(_judged())


def test_nobody_looked() -> None:
    assert _claim(_judged(asked=False)) is None


def test_another_symptom_of_the_same_starvation_is_no_other_time() -> None:
    assert _claim(_judged(other(ONE, seconds=5))) is None


@pytest.mark.parametrize("what", ["little", "usual", "an interrupt", "nobody"])
def test_it_must_have_had_the_core_again(what: str) -> None:
    suspects = {
        "little": [suspect("one", share=0.35), suspect("x", USER, 0.3, cgroup="/x"), suspect("y", USER, 0.3)],
        "usual": [suspect("one", before=0.95, chance=0.4)],
        "an interrupt": [replace(suspect("one", context="softirq"), name="one")],
        "nobody": [],
    }
    verdict = _judged(_before(-100, starvation(*suspects[what])))
    assert _claim(verdict) == ("seen before 1 of 2 symptoms", None)


def test_the_walker_again_and_again_says_nothing_of_the_leaker() -> None:
    once = judge(case(zombie_walk(), leaks=leaks()), KNOWN)
    times = tuple(other(again(zombie_walk(), at_s), seconds=at_s) for at_s in (-300, -200, -100))
    often = judge(case(zombie_walk(), leaks=leaks(), others=times), KNOWN)
    assert once.cause is not None
    assert often.cause is not None
    assert often.cause.subject == once.cause.subject
    assert _confidence(once) < _confidence(often) <= PRIORS.leak_aligned


def test_what_is_hardly_believed_is_no_surer_for_being_seen_often() -> None:
    """Whoever is busy often is near every symptom."""
    hog = starvation(suspect("hog", USER))
    times = tuple(_before(-100.0 * n, hog) for n in range(1, 6))
    assert judge(case(hog, others=times), KNOWN).cause is None


def test_confidence_rises_with_every_time() -> None:
    assert Recurrence(4, (1, 2, 3, 4)).raised(0.8, PRIORS) == pytest.approx(1 - 0.2 * PRIORS.again_doubt**4)
    assert Recurrence(3).raised(0.8, PRIORS) == pytest.approx(0.8)
    assert Recurrence().link(PRIORS) is None


# -- over boots ----------------------------------------------------------------------------------------------

HOUR = 3600 * NS
FIRST = Boot(0, (0, 0), (100 * HOUR, 40_000), 36_000, 90 * HOUR)
SECOND = Boot(200 * HOUR, (200 * HOUR, 0), (210 * HOUR, 4_000))


def test_growth_since_each_boot_and_when_it_is_back() -> None:
    link = projection([FIRST, SECOND])
    assert link is not None
    assert link.claim == "zombies grew by 400 an hour; after a reboot there are as many again in about 3 d 18 h"
    assert [one.value for one in link.evidence] == [400.0, 400.0, 90.0]
    assert link.strength is None


def test_a_short_look_projects_nothing() -> None:
    assert projection([Boot(0, (0, 10), (60 * NS, 20))]) is None
    assert projection([]) is None


def test_what_does_not_grow_does_not_come_back() -> None:
    link = projection([Boot(0, (0, 50), (10 * HOUR, 50), 50, HOUR)])
    assert link is not None
    assert link.claim == "zombies grew by 0 an hour"


@pytest.mark.parametrize(("zombies", "shown"), [(True, True), (False, False)])
def test_boots_are_told_where_zombies_are_the_cause(zombies: bool, shown: bool) -> None:
    made: Case = case(zombie_walk() if zombies else ONE, leaks=leaks(), boots=(FIRST, SECOND))
    assert ("projection" in [one.kind for one in judge(made, KNOWN).links]) is shown
