"""A rival that explains more of the lost time than what the functions show is the cause itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.hypotheses import catalogue, load
from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.case import Case, Quota, Starvation
from necroscope.vocabulary.leak_facts import LeakContainer, LeakFacts, LeakUnit
from necroscope.vocabulary.model import Subject
from necroscope.vocabulary.verdict import Link, Verdict
from stage.build_case import SMAPS, USER, WALK, again, case, leaks, mark, other, starvation, suspect

KNOWN = catalogue()
CONTAINER = "3f5c90aa27d1" + "0b4e" * 13
SLOW = {"cpu_frequency_hertz_core": 1.2e9, "cpu_frequency_hertz_core_before": 3.0e9}


def _judged(*starvations: Starvation, **more: object) -> Verdict:
    return judge(case(*starvations, **more), KNOWN)


def _cause(verdict: Verdict) -> tuple[str, Subject | None] | None:
    return None if verdict.cause is None else (verdict.cause.kind, verdict.cause.subject)


def _link(verdict: Verdict, kind: str) -> Link:
    return next(one for one in verdict.links if one.kind == kind)


# -- steal ---------------------------------------------------------------------------------------------------


def _steal(part: float, before: float | None = 0.02, **more: object) -> Starvation:
    numbers = {} if before is None else {"core_steal_before": before}
    walk = suspect(shapes=WALK, share=1 - part)
    return starvation(walk, steal=part, zombies=20_000.0, **numbers, **more)  # type: ignore[arg-type]


def test_six_tenths_of_steal_win_over_a_mechanism_that_matches_on_the_rest() -> None:
    verdict = _judged(_steal(0.6), leaks=leaks())
    assert verdict.verdict == "partly-explained"
    assert verdict.cause is not None
    assert _cause(verdict) == ("steal", None)
    assert (verdict.cause.cpu, verdict.cause.process) == (1, None)
    assert verdict.cause.confidence <= PRIORS.most_partial
    assert [one.kind for one in verdict.links] == ["symptom", "starved-core", "mechanism", "subject"]
    link = _link(verdict, "mechanism")
    assert link.claim.endswith("the hypervisor took 60 % of the core, 2 % in quiet times")
    assert link.doubt == "it explains 58 % of the lost time"
    assert [one.action for one in verdict.remedies] == ["ask-provider", "move-node"]


def test_what_it_won_over_is_weighed_and_told() -> None:
    verdict = _judged(_steal(0.6), leaks=leaks())
    first, second, *_ = verdict.candidates
    assert (first.kind, first.explains) == ("steal", 0.58)
    assert (second.kind, second.explains) == ("zombie-memcg", 0.4)
    assert second.confidence < first.confidence
    assert "process reader" in {one.hypothesis for one in verdict.tested}
    assert "steal" not in {one.hypothesis for one in verdict.tested}


def test_less_steal_than_the_mechanism_explains_only_costs_confidence() -> None:
    verdict = _judged(_steal(0.4), leaks=leaks())
    cause = _cause(verdict)
    assert cause is not None
    assert cause[0] == "zombie-memcg"
    assert "steal" in [one.kind for one in verdict.candidates]
    assert any("steal is not ruled out" in one.claim for one in verdict.links)


def test_steal_that_is_always_there_is_no_cause_of_what_is_rare() -> None:
    verdict = _judged(_steal(0.6, before=0.55), leaks=leaks())
    cause = _cause(verdict)
    assert cause is not None
    assert cause[0] == "zombie-memcg"
    assert next(one for one in verdict.tested if one.hypothesis == "steal").outcome == "ruled-out"


def test_steal_of_which_quiet_times_are_not_known_names_nobody_and_is_told() -> None:
    verdict = _judged(_steal(0.6, before=None))
    assert verdict.cause is None
    claims = [one.claim for one in verdict.links if one.kind == "not-ruled-out"]
    assert "steal is not ruled out: the hypervisor took 60 % of the core" in claims
    assert verdict.candidates[0].kind == "steal"


@pytest.mark.parametrize("part", [0.9, 1.0])
def test_steal_from_the_first_recorded_second_names_nobody(part: float) -> None:
    one = starvation(suspect(share=1 - part, before=None), steal=part, blocks=0, whole=(-900, -2))
    assert _judged(one).cause is None


@pytest.mark.parametrize("who", ["somebody who is always there", "nobody"])
def test_steal_where_nobody_stands_out_on_the_core(who: str) -> None:
    steady = suspect("steady", USER, 0.2, before=0.2, chance=0.5, cgroup="/steady")
    suspects = [steady] if who != "nobody" else []
    verdict = _judged(starvation(*suspects, steal=0.8, core_steal_before=0.02))
    assert _cause(verdict) == ("steal", None)
    assert verdict.cause is not None
    assert verdict.cause.process is None
    because = {one.hypothesis: one.because for one in verdict.tested}["cpu-affinity"]
    assert because.startswith(
        "nobody was sampled on the core; " if who == "nobody" else "20 % of the core went to steady"
    )
    assert [one.kind for one in verdict.candidates] == (["steal"] if who == "nobody" else ["steal", "user-hog"])


def test_a_core_that_the_hypervisor_took_long_before_is_not_the_cause() -> None:
    assert _judged(starvation(steal=0.9, core_steal_before=0.02, begin=-44, end=-40)).cause is None


def test_somebody_who_stands_out_comes_before_steal_elsewhere() -> None:
    elsewhere = starvation(steal=0.9, core_steal_before=0.0, cpu=3)
    assert _cause(_judged(elsewhere, starvation(suspect()))) == ("smaps-walk", Subject("process", "reader"))


def test_what_the_suspect_did_before_other_symptoms_says_nothing_of_a_rival() -> None:
    one = _steal(0.6)
    times = tuple(other(again(starvation(suspect(shapes=WALK)), at_s), seconds=at_s) for at_s in (-100, -200))
    for others in ((), times):
        verdict = _judged(one, others=others)
        assert _cause(verdict) == ("steal", None)
        assert "recurrence" not in [each.kind for each in verdict.links]
    alone, often = _judged(one, others=()), _judged(one, others=times)
    assert alone.cause == often.cause


# -- frequency -----------------------------------------------------------------------------------------------


def test_a_core_that_runs_slower_is_the_cause_and_not_who_always_computes_on_it() -> None:
    """Four tenths of the core at full speed are all of it at four tenths of the speed."""
    one = starvation(suspect("worker", USER, 1.0, before=0.42), waits={"victim": 6.0}, **SLOW)
    assert _cause(_judged(one)) == ("core-frequency", None)


def test_a_program_that_came_anew_is_the_cause_also_on_a_slow_core() -> None:
    cause = _cause(_judged(starvation(suspect(), **SLOW)))
    assert cause is None or cause == ("smaps-walk", Subject("process", "reader"))


@pytest.mark.parametrize("now", [2.8e9, 3.3e9])
def test_small_changes_of_frequency_are_ruled_out(now: float) -> None:
    numbers = {**SLOW, "cpu_frequency_hertz_core": now}
    verdict = _judged(starvation(suspect(), **numbers))
    assert _cause(verdict) == ("smaps-walk", Subject("process", "reader"))
    assert next(one for one in verdict.tested if one.hypothesis == "core-frequency").outcome == "ruled-out"


# -- quotas --------------------------------------------------------------------------------------------------


def _stopped(path: str, facts: LeakFacts, share: float = 0.5, source: Case | None = None) -> Verdict:
    one = starvation(suspect(share=share), quotas=[Quota(path, 0.9, 0.01), Quota("/always", 0.95, 0.95)])
    return judge(source or case(one, symptom=mark(), leaks=facts), KNOWN)


@pytest.mark.parametrize(
    ("path", "facts", "subject"),
    [
        (
            "/system.slice/jobs.service",
            LeakFacts(units=(LeakUnit("jobs.service", "/system.slice/jobs.service"),), systemd=True),
            Subject("unit", "jobs.service"),
        ),
        (
            f"/docker/{CONTAINER}",
            LeakFacts(containers=(LeakContainer("trainer", (CONTAINER,)),), engines=True),
            Subject("container", "trainer"),
        ),
        ("/jobs/one", LeakFacts(), Subject("cgroup", "/jobs/one")),
    ],
)
def test_a_quota_that_stopped_who_noticed_it(path: str, facts: LeakFacts, subject: Subject) -> None:
    verdict = _stopped(path, facts)
    # Nothing ties whom a quota stopped to whoever complains.
    assert verdict.verdict == "partly-explained"
    assert _cause(verdict) == ("cpu-quota", subject)
    assert [one.action for one in verdict.remedies] == ["raise-quota"]
    assert verdict.remedies[0].subject == subject.name


def test_what_the_kernel_complains_of_no_quota_explains() -> None:
    one = starvation(suspect(share=0.6), quotas=[Quota("/jobs/one", 0.9, 0.0)])
    cause = _cause(_judged(one))
    assert cause is None or cause[0] != "cpu-quota"


def test_a_job_that_its_own_quota_stopped_is_not_blamed_on_a_bystander_who_took_all_of_a_core() -> None:
    verdict = _stopped("/jobs/one", LeakFacts(), share=1.0)
    assert verdict.cause is None
    claims = [one.claim for one in verdict.links if one.kind == "not-ruled-out"]
    assert any("a quota stopped a cgroup for 0.9 s of each second, 0.01 in quiet times" in one for one in claims)


def test_two_mechanisms_that_may_be_it_leave_no_doubt_of_a_rival_that_explains_more() -> None:
    slab = ("do_syscall_64", "slab_show", "count_partial")
    who = suspect(shapes={SMAPS: 0.5, slab: 0.5}, share=0.5)
    made = case(starvation(who, quotas=[Quota("/jobs/one", 0.9, 0.0)]), symptom=mark())
    verdict = judge(made, KNOWN)
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cpu) == ("cpu-quota", None)


# -- rivals of users -----------------------------------------------------------------------------------------

OWN = """
[[rivals]]
id = "device-busy"
title = "our device is slow"
measure = "rise"
fact = "device_busy"
says = "it was busy for {percent}"
cause = true
noticed_only = true
"""


def _with(text: str) -> Catalogue:
    added = load(text, "mine")
    return replace(KNOWN, rivals=(*KNOWN.rivals, *added.rivals))


def test_another_rival_that_counts_for_who_noticed_has_no_cgroup_that_a_quota_stopped() -> None:
    one = starvation(suspect(share=0.5), quotas=[Quota("/jobs/one", 0.2, 0.2)], device_busy=0.9, device_busy_before=0.0)
    verdict = judge(case(one, symptom=mark()), _with(OWN))
    assert _cause(verdict) == ("device-busy", None)
