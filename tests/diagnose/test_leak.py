"""Zombies joined to those whose cgroups they were."""

from __future__ import annotations

from necroscope.diagnose.leak import leaks
from necroscope.model import Census, ContainerState, Family, Subject, UnitState


def _census(*families: Family) -> Census:
    zombies = sum(family.zombies for family in families)
    return Census("v1", zombies + 5, 5, zombies, "kernel-walk", families=families)


def _unit(name: str, restarts: int, group: str) -> UnitState:
    return UnitState(name, "activating", "auto-restart", "exit-code", restarts, control_group=group)


def _ids(number: int) -> list[str]:
    return [f"{n:064x}" for n in range(1 << 200, (1 << 200) + number)]


def test_a_unit_owns_the_zombies_that_bear_its_path() -> None:
    unit = _unit("leaky.service", 32, "/system.slice/leaky.service")
    (leak,) = leaks(_census(Family("/system.slice/leaky.service", "/system.slice", 32)), [unit], [])
    assert (leak.subject, leak.zombies, leak.restarts) == (Subject("unit", "leaky.service"), 32, 32)
    assert leak.one_per_restart


def test_a_unit_owns_what_stood_below_its_cgroup() -> None:
    family = Family("/system.slice/leaky.service/<id>", "/system.slice", 7)
    (leak,) = leaks(_census(family), [_unit("leaky.service", 3, "/system.slice/leaky.service")], [])
    assert leak.zombies == 7
    assert not leak.one_per_restart


def test_a_unit_with_a_similar_name_owns_nothing() -> None:
    census = _census(Family("/system.slice/leaky.service", "/system.slice", 32), Family("/other", "/", 3))
    assert leaks(census, [_unit("leak.service", 32, "/system.slice/leak"), _unit("x.service", 9, "")], []) == ()


def test_a_templated_unit_owns_its_own_instance_only() -> None:
    family = Family("/s/job@<n>.service", "/s", 50, repeated=(("/s/job@1.service", 40), ("/s/job@2.service", 10)))
    (leak,) = leaks(_census(family), [_unit("job@2.service", 10, "/s/job@2.service")], [])
    assert leak.zombies == 10


def test_a_restarted_container_keeps_its_id() -> None:
    one, other = _ids(2)
    family = Family("/libpod-<id>", "/", 30, repeated=((f"/libpod-{one}", 21), (f"/libpod-{other}", 9)))
    (leak,) = leaks(_census(family), [], [ContainerState("podman", one, "loop", "img", "running", restarts=21)])
    assert (leak.subject.name, leak.zombies, leak.one_per_restart) == ("loop", 21, True)


def test_a_recreated_container_owns_the_family_whose_newest_members_bore_its_past_ids() -> None:
    ids = _ids(64)
    family = Family("/docker/<id>", "/docker", 68_001, newest=tuple(f"/docker/{i}" for i in ids[:32]))
    agent = ContainerState(
        "docker", ids[63], "agent", "img", "running", restarts=0, deaths=250, past_ids=tuple(ids[:40])
    )
    (leak,) = leaks(_census(family), [], [agent])
    assert (leak.zombies, leak.restarts, leak.sampled) == (68_001, 250, True)


def test_a_container_that_died_once_does_not_own_everybodys_family() -> None:
    ids = _ids(40)
    family = Family("/docker/<id>", "/docker", 500, newest=tuple(f"/docker/{i}" for i in ids[:32]))
    job = ContainerState("docker", ids[39], "job", "img", "exited", past_ids=(ids[0], ids[1]))
    (leak,) = leaks(_census(family), [], [job])
    assert leak.zombies == 2


def test_a_family_known_whole_is_counted_exactly() -> None:
    one, *others = _ids(4)
    paths = (*(f"/libpod-{one}",) * 14, *(f"/libpod-{other}" for other in others))
    family = Family("/libpod-<id>", "/", 17, repeated=((paths[0], 14),), newest=paths)
    (leak,) = leaks(_census(family), [], [ContainerState("podman", one, "loop", "img", "running", restarts=14)])
    assert leak.zombies == 14


def test_an_unrelated_container_owns_nothing() -> None:
    ids = _ids(3)
    family = Family("/docker/<id>", "/docker", 500, newest=(f"/docker/{ids[0]}",) * 32)
    assert leaks(_census(family), [], [ContainerState("docker", ids[1], "web", "img", "running")]) == ()
    assert leaks(_census(family), [], [ContainerState("docker", "", "odd", "img", "running")]) == ()
