"""Whom an operator would act on."""

from __future__ import annotations

import pytest

from necroscope.diagnose.why.identity import Owners, subject_of, unit_in, within
from necroscope.model import Subject

ID = "c6fd" * 16


@pytest.mark.parametrize(
    ("cgroup", "unit"),
    [
        ("/system.slice/a.service", "a.service"),
        ("/lab/node/system.slice/a.service/worker-3", "a.service"),
        ("/user.slice/user-0.slice/session-3.scope", None),
        ("/user.slice/user-0.slice/user@0.service/app.slice/b.service", "b.service"),
        (f"/system.slice/docker-{ID}.scope", None),
        ("/init.scope", None),
        ("/", None),
        ("", None),
    ],
)
def test_units_in_paths(cgroup: str, unit: str | None) -> None:
    assert unit_in(cgroup) == unit


def test_a_manager_in_a_namespace_tells_the_end_of_the_path() -> None:
    assert within("/lab/x/system.slice/a.service", "/system.slice/a.service")
    assert within("/system.slice/a.service/b", "/system.slice/a.service")
    assert not within("/system.slice/a.service2", "/system.slice/a.service")
    assert not within("/system.slice", "/system.slice/a.service")
    assert not within("/x", "")
    assert not within("/x", "/")


def test_unit_then_container_then_process_then_kernel() -> None:
    owners = Owners((("named.service", "/odd/path"),), engines=True)
    assert subject_of(owners, "p", ["/odd/path/x"]) == Subject("unit", "named.service")
    assert subject_of(owners, "p", ["/", "/system.slice/a.service"]) == Subject("unit", "a.service")
    assert subject_of(owners, "p", [f"/docker/{ID}"]) == Subject("container", ID[:12])
    named = Owners(containers=(("web", ID[:12]), ("web", "x"), ("db", "y")), engines=True)
    assert subject_of(named, "p", [f"/docker/{ID}"]) == Subject("container", "web")
    both = Owners(containers=(("web", ID[:12]), ("db", ID[:12])), engines=True)
    assert subject_of(both, "p", [f"/docker/{ID}"]) == Subject("container", ID[:12])
    assert subject_of(owners, "p", ["/whatever"]) == Subject("process", "p")
    assert subject_of(owners, "ksoftirqd/3", ["/"]) == Subject("kernel", "ksoftirqd/3")


def test_a_long_number_is_no_container_where_no_engine_tells_of_any() -> None:
    assert subject_of(Owners(), "p", [f"/batch/{ID}"]) == Subject("process", "p")
