"""Whom a verdict about what was left behind blames, and whom not: managers, bystanders, containers, coincidences."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.leak_facts import Below, LeakContainer, LeakFacts, LeakUnit, Left, Leftovers, Maker
from necroscope.vocabulary.model import Subject
from necroscope.vocabulary.verdict import Verdict
from stage.build_case import SMAPS, WALK, again, at, case, leaks, other, starvation, suspect, zombie_walk

KNOWN = catalogue()
INNER = "3f5c90aa27d1" + "0b4e" * 13
MOMENTS = tuple(at(-800 + 90 * n) for n in range(8))


def _left(*left: Left, place: str = "", total: int = 20_000, **more: object) -> LeakFacts:
    """Zombies that lie in some place, and those that were seen to be left behind."""
    seen = sum(one.count for one in left)
    zombies = Leftovers(total, (Below(place, total),) if place else (), left=left, left_total=seen)
    given: dict[str, object] = {"systemd": True, **more}
    return LeakFacts(span=(at(-900), at(30)), zombies=zombies, **given)  # type: ignore[arg-type]


def _verdict(facts: LeakFacts) -> Verdict:
    return judge(case(zombie_walk(), leaks=facts), KNOWN)


def _subject(facts: LeakFacts) -> Subject | None:
    verdict = _verdict(facts)
    assert verdict.cause is not None
    assert verdict.cause.kind == "zombie-memcg"
    return verdict.cause.subject


@pytest.mark.parametrize(
    ("path", "maker"),
    [
        ("/kubepods/burstable/pod1/{id}", Maker(7000, "runs-it", "/system.slice/engine.service")),
        ("/kubepods.slice/kubepods-podaa.slice/cri-{id}.scope", Maker(1, "manager", "/init.scope")),
        ("/user.slice/user-0.slice/session-{n}.scope", Maker(1, "manager", "/init.scope")),
    ],
)
def test_who_makes_cgroups_for_others_does_not_leak_them(path: str, maker: Maker) -> None:
    ids = [hashlib.sha256(bytes([n])).hexdigest() for n in range(len(MOMENTS))]
    left = [Left(path.format(id=ids[n], n=n), maker.pid, 1, (moment,)) for n, moment in enumerate(MOMENTS)]
    assert _subject(_left(*left, place=path.partition("{")[0].rstrip("/"), makers=(maker,))) is None


def test_a_process_that_leaks_is_named() -> None:
    left = [Left(f"/batch/job{n}", 4242, 1, (moment,)) for n, moment in enumerate(MOMENTS)]
    facts = _left(*left, place="/batch", makers=(Maker(4242, "runs-jobs", "/runs-jobs"),))
    assert _subject(facts) == Subject("process", "runs-jobs")


def test_a_unit_inside_a_container_is_not_this_nodes() -> None:
    path = f"/docker/{INNER}/system.slice/agent.service"
    facts = _left(
        Left(path, None, 8, MOMENTS),
        place="/docker",
        units=(LeakUnit("agent.service", "/system.slice/agent.service"),),
        containers=(LeakContainer("node-in-a-box", (INNER[:12],)),),
        engines=True,
    )
    assert _subject(facts) == Subject("container", "node-in-a-box")


def test_a_leak_here_does_not_explain_zombies_over_there() -> None:
    facts = leaks()
    elsewhere = replace(facts.zombies, below=(Below("/somewhere/else", 20_000), Below("/system.slice", 12)))
    assert _subject(replace(facts, zombies=elsewhere)) is None


def test_reclaim_beside_zombies_is_not_a_walk_over_them() -> None:
    reclaims = (*WALK[:-1], "shrink_lruvec")
    group = "/system.slice/too-big.service"
    units = LeakUnit("too-big.service", group)
    one = starvation(suspect("too-big", reclaims, cgroup=group), cpu=2, zombies=20_000.0)
    facts = leaks()
    verdict = judge(case(one, leaks=replace(facts, units=(*facts.units, units))), KNOWN)
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.subject) == ("memcg-reclaim", Subject("unit", "too-big.service"))


def test_where_only_the_leaker_is_doubtful_nobody_is_named_for_it_and_the_rest_stands() -> None:
    """Half a confidence in the walk is enough for the walk, and not for who leaks."""
    few = replace(leaks("doubtful.service", seen=3), units=(), restarts=(), systemd=False)
    found = []
    for end in (-2, -17):
        one = zombie_walk()
        run = replace(one.run, from_ns=at(end - 7), to_ns=at(end))
        verdict = judge(case(replace(one, run=run, whole=run), leaks=few), KNOWN)
        assert verdict.cause is not None
        assert verdict.cause.kind == "zombie-memcg"
        assert verdict.cause.confidence >= PRIORS.floor
        found.append((verdict.cause.subject, any(one.what.startswith("who leaks") for one in verdict.missing)))
    assert found == [(Subject("unit", "doubtful.service"), False), (None, True)]


def test_directories_are_their_leakers_too() -> None:
    listing = (*SMAPS[:2], "iterate_dir", "kernfs_fop_readdir")
    left = Left("/system.slice/maker.service/x", None, 9, tuple(at(-800 + 80 * n) for n in range(9)))
    facts = LeakFacts(
        span=(at(-900), at(30)),
        directories=Leftovers(3_000, left=(left,), left_total=9),
        units=(LeakUnit("maker.service", "/system.slice/maker.service"),),
        systemd=True,
    )
    verdict = judge(case(starvation(suspect("agent", listing), directories=3_000.0), leaks=facts), KNOWN)
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.subject) == ("cgroup-directories", Subject("unit", "maker.service"))
    (link,) = (one for one in verdict.links if one.kind == "accumulation")
    assert [one.text for one in link.evidence] == ["3,000 cgroup directories hold no process"]


def test_the_priors_given_are_those_that_leaks_are_judged_by() -> None:
    made = case(zombie_walk(), leaks=leaks())
    strict = judge(made, KNOWN, replace(PRIORS, leak_least_seen=1000))
    assert judge(made, KNOWN).cause != strict.cause
    assert strict.cause is not None
    assert strict.cause.subject is None


def test_the_same_walk_at_every_symptom_makes_nobody_a_leaker() -> None:
    times = tuple(other(again(zombie_walk(), -90.0 * n), seconds=-90.0 * n) for n in range(1, 5))
    verdict = judge(case(zombie_walk(), others=times), KNOWN)
    assert verdict.cause is not None
    assert (verdict.cause.subject, verdict.verdict) == (None, "partly-explained")
    assert verdict.cause.confidence <= PRIORS.most_partial
