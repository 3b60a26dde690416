"""By which mechanism somebody took a core: hypotheses compete for its samples."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.hypotheses.hypothesis import Check, Hypothesis, Storm
from necroscope.diagnose.judge.mechanism import Found, mechanism_of
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.case import Suspect
from stage.build_case import EXEC, ODD, SMAPS, USER, WALK, Functions, suspect

ZOMBIES = Hypothesis(
    "zombie-memcg",
    "iterates over zombies",
    functions=("mem_cgroup_iter",),
    priority=90,
    confirm=(Check("zombies", "{value} zombies", at_least=1000),),
    refute=(Check("zombies", "only {value} zombies", at_most=100),),
)
RECLAIM = Hypothesis("memcg-reclaim", "reclaims", functions=("try_charge_memcg",), priority=70)
STORM = Hypothesis(
    "exec-storm",
    "starts",
    functions=("do_execveat_common",),
    storm=Storm(20, 0.03, 0.3, ("bprm_execve", "load_elf_binary"), 0.01),
)
HOG = Hypothesis("user-hog", "computes", nameless="user", needs_kernel_time=False, priority=10)
UNKNOWN = Hypothesis("unknown-mechanism", "unknown", nameless="kernel", priority=0)
KNOWN = (ZOMBIES, RECLAIM, STORM, HOG, UNKNOWN)
A: Functions = ("sys_a", "does_a")
B: Functions = ("sys_b", "does_b")
OUTER: Functions = ("outer",)
INNER: Functions = ("outer", "inner")


def _of(one: Suspect, facts: dict[str, float], known: tuple[Hypothesis, ...] = KNOWN) -> Found | None:
    return mechanism_of(one, facts, Catalogue(known), PRIORS)


def _found(one: Suspect, facts: dict[str, float], known: tuple[Hypothesis, ...] = KNOWN) -> Found:
    found = _of(one, facts, known)
    assert found is not None
    return found


def _id(one: Suspect, facts: dict[str, float], known: tuple[Hypothesis, ...] = KNOWN) -> str:
    return _found(one, facts, known).best.hypothesis.id


def _plain(name: str, functions: Functions, **more: object) -> Hypothesis:
    given: dict[str, object] = {"least_share": 0.2, **more}
    return Hypothesis(name, name, functions=functions, **given)  # type: ignore[arg-type]


# -- stacks and numbers --------------------------------------------------------------------------------------


def test_stacks_and_numbers_together() -> None:
    found = _found(suspect(shapes=WALK), {"zombies": 20_000.0})
    best = found.best
    assert (best.hypothesis.id, best.share, best.functions) == ("zombie-memcg", 1.0, ("mem_cgroup_iter",))
    assert best.strength == 1.0
    assert [one.text for one in best.evidence] == ["20,000 zombies"]
    assert [one.hypothesis.id for one in found.others] == ["memcg-reclaim"]


def test_numbers_refute_what_stacks_suggest() -> None:
    found = _found(suspect(shapes=WALK), {"zombies": 3.0})
    assert found.best.hypothesis.id == "memcg-reclaim"
    (out,) = found.ruled_out
    assert (out.hypothesis, out.outcome, out.because) == ("zombie-memcg", "ruled-out", "only 3 zombies")
    assert "100 % of the samples look like it (mem_cgroup_iter)" in out.evidence[1].text


def test_confirmed_is_surer_than_unasked_than_unknown_than_as_usual_than_not_confirmed() -> None:
    asks = replace(ZOMBIES, confirm=(Check("execs", "x", at_least=5),), refute=())
    unasked = replace(asks, confirm=())
    held = replace(asks, confirm=(Check("execs", "x", at_least=5, usual=True),))

    def strength(one: Hypothesis, **facts: float) -> float:
        return _found(suspect(shapes=WALK), facts, (one,)).best.strength

    confirmed, none, unknown = strength(asks, execs=9), strength(unasked), strength(asks)
    as_usual, failed = strength(asks, execs=9, execs_before=8), strength(asks, execs=1)
    assert confirmed > none > unknown == as_usual > failed
    assert strength(held, execs=9) == strength(held) == none
    assert strength(held, execs=1) == failed


@pytest.mark.parametrize(("part", "strength"), [(1.0, 1.0), (0.5, 0.84)])
def test_the_more_samples_show_it_the_surer(part: float, strength: float) -> None:
    shapes = {WALK: part, USER: 1 - part}
    only = (replace(ZOMBIES, needs_kernel_time=False), HOG)
    assert _found(suspect(shapes=shapes), {"zombies": 5000.0}, only).best.strength == pytest.approx(strength)


# -- hypotheses that compete ---------------------------------------------------------------------------------


def test_of_what_the_same_samples_show_the_more_specific_is_the_answer() -> None:
    special, common = _plain("special", ("inner",), priority=60), _plain("common", ("outer",), priority=40)
    for part in (1.0, 0.5):
        found = _found(suspect(shapes={INNER: part, OUTER: 1 - part}), {}, (special, common))
        assert (found.best.hypothesis.id, found.either) == ("special", None)
        assert [one.hypothesis.id for one in found.others] == ["common"]


def test_of_what_different_samples_show_the_larger_is_the_answer_whatever_its_priority() -> None:
    large, small = _plain("large", ("does_a",), priority=40), _plain("small", ("does_b",), priority=60)
    found = _found(suspect(shapes={A: 0.7, B: 0.3}), {}, (large, small))
    assert (found.best.hypothesis.id, found.either) == ("large", None)


def test_two_that_explain_different_samples_equally_well_are_either() -> None:
    a, b = _plain("a", ("does_a",)), _plain("b", ("does_b",))
    found = _found(suspect(shapes={A: 0.5, B: 0.5}), {}, (a, b))
    assert found.either is not None
    assert {found.best.hypothesis.id, found.either.hypothesis.id} == {"a", "b"}


def test_a_part_that_numbers_speak_against_takes_no_place_and_too_small_a_part_neither() -> None:
    asks = (Check("execs", "x", at_least=5),)
    special, common = (
        _plain("special", ("inner",), priority=60, confirm=asks),
        _plain("common", ("outer",), priority=40),
    )
    who = suspect(shapes={INNER: 0.45, OUTER: 0.55})
    assert _found(who, {"execs": 9.0}, (special, common)).best.hypothesis.id == "special"
    assert _found(who, {"execs": 1.0}, (special, common)).best.hypothesis.id == "common"
    little = suspect(shapes={INNER: 0.3, OUTER: 0.7})
    assert _found(little, {"execs": 9.0}, (special, common)).best.hypothesis.id == "common"


def test_numbers_decide_between_two_of_the_same_size() -> None:
    asks = (Check("execs", "x", at_least=5),)
    a, b = _plain("a", ("does_a",), confirm=asks), _plain("b", ("does_b",), priority=60)
    found = _found(suspect(shapes={A: 0.5, B: 0.5}), {"execs": 1.0}, (a, b))
    assert (found.best.hypothesis.id, found.either) == ("b", None)


def test_two_weak_ones_of_the_same_size_are_either_and_not_the_one_of_the_higher_priority() -> None:
    asks = (Check("execs", "x", at_least=5),)
    a, b = (_plain(name, (f"does_{name}",), confirm=asks, priority=p) for name, p in (("a", 40), ("b", 60)))
    found = _found(suspect(shapes={A: 0.5, B: 0.5}), {}, (a, b))
    assert found.best.strength < PRIORS.mechanism_carries
    assert found.either is not None


@pytest.mark.parametrize("of", ["a", "b"])
def test_one_that_is_a_part_of_the_other_is_no_other_one(of: str) -> None:
    a = _plain("a", ("does_a",), same=("b",) if of == "a" else ())
    b = _plain("b", ("does_b",), same=("a",) if of == "b" else ())
    assert _found(suspect(shapes={A: 0.5, B: 0.5}), {}, (a, b)).either is None


def test_many_small_confirmed_ones_do_not_beat_what_took_the_time() -> None:
    sure = (Check("execs", "x", at_least=5),)
    small = _plain("small", ("does_b",), confirm=sure, priority=95)
    found = _found(suspect(shapes={A: 0.75, B: 0.25}), {"execs": 9.0}, (_plain("large", ("does_a",)), small))
    assert found.best.hypothesis.id == "large"


# -- what has no name ----------------------------------------------------------------------------------------


def test_what_is_not_known_is_told_as_unknown() -> None:
    assert _id(suspect(shapes=ODD), {}) == "unknown-mechanism"
    assert _of(suspect(shapes=ODD), {}, ()) is None


@pytest.mark.parametrize(
    ("facts", "context", "strength"),
    [
        ({"victim_waited": 0.9}, "", PRIORS.unnamed_waited),
        ({"victim_waited": 0.2}, "", PRIORS.nobody),
        ({}, "", PRIORS.nobody),
        ({"victim_waited": 0.2}, "softirq", PRIORS.unnamed_waited),
    ],
)
def test_unknown_work_in_the_kernel_is_to_blame_where_somebody_waited(
    facts: dict[str, float], context: str, strength: float
) -> None:
    found = _found(replace(suspect(shapes=ODD), context=context), facts)
    assert (found.best.hypothesis.id, found.best.strength) == ("unknown-mechanism", strength)
    assert not found.best.named


def test_a_program_that_computes_is_a_hog_the_more_so_the_more_it_keeps_others_away() -> None:
    alone = _found(suspect(shapes=USER), {"starved_s": 8.0, "victim_waited": 0.9}).best
    sharing = _found(suspect(shapes=USER, share=0.6), {"starved_s": 3.0, "victim_waited": 0.9}).best
    assert alone.hypothesis.id == sharing.hypothesis.id == "user-hog"
    assert alone.strength == PRIORS.hog_most > 1.5 * sharing.strength


@pytest.mark.parametrize("facts", [{}, {"victim_waited": 0.0}, {"victim_waited": 0.3}])
def test_a_program_that_computes_all_the_time_is_not_named_when_nobody_waited(facts: dict[str, float]) -> None:
    found = _found(suspect(shapes=USER), {"starved_s": 26.0, **facts})
    assert found.best.hypothesis.id == "user-hog"
    assert found.best.strength < PRIORS.floor


def test_an_entry_for_the_nameless_can_be_refuted_as_well() -> None:
    hog = replace(HOG, refute=(Check("core_user", "only {percent}", at_most=0.2),))
    facts = {"starved_s": 8.0, "victim_waited": 0.9}
    for user, sure in ((0.9, True), (0.1, False)):
        found = _found(suspect(shapes=USER), facts | {"core_user": user}, (hog,))
        assert (found.best.strength > PRIORS.floor) is sure


# -- storms --------------------------------------------------------------------------------------------------


def test_forked_workers_that_compute_are_no_storm_of_programs() -> None:
    facts = {"starved_s": 5.0, "victim_waited": 0.9}
    workers = suspect(shapes={USER: 0.93, ("do_syscall_64",): 0.07}, processes=199)
    assert _id(workers, facts) == "user-hog"
    for part, kind in ((0.002, "user-hog"), (0.05, "exec-storm")):
        assert _id(suspect(shapes={USER: 1 - part, EXEC[:1] + EXEC[2:]: part}, processes=240), facts) == kind


def test_many_short_lives_are_a_storm_whatever_their_stacks() -> None:
    shapes = {USER: 0.5, ("do_syscall_64",): 0.5}
    found = _found(suspect(shapes=shapes, processes=240), {}).best
    assert (found.hypothesis.id, found.functions) == ("exec-storm", ())
    for few in (15, 60):  # seven seconds of fifteen, or of sixty: each of them did some work
        assert _id(suspect(shapes={USER: 0.9, ("do_syscall_64",): 0.1}, processes=few), {}) == "user-hog"


def test_a_storm_that_numbers_refute_or_confirm() -> None:
    storm = replace(
        STORM,
        confirm=(Check("execs", "x", at_least=20),),
        refute=(Check("execs", "only {value}", at_most=5),),
    )
    shapes, known = {USER: 0.5, ("do_syscall_64",): 0.5}, (storm, HOG, UNKNOWN)
    short = suspect(shapes=shapes, processes=240)
    assert _found(short, {"execs": 90.0}, known).best.strength == PRIORS.mechanism_storm
    assert _found(short, {}, known).best.strength == PRIORS.mechanism_storm_unconfirmed
    assert _id(short, {"execs": 2.0}, known) == "unknown-mechanism"


def test_a_mechanism_that_is_shown_comes_before_a_storm() -> None:
    short = suspect(shapes=WALK, processes=240)
    assert _id(short, {"zombies": 20_000.0}) == "zombie-memcg"


@pytest.mark.parametrize(("needs", "named"), [(True, "user-hog"), (False, "lock-spin")])
def test_what_needs_the_kernels_time_is_not_the_cause_of_who_mostly_computes(needs: bool, named: str) -> None:
    spins = _plain("lock-spin", ("futex_wait",), needs_kernel_time=needs)
    found = _found(suspect(shapes={("futex_wait",): 0.4, USER: 0.6}), {}, (spins, HOG, UNKNOWN))
    assert found.best.hypothesis.id == named
    assert "lock-spin" in {one.hypothesis.id for one in (found.best, *found.others)}


def test_half_of_the_samples_are_enough_even_of_who_mostly_computes() -> None:
    walk = _plain("smaps", ("show_smap",))
    assert _id(suspect(shapes={SMAPS: 0.5, USER: 0.5}), {}, (walk, HOG)) == "smaps"
