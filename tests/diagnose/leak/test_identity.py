"""Whose a cgroup is, by its path."""

from __future__ import annotations

import pytest

from necroscope.diagnose.leak.identity import (
    NOT_ASKED,
    OF_A_USER,
    UNKNOWN_UNIT,
    Identities,
    identities,
    made_for_others,
    same_id,
    whose,
)
from necroscope.vocabulary.leak_facts import Below, LeakContainer, LeakFacts, LeakUnit, Leftovers
from necroscope.vocabulary.model import Subject

ID = "c6fd" * 16
UUID = "0a1b2c3d-0000-1111-2222-000000000001"


def _unit(name: str, group: str) -> LeakUnit:
    return LeakUnit(name, group)


@pytest.mark.parametrize(
    ("cgroup", "unit"),
    [
        ("/system.slice/a.service", "a.service"),
        ("/lab/node/system.slice/a.service/worker-3", "a.service"),
        ("/user.slice/user-0.slice/session-3.scope", None),
        ("/user.slice/user-0.slice/user@0.service/app.slice/b.service", "b.service"),
        ("/system.slice/run-u17.service", None),
        (f"/system.slice/docker-{ID}.scope", None),
        ("/init.scope", None),
        ("/", None),
        ("", None),
        # Not where systemd puts services, or inside what somebody else manages.
        ("/x.service", None),
        ("/lab/leaky.service", None),
        ("/docker/box/system.slice/x.service", None),
        ("/lxc.payload.box/system.slice/x.service", None),
        ("/machine.slice/machine-box.scope/system.slice/x.service", None),
        (f"/pods/{UUID}/system.slice/x.service", None),
    ],
)
def test_units_in_paths(cgroup: str, unit: str | None) -> None:
    found = Identities().unit_of(cgroup)
    assert (found.subject if found is not None else None) == (Subject("unit", unit) if unit else None)


def test_a_unit_that_systemd_told_of_is_beyond_doubt_and_others_are_not() -> None:
    known = Identities((_unit("odd.service", "/odd/path"),), systemd=True)
    found = known.of("/odd/path/x")
    assert found is not None
    assert (found.subject, found.below, found.doubt) == (Subject("unit", "odd.service"), "/x", "")
    for systemd, doubt in ((True, UNKNOWN_UNIT), (False, NOT_ASKED)):
        found = Identities(systemd=systemd).of("/system.slice/a.service")
        assert found is not None
        assert (found.subject.name, found.below, found.doubt) == ("a.service", "", doubt)
    users = Identities().of("/user.slice/user-0.slice/user@0.service/app.slice/b.service")
    assert users is not None
    assert users.doubt == OF_A_USER


def test_a_scope_is_a_place_and_no_unit_even_where_systemd_tells_of_it() -> None:
    known = Identities((_unit("batch.scope", "/system.slice/batch.scope"),), systemd=True)
    found = known.of("/system.slice/batch.scope/worker")
    assert found is not None
    assert (found.subject, found.below) == (Subject("cgroup", "/system.slice/batch.scope"), "/worker")
    for path in (f"/system.slice/docker-{ID}.scope", "/user.slice/user-0.slice/session-3.scope", "/init.scope"):
        assert known.of(path) is None


def test_a_manager_in_a_namespace_tells_the_end_of_the_path() -> None:
    inner = LeakFacts(units=(_unit("a.service", "/system.slice/a.service"),), systemd=True)
    path = "/lab/x/system.slice/a.service/b"
    found = identities(inner).of(path)
    assert found is not None
    assert (found.subject.name, found.below, found.doubt) == ("a.service", "/b", "")
    # Where this node has a /system.slice itself, the manager speaks of that one.
    both = LeakFacts(
        units=inner.units, systemd=True, zombies=Leftovers(below=(Below("/system.slice", 1), Below("/lab", 1)))
    )
    assert identities(both).of(path) is None
    assert identities(inner).of("/system.slice/a.service2") != found
    assert Identities((_unit("a.service", ""),)).of("/x") is None
    assert Identities((_unit("a.service", "/"),)).of("/x") is None


