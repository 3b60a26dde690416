"""Which starved core suits a symptom best, and how sure it is that somebody had it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.clock import NS
from necroscope.diagnose.judge.candidates import (
    Candidate,
    candidates,
    constant,
    core_strength,
    nearness,
    represented_share,
    waited_share,
    who_strength,
)
from necroscope.diagnose.judge.suspects import main_suspect, title, top_functions, unusual
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.case import LineUp, NamedCore, RecorderStart, Starvation, Wait
from stage.build_case import ODD, SMAPS, USER, at, line_up, stack, starvation, suspect, symptom, window

SAID = NamedCore(0, True, "kmsg")
ROUTED = NamedCore(0, False, "irq-routing", 3, ("eth0-Tx-Rx-3",))
LONG_AGO = window(-900, 60)


def _tried(
    *starvations: Starvation, named: NamedCore | None = None, starts: tuple[RecorderStart, ...] = ()
) -> list[Candidate]:
    return candidates(symptom(), named, starvations, starts, PRIORS)


def _who(found: list[Candidate]) -> list[str]:
    return [one.suspect.name for one in found if one.suspect is not None]


def _score(one: Starvation, named: NamedCore | None = None) -> float:
    return _tried(one, named=named)[0].score


# -- which core ----------------------------------------------------------------------------------------------


def test_the_kernel_before_programs_and_the_near_before_the_far() -> None:
    computes = starvation(suspect("computes", USER), cpu=0)
    walks = starvation(suspect("walks"), cpu=1)
    walked = starvation(suspect("walked"), cpu=2, begin=-44, end=-38)
    found = _tried(computes, walked, walks)
    assert _who(found) == ["walks", "computes", "walked"]
    assert found[0].score > 1.5 * found[1].score > 2 * found[2].score


def test_scores_rank_as_people_would() -> None:
    best = _score(starvation(suspect()))
    assert best == pytest.approx(1.0)
    assert _score(starvation(suspect("x", USER))) == pytest.approx(PRIORS.score_user)
    assert _score(starvation(suspect(share=0.3), suspect("always", USER, 0.7, before=0.7, chance=0.5))) < 0.5 * best
    assert _score(starvation(suspect(before=0.9, chance=0.4))) < 0.05
    assert _score(starvation(suspect(before=None), blocks=0)) == pytest.approx(PRIORS.score_guess)
    assert _score(starvation(suspect(), begin=-4, end=-2)) == pytest.approx(0.5)
    assert _score(starvation()) == 0.0


def test_the_longer_ago_the_less() -> None:
    run = starvation(suspect(), end=-2).run
    assert nearness(run, at(0), PRIORS) == nearness(run, at(10), PRIORS) == nearness(run, at(-8), PRIORS) == 1.0
    assert nearness(run, at(20), PRIORS) == pytest.approx(0.368, abs=0.01)


def test_a_short_one_must_have_ended_later() -> None:
    short, long = (starvation(suspect(), begin=-2 - seconds, end=-2).run for seconds in (2, 6))
    assert nearness(short, at(4), PRIORS) == nearness(long, at(10), PRIORS) == 1.0
    assert nearness(short, at(14), PRIORS) == pytest.approx(0.368, abs=0.01)
    assert nearness(long, at(14), PRIORS) == pytest.approx(0.670, abs=0.01)


def test_of_several_starved_cores_the_one_for_which_somebody_is_known_to_have_waited_leads() -> None:
    one, other = starvation(suspect("busy"), cpu=0), starvation(suspect("guilty"), cpu=1, waits={"victim": 3.0})
    found = _tried(one, other)
    assert _who(found) == ["guilty", "busy"]
    assert found[1].score == pytest.approx(PRIORS.score_unwaited * found[0].score)
    assert _who(_tried(one, starvation(suspect("guilty"), cpu=1))) == ["busy", "guilty"]


def test_the_core_that_the_message_names_wins_and_where_interrupts_go_counts_less() -> None:
    named, other = starvation(suspect("computes", USER), cpu=0), starvation(suspect("walks"), cpu=1)
    assert _who(_tried(named, other, named=SAID)) == ["computes", "walks"]
    assert _who(_tried(named, other, named=ROUTED)) == ["walks", "computes"]
    assert _score(other, SAID) < _score(other, ROUTED) < _score(other)


def test_a_core_that_is_busy_all_along_and_one_for_which_nobody_waited_suit_less() -> None:
    assert _score(starvation(suspect(), whole=(-600, 40))) == pytest.approx(PRIORS.score_all_along)
    assert _score(starvation(suspect(), whole=(-300, 40))) == pytest.approx(1.0)
    assert _score(starvation(suspect(), waits={"other": 0.1})) == pytest.approx(PRIORS.score_nobody_waits)
    assert _score(starvation(suspect(), waits={"other": 0.1, "victim": 5.0})) == pytest.approx(1.0)
    assert _score(starvation(suspect(), waits={"reader": 0.0})) == pytest.approx(1.0)


def test_where_little_was_sampled_whoever_has_the_samples_stands_for_the_rest() -> None:
    assert _score(starvation(suspect(share=0.1), sampled=0.1)) == pytest.approx(1.0)
    assert _score(starvation(suspect(share=0.7), sampled=0.7)) == pytest.approx(0.7)


def test_what_the_hypervisor_took_nobody_here_did() -> None:
    assert represented_share(starvation(suspect(share=0.1), sampled=0.1), PRIORS) == 1.0
    assert represented_share(starvation(suspect(share=0.3), steal=0.7), PRIORS) == pytest.approx(0.3)
    assert represented_share(starvation(suspect(share=0.2), steal=0.5, sampled=0.2), PRIORS) == pytest.approx(0.5)
    assert represented_share(starvation(suspect(share=0.8)), PRIORS) == pytest.approx(0.8)
    assert represented_share(starvation(suspect(share=0.5)), PRIORS) == pytest.approx(0.5)


def test_of_the_same_again_the_last_time_before_the_symptom_leads() -> None:
    """A log whose times are uncertain: what came after the symptom may have caused it, but rather what came before."""
    runs = [starvation(suspect(), begin=begin, end=begin + 6) for begin in (-30, -10, 3)]
    found = _tried(*runs)
    assert [(one.run.from_ns - at(0)) // NS for one in found] == [-10, 3, -30]


@pytest.mark.parametrize(("pid", "begin", "there"), [(314, -18, False), (315, -18, True), (314, -5, True)])
def test_the_recorders_own_start_is_no_candidate(pid: int, begin: float, there: bool) -> None:
    own = starvation(suspect("necroscope", pid=pid), begin=begin, end=begin + 4)
    assert bool(_tried(own, starts=(RecorderStart(at(-20), 314),))) is there


def test_a_core_on_which_nobody_was_seen_while_the_recorder_began_is_its_start() -> None:
    nobody = starvation(begin=-18, end=-14)
    assert _tried(nobody, starts=(RecorderStart(at(-20), 314),)) == []
    assert [one.suspect for one in _tried(nobody)] == [None]


# -- who was on it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "chance", "strange"),
    [(0.0, 1e-9, True), (0.6, 1e-9, True), (0.7, 1e-9, False), (0.0, 0.01, False), (None, 1.0, True)],
)
def test_unusual_is_more_than_before_and_more_than_by_chance(
    before: float | None, chance: float, strange: bool
) -> None:
    assert unusual(suspect(before=before, chance=chance), PRIORS) is strange


def test_who_is_unusual_is_the_suspect_though_another_took_more() -> None:
    always = suspect("always", USER, 0.6, before=0.58, chance=0.4, cgroup="/a", pid=1)
    came = suspect("came", SMAPS, 0.3, cgroup="/c", pid=2)
    found = main_suspect(line_up(always, came), PRIORS)
    assert found is not None
    assert found.name == "came"
    assert main_suspect(LineUp(), PRIORS) is None


@pytest.mark.parametrize(("number", "together"), [(2, False), (10, True)])
def test_many_of_a_cgroup_are_one_suspect_and_a_few_are_not(number: int, together: bool) -> None:
    crowd = [suspect(f"p{n}", SMAPS, 1 / number, pid=10 + n, cgroup="/same") for n in range(number)]
    found = main_suspect(line_up(*crowd), PRIORS)
    assert found is not None
    assert found.cgroup == "/same"
    assert (found.share > 0.9, found.processes) == (together, number if together else 1)


def test_a_cgroup_that_took_hardly_more_does_not_take_its_processes_place() -> None:
    crowd = [suspect(f"p{n}", SMAPS, 0.03, pid=10 + n, cgroup="/same") for n in range(9)]
    assert main_suspect(line_up(*crowd), PRIORS) == line_up(*crowd).suspects[0]


def test_what_it_is_called() -> None:
    assert title(suspect()) == "reader (pid 77)"
    assert title(suspect(processes=3)) == "reader"
    assert title(suspect(context="softirq")) == "soft interrupts"
    assert title(suspect(context="irq")) == "interrupts"


def test_in_which_functions_the_time_went() -> None:
    stacks = (stack(("a", "b"), 1.0), stack(("c", "b"), 2.0), stack(("a",), 1.0))
    assert top_functions(stacks) == [("b", 0.75), ("a", 0.25)]
    assert top_functions(()) == []


# -- how sure that is ----------------------------------------------------------------------------------------


def _core(one: Starvation, named: NamedCore | None = None, rival: float = 0.0) -> float:
    return core_strength(one.run, symptom(), named, rival, 1.0, PRIORS)


def test_a_rival_that_suits_as_well_takes_certainty_below_the_floor() -> None:
    one = starvation(suspect())
    assert _core(one) == PRIORS.core_sure
    assert _core(one, rival=0.5) > 0.8
    assert _core(one, rival=1.0) < PRIORS.floor
    assert _core(one, SAID) < PRIORS.floor < _core(one, ROUTED) < PRIORS.core_sure


def test_what_began_when_the_symptom_had_been_told_hardly_made_it() -> None:
    after = starvation(suspect(), begin=0, end=6)
    assert _core(after) < 0.6
    assert core_strength(after.run, replace(symptom(), source="asked"), None, 0.0, 1.0, PRIORS) == PRIORS.core_sure


def _sure(one: Starvation) -> float:
    return who_strength(one.line_up.suspects[0], one.line_up, one, LONG_AGO, PRIORS)


def test_shares_and_baselines_make_sure() -> None:
    assert _sure(starvation(suspect())) == PRIORS.who_most
    assert _sure(starvation(suspect(share=0.4), suspect("x", USER, 0.6, before=0.6))) < 0.8
    assert _sure(starvation(suspect(before=None), blocks=0)) == pytest.approx(0.9 * PRIORS.who_most)
    assert _sure(starvation(suspect("x", USER, before=None), blocks=0)) < 0.75
    assert _sure(starvation(suspect(share=0.3), sampled=0.3)) < 0.8
    assert _sure(starvation(suspect(before=0.9, chance=0.5))) < PRIORS.floor
    assert _sure(starvation(suspect(), begin=-4, end=-2)) == pytest.approx(PRIORS.who_short * PRIORS.who_most)


@pytest.mark.parametrize(
    ("whole", "blocks", "always"),
    [((-900, -2), 0, True), ((-898, -2), 0, True), ((-900, -2), 3, False), ((-890, -2), 0, False)],
)
def test_what_was_so_from_the_first_recorded_second_shows_nobody(
    whole: tuple[float, float], blocks: int, always: bool
) -> None:
    one = starvation(suspect(before=None if not blocks else 0.0), blocks=blocks, whole=whole)
    assert constant(one, LONG_AGO, PRIORS) is always
    assert (_sure(one) < PRIORS.floor) is always


# -- who waited ----------------------------------------------------------------------------------------------


def test_the_longest_wait_of_somebody_else() -> None:
    run = starvation(suspect()).run
    waits = (Wait("a", 1, 2.0, 4.0), Wait("b", 2, 6.0, 7.0), Wait("short", 3, 0.4, 0.4), Wait("reader", 9, 7.0, 7.0))
    assert waited_share(waits, run, suspect()) == pytest.approx(6 / 7)
    assert waited_share(waits[2:3], run, suspect()) is None
    assert waited_share((), run, suspect()) is None


def test_the_suspects_own_waiting_does_not_count_whatever_its_threads_are_called() -> None:
    run = starvation(suspect()).run
    assert waited_share((Wait("reader", 999, 7.0, 7.0),), run, suspect()) is None
    assert waited_share((Wait("io-worker", 77, 7.0, 7.0),), run, suspect(pid=77)) is None
    assert waited_share((Wait("io-worker", 78, 7.0, 7.0),), run, suspect(pid=77)) == 1.0


def test_more_than_all_of_the_known_time_is_all_of_it() -> None:
    assert waited_share((Wait("a", 1, 9.0, 7.0),), starvation(suspect()).run, suspect()) == 1.0


def test_odd_stacks_are_stacks() -> None:
    assert _score(starvation(suspect(shapes=ODD))) == pytest.approx(1.0)
