"""Which samples a question is about."""

from __future__ import annotations

from necroscope.query.select import Select


def test_without_a_choice_the_events_that_stand_for_time_count() -> None:
    assert Select((0, 1)).wants_event("cycles:P")
    assert not Select((0, 1)).wants_event("page-faults")
    assert Select((0, 1), events=frozenset({"page-faults"})).wants_event("page-faults")
    assert not Select((0, 1), events=frozenset({"page-faults"})).wants_event("cycles")


def test_a_cgroup_is_meant_with_all_below_it() -> None:
    select = Select((0, 1), cgroups=frozenset({"/system.slice", "/a/"}))
    assert select.wants_cgroup("/system.slice")
    assert select.wants_cgroup("/system.slice/ssh.service")
    assert select.wants_cgroup("/a/b")
    assert not select.wants_cgroup("/system.slice-other")
    assert not select.wants_cgroup("")
    assert Select((0, 1), cgroups=frozenset({"/"})).wants_cgroup("/anything")


def test_everything() -> None:
    assert Select((0, 1)).everything
    assert not Select((0, 1), cpus=frozenset({1})).everything