def test_where_systemd_told_where_its_units_are_other_places_are_another_systemds() -> None:
    known = Identities((_unit("a.service", "/node/system.slice/a.service"),), systemd=True)
    assert known.of("/node/system.slice/b.service") is not None
    assert known.of("/other/system.slice/b.service") is None


def test_inside_a_namespace_no_unit_is_joined() -> None:
    unit = _unit("a.service", "/system.slice/a.service")
    assert Identities((unit,), foreign_paths=True).of("/system.slice/a.service") is None


def test_a_container_is_known_by_any_of_its_ids() -> None:
    web = LeakContainer("web", (ID, "ab" * 32))
    known = Identities((_unit("run.service", "/system.slice/run.service"),), (web,), engines=True)
    for path in (
        f"/docker/{ID}",
        f"/system.slice/run.service/libpod-payload-{ID}",
        f"/docker/{'ab' * 32}/system.slice/a.service",
        f"/crio/{ID[:12]}",
    ):
        found = known.of(path)
        assert found is not None, path
        assert found.subject == Subject("container", "web")
    inside = known.of(f"/system.slice/run.service/libpod-payload-{'d' * 64}")
    assert inside is not None
    assert (inside.subject.name, inside.ordered) == ("run.service", True)
    assert known.of(f"/docker/{'d' * 64}") is None


def test_unit_then_container_then_process_then_kernel() -> None:
    known = Identities((_unit("named.service", "/odd/path"),), engines=True)

    def subject(name: str, *cgroups: str, among: Identities = known) -> Subject:
        return whose(among, name, cgroups).subject

    assert subject("p", "/odd/path/x") == Subject("unit", "named.service")
    assert subject("p", "/", "/system.slice/a.service") == Subject("unit", "a.service")
    assert subject("p", f"/docker/{ID}") == Subject("container", ID[:12])
    web, db = LeakContainer("web", (ID,)), LeakContainer("db", ("ab" * 32,))
    assert subject("p", f"/docker/{ID}", among=Identities((), (web, db))) == Subject("container", "web")
    both = Identities((), (LeakContainer("web", (ID[:12],)), LeakContainer("db", (ID[:12],))), engines=True)
    assert subject("p", f"/docker/{ID}", among=both) == Subject("container", ID[:12])
    assert subject("p", "/whatever") == Subject("process", "p")
    assert subject("p", "/system.slice/batch.scope") == Subject("process", "p")
    assert subject("ksoftirqd/3", "/") == Subject("kernel", "ksoftirqd/3")


def test_units_and_containers_as_facts_about_leaks_tell_them() -> None:
    facts = LeakFacts(units=(_unit("odd.service", "/odd"),), containers=(LeakContainer("web", (ID,)),), engines=True)
    known = identities(facts)
    assert whose(known, "p", ["/odd/x"]).subject == Subject("unit", "odd.service")
    assert whose(known, "p", [f"/docker/{ID}"]).subject == Subject("container", "web")


def test_a_long_number_is_no_container_where_no_engine_tells_of_any() -> None:
    assert whose(Identities(), "p", [f"/batch/{ID}"]).subject == Subject("process", "p")


def test_what_managers_make_for_others() -> None:
    for path in (f"/x/{ID}", f"/pods/pod{UUID}", "/system.slice/a.service", "/a.slice/b.slice", "/docker/<id>"):
        assert made_for_others(path), path
    for path in ("/jobs/j4711", "/system.slice/a.service/worker", "/"):
        assert not made_for_others(path), path


def test_ids_that_are_cut_short() -> None:
    assert same_id(ID, ID[:12])
    assert same_id(ID[:12], ID)
    assert not same_id(ID, ID[:11])
    assert not same_id(ID, "ab" * 32)
