"""Runs of services from look to look: what can be shown is counted, once."""

from __future__ import annotations

from dataclasses import replace

from necroscope.sense.systemd.unit_properties import Service
from necroscope.sense.systemd.unit_runs import UnitRuns
from necroscope.vocabulary.model import UnitState

S = 1_000_000
RUNNING = UnitState("a.service", "active", "running", "success", 0, started_us=5 * S, restart_policy="always")
DEAD = replace(RUNNING, active_state="inactive", sub_state="dead", ended_us=95 * S)


def service(state: UnitState) -> Service:
    return Service(state.name, state.active_state, state.sub_state, state.restarts, state.started_us)


def counts(*looks: UnitState | None) -> tuple[int | None, int | None, int | None]:
    """Starts, successes and failures after looks ten seconds apart; None is a look at which the unit is not loaded."""
    runs = UnitRuns()
    counts: tuple[int | None, int | None, int | None] = (None, None, None)
    for number, state in enumerate(looks):
        services = [] if state is None else [service(state)]
        states = [] if state is None or (number and not runs.moved(services[0])) else [state]
        for one in runs.counted(services, states, (100 + 10 * number) * S):
            counts = one.starts, one.successes, one.failures
    return counts


def test_the_first_look_counts_nothing() -> None:
    assert counts(replace(RUNNING, restarts=7, result="exit-code")) == (0, 0, 0)


def test_a_unit_that_stands_still_has_not_moved() -> None:
    runs = UnitRuns()
    assert not runs.moved(service(RUNNING))
    runs.counted([service(RUNNING)], [], 100 * S)
    assert not runs.moved(service(RUNNING))
    assert runs.moved(service(replace(RUNNING, started_us=101 * S)))
    assert runs.moved(service(DEAD))
    assert not runs.moved(Service("b.service", "inactive", "dead", 0, 3 * S))
    assert runs.moved(Service("b.service", "inactive", "dead", 0, 104 * S))


def test_a_timer_that_runs_well() -> None:
    first = replace(DEAD, started_us=104 * S, ended_us=105 * S)
    second = replace(DEAD, started_us=124 * S, ended_us=125 * S)
    assert counts(DEAD, first, first, second) == (2, 2, 0)
    assert counts(None, first, None, second) == (2, 2, 0)


def test_a_unit_that_is_down_is_woken_from_outside_once_and_then_restarts() -> None:
    looping = replace(RUNNING, restarts=14, started_us=108 * S)
    assert counts(None, looping) == (15, 0, 0)
    assert counts(replace(DEAD, restarts=9), looping) == (15, 0, 0)
    assert counts(RUNNING, looping) == (14, 0, 0)
    assert counts(replace(RUNNING, restarts=20), replace(looping, restarts=2)) == (3, 0, 0)


def test_restarts_by_policy_tell_how_the_runs_ended() -> None:
    looping = replace(RUNNING, restarts=3, started_us=108 * S)
    assert counts(RUNNING, replace(looping, restart_policy="on-failure")) == (3, 0, 3)
    assert counts(RUNNING, replace(looping, restart_policy="on-success")) == (3, 3, 0)


def test_an_end_that_was_seen_is_not_counted_again_by_the_restart_after_it() -> None:
    fails = replace(RUNNING, restart_policy="on-failure")
    down = replace(fails, active_state="activating", sub_state="auto-restart", result="exit-code", ended_us=108 * S)
    up = replace(fails, restarts=1, started_us=112 * S)
    assert counts(fails, down, up) == (1, 0, 1)
    again = replace(down, restarts=3, started_us=118 * S, ended_us=119 * S)
    assert counts(fails, down, again) == (3, 0, 4)


def test_a_restart_is_counted_before_its_start_is_seen() -> None:
    scheduled = replace(RUNNING, active_state="activating", sub_state="auto-restart", restarts=1)
    up = replace(RUNNING, restarts=1, started_us=111 * S)
    assert counts(RUNNING, scheduled, up) == (1, 0, 0)
    assert counts(RUNNING, scheduled, replace(up, restarts=2)) == (2, 0, 0)
