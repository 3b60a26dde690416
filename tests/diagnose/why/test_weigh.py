"""How sure a verdict is."""

from __future__ import annotations

import pytest

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.diagnose.why.named_core import NamedCore
from necroscope.diagnose.why.suspects import LineUp, Suspect
from necroscope.diagnose.why.weigh import core_strength, nearness, run_score, who_strength

KERNEL = Run(1, 0, 6 * NS, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
THIRD = NamedCore(3, "", "", 0.25, 0.4)
USER = Run(1, 0, 6 * NS, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))


def _suspect(share: float = 1.0, before: float | None = 0.0, chance: float = 1e-30) -> Suspect:
    return Suspect("p", "/", "", (1,), 6 * share, share, before, chance, 1.0, ())


def _lineup(sampled: float = 1.0, blocks: int = 8) -> LineUp:
    return LineUp((), (), None, sampled, blocks)


def test_the_longer_ago_the_less() -> None:
    assert nearness(KERNEL, 6 * NS) == nearness(KERNEL, 18 * NS) == 1.0
    assert nearness(KERNEL, 38 * NS) == pytest.approx(0.368, abs=0.01)


def test_scores_rank_as_people_would() -> None:
    best = run_score(KERNEL, _suspect(), 8 * NS, None)
    assert best == pytest.approx(1.0)
    assert run_score(USER, _suspect(), 8 * NS, None) < 0.5 * best
    assert run_score(KERNEL, _suspect(0.3), 8 * NS, None) < 0.5 * best
    assert run_score(KERNEL, _suspect(1.0, 0.9, 0.4), 8 * NS, None) < 0.05
    assert run_score(KERNEL, _suspect(1.0, None), 8 * NS, None) < 0.5 * best
    assert run_score(KERNEL, _suspect(), 8 * NS, named=THIRD) == pytest.approx(0.25)
    assert run_score(KERNEL, None, 8 * NS, None) == 0.0


def test_a_rival_that_suits_as_well_takes_certainty_below_the_floor() -> None:
    assert core_strength(KERNEL, 8 * NS, None, 0.0, 1.0) > 0.95
    assert core_strength(KERNEL, 8 * NS, None, 1.0, 1.0) < 0.5
    assert core_strength(KERNEL, 8 * NS, THIRD, 0.0, 1.0) < 0.5


def test_shares_and_baselines_make_sure() -> None:
    assert who_strength(_suspect(), _lineup(), KERNEL) > 0.95
    assert who_strength(_suspect(0.4), _lineup(), KERNEL) < 0.8
    assert who_strength(_suspect(1.0, None), _lineup(blocks=0), USER) < 0.75
    assert who_strength(_suspect(0.3), _lineup(sampled=0.3), KERNEL) < 0.8
    assert who_strength(_suspect(1.0, 0.9, 0.5), _lineup(), KERNEL) < 0.5
