"""Zombies joined to those whose cgroups they were, and to nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.leak import Attribution, Leak, attribute, facts_of_scan
from necroscope.diagnose.leak.by_name import newest_owners
from necroscope.diagnose.leak.identity import NOT_ASKED, OF_A_USER, UNKNOWN_UNIT, identities
from necroscope.vocabulary.leak_facts import Below
from necroscope.vocabulary.model import Census, ContainerState, Family, ParentCount, Subject, UnitState


def _census(*families: Family) -> Census:
    zombies = sum(family.zombies for family in families)
    return Census("v1", zombies + 5, 5, zombies, "kernel-walk", families=families)


def _unit(name: str, restarts: int, group: str) -> UnitState:
    return UnitState(name, "activating", "auto-restart", "exit-code", restarts, control_group=group)


def _ids(number: int) -> list[str]:
    return [f"{n:064x}" for n in range(1 << 200, (1 << 200) + number)]


def _found(census: Census, units: list[UnitState] | None, containers: list[ContainerState]) -> Attribution:
    return attribute(facts_of_scan(census, units, containers))


def _leaks(census: Census, units: list[UnitState] | None, containers: list[ContainerState]) -> tuple[Leak, ...]:
    return _found(census, units, containers).leaks


# -- units -------------------------------------------------------------------------------------------------


def test_a_unit_owns_the_zombies_that_bear_its_path() -> None:
    unit = _unit("leaky.service", 32, "/system.slice/leaky.service")
    (leak,) = _leaks(_census(Family("/system.slice/leaky.service", "/system.slice", 32)), [unit], [])
    assert (leak.subject, leak.number, leak.restarted) == (Subject("unit", "leaky.service"), 32, 32)
    assert leak.one_per_restart


def test_a_unit_that_systemd_has_no_trouble_with_is_named_by_the_path() -> None:
    census = _census(Family("/system.slice/backup.service", "/system.slice", 20_000))
    (leak,) = _leaks(census, [], [])
    assert (leak.subject, leak.restarted, leak.one_per_restart) == (Subject("unit", "backup.service"), None, False)


def test_a_path_that_only_looks_like_a_unit_names_none() -> None:
    for path in ("/docker/box/system.slice/x.service", "/lab/leaky.service", "/system.slice", "/x.service"):
        assert _leaks(_census(Family(path, "/", 50)), [], []) == ()


def test_what_stood_below_a_unit_is_its_own_only_when_the_numbers_agree() -> None:
    family = Family("/system.slice/nomad.service/alloc-<id>/task", "/system.slice/nomad.service", 20_000)
    group = "/system.slice/nomad.service"
    assert _leaks(_census(family), [_unit("nomad.service", 1, group)], []) == ()
    (leak,) = _leaks(_census(family), [_unit("nomad.service", 20_001, group)], [])
    assert leak.one_per_restart


def test_inside_a_namespace_no_unit_is_blamed_for_the_hosts_zombies() -> None:
    census = replace(_census(Family("/system.slice/cronjob.service", "/system.slice", 20)), host_wide=True)
    assert _leaks(census, [_unit("cronjob.service", 20, "/system.slice/cronjob.service")], []) == ()
    assert _leaks(census, [], []) == ()


def test_a_unit_with_a_similar_name_owns_nothing() -> None:
    census = _census(Family("/box/leaky.service", "/box", 32), Family("/other", "/", 3))
    assert _leaks(census, [_unit("leak.service", 32, "/box/leaky"), _unit("x.service", 9, "")], []) == ()


def test_a_templated_unit_owns_its_own_instance_only() -> None:
    family = Family("/s/job@<n>.service", "/s", 50, repeated=(("/s/job@1.service", 40), ("/s/job@2.service", 10)))
    (leak,) = _leaks(_census(family), [_unit("job@2.service", 10, "/s/job@2.service")], [])
    assert leak.number == 10


# -- containers --------------------------------------------------------------------------------------------


def test_a_restarted_container_keeps_its_id() -> None:
    one, other = _ids(2)
    family = Family("/libpod-<id>", "/", 30, repeated=((f"/libpod-{one}", 21), (f"/libpod-{other}", 9)))
    (leak,) = _leaks(_census(family), [], [ContainerState("podman", one, "loop", "img", "running", restarts=21)])
    assert (leak.subject.name, leak.number, leak.one_per_restart) == ("loop", 21, True)


def test_a_recreated_container_owns_what_bears_its_ids_and_not_the_whole_family() -> None:
    ids = _ids(64)
    family = Family("/docker/<id>", "/docker", 60_030, newest=tuple(f"/docker/{i}" for i in ids[:32]))
    agent = ContainerState("docker", ids[63], "agent", "img", "running", 0, deaths=31, past_ids=tuple(ids[:31]))
    found = _found(_census(family), [], [agent])
    assert [(leak.subject.name, leak.number) for leak in found.leaks] == [("agent", 31)]
    assert found.unowned == 60_030 - 31
    facts = facts_of_scan(_census(family), [], [agent])
    assert [(one.name, n) for one, _, n in newest_owners(facts.zombies.families, identities(facts))] == [("agent", 31)]


def test_a_family_known_whole_is_counted_exactly() -> None:
    one, *others = _ids(4)
    paths = (*(f"/libpod-{one}",) * 14, *(f"/libpod-{other}" for other in others))
    family = Family("/libpod-<id>", "/", 17, repeated=((paths[0], 14),), newest=paths)
    (leak,) = _leaks(_census(family), [], [ContainerState("podman", one, "loop", "img", "running", restarts=14)])
    assert leak.number == 14


def test_an_unrelated_container_owns_nothing() -> None:
    ids = _ids(3)
    family = Family("/docker/<id>", "/docker", 500, newest=(f"/docker/{ids[0]}",) * 32)
    assert _leaks(_census(family), [], [ContainerState("docker", ids[1], "web", "img", "running")]) == ()
    assert _leaks(_census(family), [], [ContainerState("docker", "", "odd", "img", "running")]) == ()


# -- each zombie once ----------------------------------------------------------------------------------------


def test_a_zombie_has_one_owner_and_the_rest_is_not_forgotten() -> None:
    (one,) = _ids(1)
    inside = f"/system.slice/web.service/libpod-payload-{one}"
    web = Family(
        "/system.slice/web.service/libpod-payload-<id>",
        "/system.slice",
        6_000,
        repeated=((inside, 6_000),),
        newest=(inside,) * 32,
    )
    batch = Family("/batch/job-<n>", "/batch", 5_000)
    unit = _unit("web.service", 6_000, "/system.slice/web.service")
    container = ContainerState("podman", one, "web", "img", "running", restarts=6_000)
    found = _found(_census(web, batch), [unit], [container])
    assert [(leak.subject, leak.number) for leak in found.leaks] == [(Subject("container", "web"), 6_000)]
    assert (found.unowned, found.below) == (5_000, (Below("/batch", 5_000),))
    assert [family.pattern for family in found.families] == ["/batch/job-<n>"]


def test_without_names_everything_is_unowned() -> None:
    census = Census("v2", 95, 8, 87, "cgroup-stat", by_parent=(ParentCount("/a", 87),))
    found = _found(census, [_unit("a.service", 87, "/a")], [])
    assert (found.leaks, found.unowned, found.below) == ((), 87, (Below("/a", 87),))


# -- what a unit is, and what is not ---------------------------------------------------------------------------


def test_a_unit_that_only_a_path_names_is_named_with_the_doubt() -> None:
    census = _census(Family("/system.slice/backup.service", "/system.slice", 20_000))
    for units, doubt in (([], UNKNOWN_UNIT), (None, NOT_ASKED)):
        (leak,) = _leaks(census, units, [])
        assert (leak.subject.kind, leak.doubt) == ("unit", doubt)
        assert any(doubt in line.text for line in leak.evidence)
    group = "/user.slice/user-0.slice/user@0.service/app.slice/sync.service"
    (leak,) = _leaks(_census(Family(group, "/", 50)), [], [])
    assert (leak.subject.name, leak.doubt) == ("sync.service", OF_A_USER)


def test_a_scope_is_named_as_a_cgroup() -> None:
    scope = replace(_unit("batch.scope", 0, "/system.slice/batch.scope"), active_state="active")
    for units in ([], [scope], None):
        (leak,) = _leaks(_census(Family("/system.slice/batch.scope", "/system.slice", 300)), units, [])
        assert leak.subject == Subject("cgroup", "/system.slice/batch.scope")


def test_jobs_below_a_unit_are_that_units_where_no_id_says_that_it_made_them_for_others() -> None:
    family = Family("/system.slice/batch.service/jobs/job-<n>", "/system.slice/batch.service/jobs", 900)
    unit = _unit("batch.service", 0, "/system.slice/batch.service")
    (leak,) = _leaks(_census(family), [unit], [])
    assert (leak.subject, leak.number, leak.below) == (Subject("unit", "batch.service"), 900, 900)
    assert any("900 of these stood below its own cgroup" in line.text for line in leak.evidence)
    (leak,) = _leaks(_census(family), [], [])
    assert (leak.subject.name, leak.doubt) == ("batch.service", UNKNOWN_UNIT)


def test_containers_below_their_manager_are_not_the_managers() -> None:
    pattern = "/system.slice/containerd.service/kubepods-pod<id>.slice:cri-containerd:<id>"
    family = Family(pattern, "/system.slice/containerd.service", 9_000)
    unit = _unit("containerd.service", 0, "/system.slice/containerd.service")
    found = _found(_census(family), [unit], [])
    assert (found.leaks, found.unowned) == ((), 9_000)


def test_how_well_names_alone_show_it() -> None:
    family = Family("/system.slice/leaky.service", "/system.slice", 32)
    unit = _unit("leaky.service", 32, "/system.slice/leaky.service")
    strengths = [
        _leaks(_census(replace(family, zombies=number)), units, [])[0].strength
        for number, units in ((32, [unit]), (60, [unit]), (4, [replace(unit, restarts=0)]), (60, []))
    ]
    assert strengths == [0.9, 0.8, 0.6, pytest.approx(0.8 * 0.95)]
