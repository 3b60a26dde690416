"""What the numbers of a case say of a hypothesis. A fact that nobody knows neither confirms nor refutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from necroscope.diagnose.hypotheses.hypothesis import Check, Hypothesis
from necroscope.diagnose.priors import PRIORS, Priors


@dataclass(frozen=True, slots=True)
class Judged:
    """Checks with their values: those that confirm; those that hold and say nothing, as they hold in quiet times or on
    any node; those that fail; those that refute; and checks whose fact nobody knows."""

    confirmed: tuple[tuple[Check, float], ...] = ()
    usual: tuple[tuple[Check, float], ...] = ()
    failed: tuple[tuple[Check, float], ...] = ()
    refuted: tuple[tuple[Check, float], ...] = ()
    unknown: tuple[Check, ...] = ()


def judge_facts(one: Hypothesis, facts: Mapping[str, float], priors: Priors = PRIORS) -> Judged:
    """A hypothesis's checks against the facts."""
    held = [(check, facts[check.fact]) for check in one.confirm if check.fact in facts]
    holds = [(check, value) for check, value in held if check.holds(value)]
    silent = [(check, value) for check, value in holds if check.usual or _as_in_quiet_times(check, facts, priors)]
    refuted = [
        (check, facts[check.fact]) for check in one.refute if check.fact in facts and check.holds(facts[check.fact])
    ]
    return Judged(
        tuple(pair for pair in holds if pair not in silent),
        tuple(silent),
        tuple(pair for pair in held if pair not in holds),
        tuple(refuted),
        tuple(check for check in (*one.confirm, *one.refute) if check.fact not in facts),
    )


def _as_in_quiet_times(check: Check, facts: Mapping[str, float], priors: Priors) -> bool:
    """Whether it holds in quiet times as well, and hardly more now: then it does not tell this time from those."""
    before = facts.get(f"{check.fact}_before")
    if before is None or check.at_least is None or not check.holds(before):
        return False
    return facts[check.fact] < priors.fact_rise * before
