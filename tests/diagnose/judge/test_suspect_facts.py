"""The numbers that hypotheses are tested on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.judge.suspect_facts import Facts, facts_of
from necroscope.vocabulary.case import Quota, Starvation
from stage.build_case import SMAPS, USER, WALK, starvation, suspect

KNOWN = catalogue()


def _facts(one: Starvation, known: Catalogue = KNOWN) -> Facts:
    return facts_of(one, one.line_up.suspects[0], known)


def test_numbers_of_the_core_and_of_who_was_on_it() -> None:
    one = starvation(suspect(shapes={SMAPS: 0.6, USER: 0.2}, share=0.8), steal=0.2, waits={"victim": 3.5}, zombies=7.0)
    facts = _facts(one)
    assert facts["zombies"] == 7.0
    assert (facts["core_system"], facts["core_user"], facts["core_steal"]) == pytest.approx((0.6, 0.2, 0.2))
    assert (facts["suspect_share"], facts["suspect_seconds"]) == pytest.approx((0.8, 5.6))
    assert (facts["kernel_share"], facts["user_share"]) == pytest.approx((0.75, 0.25))
    assert (facts["pids"], facts["suspect_starts"], facts["starved_s"]) == (1.0, 1 / 7, 7.0)
    assert facts["samples_missing"] == pytest.approx(0.2)
    assert facts["victim_waited"] == 0.5
    assert facts["memcg_steps"] == 0.0


def test_what_nobody_knows_is_absent() -> None:
    facts = _facts(starvation(suspect()))
    for name in ("victim_waited", "packets_from_outside", "quota_stopped", "execs", "seconds_per_start"):
        assert name not in facts


def test_measures_are_shares_of_samples() -> None:
    one = starvation(suspect(shapes={WALK: 0.3, SMAPS: 0.7}))
    assert _facts(one)["memcg_steps"] == pytest.approx(0.3)
    assert _facts(one, replace(KNOWN, measures={"smaps": ("show_smap",)}))["smaps"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("outside", "handled", "share"), [(50.0, 200.0, 0.25), (50.0, 0.0, None), (None, 9.0, None), (9.0, None, None)]
)
def test_packets_from_outside(outside: float | None, handled: float | None, share: float | None) -> None:
    given = {"nic_rx_packets": outside, "softnet_processed_packets_core": handled}
    numbers = {name: value for name, value in given.items() if value is not None}
    assert _facts(starvation(suspect(), **numbers)).get("packets_from_outside") == share


def test_the_quota_that_rose_most() -> None:
    always, rose = Quota("/always", 0.9, 0.9), Quota("/rose", 0.5, 0.1)
    facts = _facts(starvation(suspect(), quotas=[always, rose]))
    assert (facts["quota_stopped"], facts["quota_stopped_before"]) == (0.5, 0.1)
    unknown = _facts(starvation(suspect(), quotas=[Quota("/new", 0.5)]))
    assert unknown["quota_stopped"] == 0.5
    assert "quota_stopped_before" not in unknown
    none = _facts(starvation(suspect(), throttle_throttled_seconds=0.0))
    assert (none["quota_stopped"], none["quota_stopped_before"]) == (0.0, 0.0)


@pytest.mark.parametrize(("others", "execs"), [(0, 1 / 7), (30, 31 / 7), (60, 500.0)])
def test_starts_of_others_are_not_the_suspects(others: int, execs: float) -> None:
    own = suspect("find", share=0.7, cgroup="/a", pid=7)
    children = suspect("child", USER, 0.1, cgroup="/a", pid=100, processes=max(1, others))
    elsewhere = suspect("true", USER, 0.1, cgroup="/b", pid=1000, processes=100)
    one = starvation(own, *([children] if others else ()), elsewhere, execs=500.0)
    assert _facts(one)["execs"] == pytest.approx(execs)


def test_what_each_start_took() -> None:
    one = starvation(suspect(share=1.0, processes=70), execs=500.0)
    assert _facts(one)["seconds_per_start"] == pytest.approx(7.0 / 3500)
    assert "seconds_per_start" not in _facts(starvation(suspect(processes=2)))


def test_what_starts_in_quiet_times_as_well_is_others() -> None:
    """Beside a node that starts 120 programs a second all along, 70 starts in seven seconds are ten a second."""
    one = starvation(suspect(share=1.0, processes=70), execs=130.0, execs_before=120.0)
    assert _facts(one)["execs"] == pytest.approx(10.0)
    assert _facts(one)["seconds_per_start"] == pytest.approx(0.1)
