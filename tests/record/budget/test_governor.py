"""Budgets: what is shed in which order, that it is awaited, held and taken back, and that nothing goes to and fro."""

from __future__ import annotations

import pytest

from necroscope.record.budget.governor import (
    AGAIN_S,
    FREQUENCY,
    HOLD_S,
    ORDER,
    PROCESSES,
    START_S,
    SYMBOLS,
    UNSEEN,
    ZOMBIE_NAMES,
    Budget,
    Change,
    Governor,
    Use,
)

LIMITS = Budget(cpu=0.04, memory_bytes=250_000_000, descriptors=256)


class Run:
    """A recorder whose use a test sets, second by second."""

    def __init__(self, budget: Budget = LIMITS) -> None:
        self.governor, self.at_s, self.cpu_s = Governor(budget), 1000.0, 0.0
        self.changes: list[tuple[float, Change]] = []

    def take(self, seconds: float, share: float, memory: int | None = None, files: int | None = None) -> list[Change]:
        found: list[Change] = []
        for _ in range(round(seconds)):
            self.at_s += 1.0
            self.cpu_s += share
            changes = self.governor.decide(Use(self.at_s, self.cpu_s, memory, files))
            self.changes += [(self.at_s, one) for one in changes]
            found += changes
        return found

    def steps(self) -> list[tuple[float, str, bool]]:
        return [(at_s - 1000.0, one.step, one.shed) for at_s, one in self.changes]


def test_within_the_budget_nothing_is_shed() -> None:
    run = Run()
    assert run.take(3600, 0.039) == []
    assert run.governor.shed == ()


def test_the_cost_of_the_start_is_not_held_against_it() -> None:
    run = Run()
    assert run.take(5, 0.9) == []
    assert run.take(600, 0.02) == []


def test_steps_are_shed_in_order_and_each_is_awaited() -> None:
    run = Run()
    run.take(600, 0.08)
    assert [(step, shed) for _, step, shed in run.steps()] == [(step, True) for step in ORDER]
    times = [at_s for at_s, _, _ in run.steps()]
    assert times == [START_S + 61, START_S + 121, START_S + 181, START_S + 241]
    assert run.governor.shed == (SYMBOLS, PROCESSES, ZOMBIE_NAMES, FREQUENCY)


def test_a_step_that_helps_is_the_last() -> None:
    run = Run()
    run.take(81, 0.08)
    run.take(600, 0.03)
    assert run.governor.shed == (SYMBOLS,)


def test_a_flood_is_answered_within_seconds() -> None:
    run = Run()
    run.take(120, 0.01)
    run.take(60, 0.5)
    assert [(at_s, step) for at_s, step, _ in run.steps()] == [
        (124, SYMBOLS),
        (134, PROCESSES),
        (144, ZOMBIE_NAMES),
        (154, FREQUENCY),
    ]


def test_a_short_peak_is_none() -> None:
    run = Run()
    run.take(120, 0.01)
    assert run.take(2, 0.5) == []
    assert run.take(600, 0.01) == []


def test_calm_takes_one_step_back_after_the_other() -> None:
    run = Run()
    run.take(145, 0.08)
    assert run.governor.shed == (SYMBOLS, PROCESSES)
    back = run.take(400, 0.01)
    assert [(one.step, one.shed) for one in back] == [(PROCESSES, False), (SYMBOLS, False)]
    assert [at_s for at_s, _, shed in run.steps() if not shed] == [141 + HOLD_S, 141 + 2 * HOLD_S]


def test_just_below_the_budget_is_no_calm() -> None:
    run = Run()
    run.take(85, 0.08)
    assert run.take(3600, 0.035) == []
    assert run.governor.shed == (SYMBOLS,)


def test_nobody_makes_it_go_to_and_fro() -> None:
    """A neighbour that is loud whenever we are at ease: each time the step is kept for twice as long."""
    run = Run()
    run.take(100, 0.01)
    for _ in range(7200):
        run.take(1, 0.01 if run.governor.shed else 0.3)
    changes = [at_s for at_s, _, _ in run.steps()]
    assert 6 <= len(changes) <= 14
    kept = [later - at_s for (at_s, _, shed), (later, _, _) in zip(run.steps(), run.steps()[1:], strict=False) if shed]
    assert kept[:4] == pytest.approx([HOLD_S, 2 * HOLD_S, 4 * HOLD_S, 8 * HOLD_S], abs=2)


def test_after_long_calm_the_hold_is_short_again() -> None:
    run = Run()
    run.take(85, 0.08)
    run.take(HOLD_S + 60, 0.01)
    run.take(AGAIN_S, 0.01)
    run.take(40, 0.08)
    assert run.governor.shed == (SYMBOLS,)
    began = run.changes[-1][0]
    run.take(HOLD_S + 60, 0.01)
    assert run.governor.shed == ()
    assert run.changes[-1][0] - began == pytest.approx(HOLD_S, abs=1)


def test_memory_and_descriptors_shed_what_helps_them() -> None:
    run = Run()
    run.take(40, 0.01, memory=300_000_000)
    assert run.governor.shed == (SYMBOLS,)
    run.take(300, 0.01, memory=300_000_000)
    assert run.governor.shed == (SYMBOLS, ZOMBIE_NAMES)
    other = Run()
    other.take(600, 0.01, files=900)
    assert other.governor.shed == (SYMBOLS,)
    assert other.take(200, 0.01, files=60)[0] == Change(
        SYMBOLS, False, "descriptors of the recorder and all it runs: 60, budget 256"
    )


def test_what_two_resources_shed_stays_until_both_are_at_ease() -> None:
    run = Run()
    run.take(85, 0.08, files=900)
    assert run.governor.shed == (SYMBOLS,)
    run.take(400, 0.01, files=900)
    assert run.governor.shed == (SYMBOLS,)
    run.take(200, 0.01, files=40)
    assert run.governor.shed == ()


def test_a_change_tells_the_numbers_and_what_is_not_seen() -> None:
    run = Run()
    (change,) = run.take(81, 0.081)
    assert change.text == (
        "functions of programs that are new to the recorder have no names; "
        "the recorder and all it runs took 8.1% of a core over 60 s, budget 4.0%"
    )
    assert set(UNSEEN) == set(ORDER)


def test_what_cannot_be_shed_here_is_passed_over() -> None:
    governor, changes = Governor(LIMITS, (PROCESSES, ZOMBIE_NAMES)), list[str]()
    for second in range(600):
        changes += [one.step for one in governor.decide(Use(second, 0.1 * second, memory_bytes=900_000_000))]
    assert sorted(changes) == [PROCESSES, ZOMBIE_NAMES]


def test_large_nodes_may_cost_more() -> None:
    assert Budget.of(2) == Budget(0.04, 250_000_000, 272)
    assert Budget.of(96) == Budget(pytest.approx(0.192), 410_000_000, 1024)


def test_a_clock_that_counts_less_than_before_is_no_cost() -> None:
    run = Run()
    run.take(120, 0.02)
    run.cpu_s = 0.0
    assert run.take(300, 0.02) == []
