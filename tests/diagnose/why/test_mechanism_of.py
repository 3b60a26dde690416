"""By which mechanism somebody held a core."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.mechanism import Check, Mechanism
from necroscope.diagnose.why.mechanism_of import mechanism_of
from necroscope.diagnose.why.suspects import Suspect
from stage.incident import ODD, USER, WALK
from stage.looked import Frames, text

ZOMBIES = Mechanism(
    "zombie-memcg",
    "walks zombies",
    "many",
    ("x",),
    functions=("mem_cgroup_iter",),
    priority=90,
    confirm=(Check("zombies", "{value} zombies", at_least=1000),),
    refute=(Check("zombies", "only {value} zombies", at_most=100),),
)
RECLAIM = Mechanism("memcg-reclaim", "reclaims", "limit", ("x",), functions=("try_charge_memcg",), priority=70)
STORM = Mechanism("exec-storm", "starts", "many", ("x",), functions=("do_execveat_common",))
HOG = Mechanism("user-hog", "computes", "much", ("x",), priority=10)
UNKNOWN = Mechanism("unknown-mechanism", "unknown", "?", ("x",), priority=0)
KNOWN = (ZOMBIES, RECLAIM, STORM, HOG, UNKNOWN)


def _suspect(frames: Frames, kernel: float = 1.0, pids: tuple[int, ...] = (7,), share: float = 1.0) -> Suspect:
    return Suspect("p", "/", "", pids, 5.0, share, 0.0, 1e-9, kernel, ((text(frames), 5.0),))


def test_stacks_and_facts_together() -> None:
    found = mechanism_of(_suspect(WALK), {"zombies": 20_000.0}, KNOWN)
    assert found is not None
    assert (found.mechanism.id, found.share, found.functions) == ("zombie-memcg", 1.0, ("mem_cgroup_iter",))
    assert found.strength > 0.95
    assert [one.text for one in found.evidence] == ["20,000 zombies"]


def test_facts_refute_what_stacks_suggest() -> None:
    found = mechanism_of(_suspect(WALK), {"zombies": 3.0}, KNOWN)
    assert found is not None
    assert found.mechanism.id == "memcg-reclaim"
    assert [(one.hypothesis, one.because) for one in found.rejected] == [("zombie-memcg", "only 3 zombies")]


def test_a_fact_that_nobody_knows_costs_certainty() -> None:
    sure, unsure = (mechanism_of(_suspect(WALK), facts, KNOWN) for facts in ({"zombies": 5000.0}, {}))
    assert sure is not None
    assert unsure is not None
    assert unsure.mechanism.id == "zombie-memcg"
    assert unsure.strength < sure.strength


def test_what_is_not_known_is_told_as_unknown() -> None:
    found = mechanism_of(_suspect(ODD), {}, KNOWN)
    assert found is not None
    assert found.mechanism.id == "unknown-mechanism"
    assert mechanism_of(_suspect(ODD), {}, ()) is None


@pytest.mark.parametrize(
    ("facts", "context", "strength"),
    [
        ({"victim_waited": 0.9}, "", 0.75),
        ({"victim_waited": 0.2}, "", 0.45),
        ({}, "", 0.65),
        ({"victim_waited": 0.2}, "softirq", 0.75),
    ],
)
def test_unknown_work_in_the_kernel_is_to_blame_where_somebody_waited(
    facts: dict[str, float], context: str, strength: float
) -> None:
    found = mechanism_of(replace(_suspect(ODD), context=context), facts, KNOWN)
    assert found is not None
    assert (found.mechanism.id, found.strength) == ("unknown-mechanism", strength)


def test_a_program_that_computes_is_a_hog_the_more_so_the_more_it_keeps_others_away() -> None:
    alone = mechanism_of(_suspect(USER, 0.0), {"starved_s": 8.0, "victim_waited": 0.9}, KNOWN)
    sharing = mechanism_of(_suspect(USER, 0.0, share=0.6), {"starved_s": 3.0, "victim_waited": 0.1}, KNOWN)
    assert alone is not None
    assert sharing is not None
    assert alone.mechanism.id == sharing.mechanism.id == "user-hog"
    assert alone.strength > 0.9
    assert sharing.strength < 0.5


@pytest.mark.parametrize("facts", [{}, {"victim_waited": 0.0}, {"victim_waited": 0.3}])
def test_a_program_that_computes_all_the_time_is_not_named_when_nobody_waited(facts: dict[str, float]) -> None:
    found = mechanism_of(_suspect(USER, 0.0), {"starved_s": 26.0, **facts}, KNOWN)
    assert found is not None
    assert found.mechanism.id == "user-hog"
    assert found.strength < 0.5


def test_forked_workers_that_compute_are_no_storm_of_programs() -> None:
    pids = tuple(range(1, 200))
    facts = {"starved_s": 5.0, "victim_waited": 0.9}
    workers = mechanism_of(_suspect(USER, 0.07, pids), facts, KNOWN)
    assert workers is not None
    assert workers.mechanism.id == "user-hog"
    loading: Frames = (("do_syscall_64", "[kernel]"), ("bprm_execve", "[kernel]"), ("load_elf_binary", "[kernel]"))
    for part, kind in ((0.002, "user-hog"), (0.05, "exec-storm")):
        stacks = ((text(USER), 5.0 * (1 - part)), (text(loading), 5.0 * part))
        scripts = mechanism_of(replace(_suspect(USER, 0.07, pids), stacks=stacks), facts, KNOWN)
        assert scripts is not None
        assert scripts.mechanism.id == kind


def test_many_short_lives_are_a_storm_whatever_their_stacks() -> None:
    found = mechanism_of(_suspect(USER, 0.5, tuple(range(1, 200))), {}, KNOWN)
    assert found is not None
    assert found.mechanism.id == "exec-storm"
    for few in (15, 60):  # five seconds of fifteen, or of sixty: each of them did some work
        near = mechanism_of(_suspect(USER, 0.1, tuple(range(1, few))), {}, KNOWN)
        assert near is not None
        assert near.mechanism.id == "user-hog"


@pytest.mark.parametrize(("needs", "named"), [(True, "user-hog"), (False, "lock-spin")])
def test_what_needs_the_kernels_time_is_not_the_cause_of_who_mostly_computes(needs: bool, named: str) -> None:
    spins = Mechanism("lock-spin", "spins", "?", ("x",), functions=("futex_wait",), needs_kernel_time=needs)
    stacks = ((text((("main", "a.out"), ("futex_wait", "[kernel]"))), 2.0), (text((("main", "a.out"),)), 3.0))
    suspect = replace(_suspect(USER, kernel=0.4), stacks=stacks)
    found = mechanism_of(suspect, {}, (spins, HOG, UNKNOWN))
    assert found is not None
    assert found.mechanism.id == named
