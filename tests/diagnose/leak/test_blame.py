"""Who is to blame for what has accumulated: one, or nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.leak import attribute, source
from necroscope.diagnose.leak.attribution import Leak
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.leak_facts import (
    Below,
    LeakContainer,
    LeakFacts,
    LeakFamily,
    LeakUnit,
    Left,
    Leftovers,
    Maker,
    Named,
    RestartsOf,
    What,
)
from necroscope.vocabulary.model import Subject

ID = "c6fd" * 16
SPAN = (0, 100_000_000_000)
POOL = Maker(42, "pool", "/tools/pool")


def _left(path: str, count: int, maker: int | None = None) -> Left:
    return Left(path, maker, count, tuple(1_000_000_000 * (n + 1) for n in range(count)))


def _facts(*left: Left, what: What = "zombies", **more: object) -> LeakFacts:
    leftovers = Leftovers(left=left, left_total=sum(one.count for one in left))
    given: dict[str, object] = {"span": SPAN, "makers": (POOL,), "systemd": True, what: leftovers}
    return LeakFacts(**{**given, **more})  # type: ignore[arg-type]


def _blamed(facts: LeakFacts, what: What = "zombies") -> Leak | None:
    return source(attribute(facts, what))


def _subject(facts: LeakFacts, what: What = "zombies") -> Subject | None:
    found = _blamed(facts, what)
    return found.subject if found is not None else None


# -- processes ---------------------------------------------------------------------------------------------


def test_a_process_that_leaks_is_named_with_pid_parent_and_cgroup() -> None:
    maker = replace(POOL, parent_pid=7, parent_name="runner")
    found = _blamed(_facts(*(_left(f"/jobs/j{n}", 1, 42) for n in range(9)), makers=(maker,)))
    assert found is not None
    assert found.subject == Subject("process", "pool")
    assert found.process is not None
    assert (found.process.pid, found.process.parent_pid, found.process.parent_name) == (42, 7, "runner")
    texts = [one.text for one in found.evidence]
    assert (
        "pool (pid 42, child of runner (pid 7), in /tools/pool) made 9 of those whose creator was sampled" in texts[1]
    )
    assert [(one.kind, one.value) for one in found.witnesses] == [("makers", 9)]


def test_of_processes_that_take_turns_none_is_the_one() -> None:
    makers = tuple(Maker(pid, "job", "/tools") for pid in range(100, 104))
    found = _blamed(_facts(*(_left(f"/jobs/j{n}", 1, 100 + n % 8) for n in range(16)), makers=makers))
    assert found is not None
    assert found.process is not None
    assert (found.process.pid, found.process.made, found.process.processes) == (None, 8, 4)


@pytest.mark.parametrize(
    ("cgroup", "subject"),
    [
        ("/system.slice/pool.service", Subject("unit", "pool.service")),
        (f"/docker/{ID}", Subject("container", "web")),
        ("/system.slice/batch.scope", Subject("process", "pool")),
    ],
)
def test_the_unit_or_container_of_who_made_them(cgroup: str, subject: Subject) -> None:
    facts = _facts(
        *(_left(f"/jobs/j{n}", 1, 42) for n in range(9)),
        makers=(replace(POOL, cgroup=cgroup),),
        containers=(LeakContainer("web", (ID[:12],)),),
        engines=True,
    )
    found = _blamed(facts)
    assert found is not None
    assert found.subject == subject
    assert found.process is not None
    assert found.process.name == "pool"


def test_directories_are_whose_maker_was_sampled() -> None:
    left = [_left(f"/jobs/j{n}", 1, 42) for n in range(30)]
    found = _blamed(_facts(*left, what="directories"), "directories")
    assert found is not None
    assert (found.subject, found.seen) == (Subject("process", "pool"), 30)
    assert "were made and never removed" in found.evidence[0].text
    assert _subject(_facts(*left[:7], what="directories"), "directories") is None


def test_manager_made_cgroups_are_not_the_managers() -> None:
    for path in (f"/pods/{'ab' * 32}", "/system.slice/x.slice", "/user.slice/user-0.slice/session-1.scope"):
        assert _subject(_facts(_left(path, 9, 42))) != Subject("process", "pool"), path
    assert _subject(_facts(_left("/jobs/one", 9, 1), makers=(Maker(1, "systemd", "/init.scope"),))) is None


# -- below a unit ------------------------------------------------------------------------------------------


def _inside(count: int) -> list[Left]:
    return [_left(f"/system.slice/web.service/libpod-payload-{n:x}{'0' * 63}", 1) for n in range(1, count + 1)]


def test_containers_below_a_unit_are_its_own_only_where_it_restarted_as_often() -> None:
    web = LeakUnit("web.service", "/system.slice/web.service", restarts=9)
    with_restarts = _facts(*_inside(9), units=(web,), restarts=(RestartsOf("unit", "web.service", (), ((5, 9),)),))
    assert _subject(with_restarts) == Subject("unit", "web.service")
    assert _subject(replace(with_restarts, restarts=())) is None


# -- whose the accumulation is --------------------------------------------------------------------------------


def _with(facts: LeakFacts, below: int, **called: int) -> LeakFacts:
    families = tuple(
        LeakFamily(f"/system.slice/{name}.service", "/system.slice", number) for name, number in called.items()
    )
    left = replace(
        facts.zombies, total=below, below=(Below("/system.slice", below),), families=families, whole=bool(called)
    )
    return replace(facts, zombies=left)


def test_who_leaks_now_must_own_a_good_part() -> None:
    facts = _facts(_left("/system.slice/a.service", 7))
    assert _subject(_with(facts, 1000, a=900)) == Subject("unit", "a.service")
    assert _subject(_with(facts, 1000, a=250, b=300)) == Subject("unit", "a.service")
    assert _subject(_with(facts, 1000, a=150, b=300)) is None
    assert _subject(_with(facts, 1000, a=7, b=900)) == Subject("unit", "b.service")
    few = _with(facts, 30, a=7, b=23)
    assert _subject(few) is None


def test_names_that_have_a_pattern_in_common_tell_the_share_of_a_process() -> None:
    facts = _facts(*(_left(f"/system.slice/tmp-{n}", 1, 42) for n in range(9)))
    families = (LeakFamily("/system.slice/tmp-<n>", "/system.slice", 9, (Named("/system.slice/tmp-1", 2),)),)
    left = replace(facts.zombies, total=900, below=(Below("/system.slice", 900),), families=families, whole=True)
    assert _subject(replace(facts, zombies=left)) is None
    assert _subject(replace(facts, zombies=replace(left, families=(replace(families[0], count=800),)))) is not None


def test_a_container_by_its_names() -> None:
    family = LeakFamily("/docker/<id>", "/docker", 90, (Named(f"/docker/{ID}", 80),))
    left = Leftovers(100, (Below("/docker", 100),), families=(family,), whole=True)
    facts = LeakFacts(SPAN, left, containers=(LeakContainer("web", (ID,), restarts=80),), engines=True)
    found = _blamed(facts)
    assert found is not None
    assert (found.subject, found.one_per_restart) == (Subject("container", "web"), True)
    assert found.strength == PRIORS.leak_counted
    assert {one.kind for one in found.witnesses} == {"ids", "counts", "accumulation"}


def test_the_numbers_are_those_of_the_table() -> None:
    facts = _facts(_left("/system.slice/a.service", 7), units=(LeakUnit("a.service", "/system.slice/a.service"),))
    doubted = replace(facts, units=())
    for given, expected in ((facts, PRIORS.leak_seen), (doubted, PRIORS.leak_seen * PRIORS.leak_unknown_unit)):
        found = _blamed(given)
        assert found is not None
        assert found.strength == pytest.approx(expected)
    other = replace(PRIORS, leak_least_seen=8)
    assert source(attribute(facts, "zombies", other), other) is None


def test_nothing_is_nobodys() -> None:
    found = attribute(LeakFacts())
    assert (found.leaks, found.unowned, source(found)) == ((), 0, None)
    assert source(attribute(LeakFacts(), "directories")) is None
