"""What a confidence is worth."""

from __future__ import annotations

import pytest

from necroscope.lab.scoring.marking import Judgement, Mark
from necroscope.lab.scoring.reliability import reliability


def _run(scenario: str, confidence: float | None, mark: Mark = "right", happened: bool = True) -> Judgement:
    return Judgement(scenario, 1, happened, "explained", mark, confidence=confidence)


def test_ranges_and_who_is_left_out_of_them() -> None:
    runs = [_run("a", 0.95), _run("a", 1.0), _run("b", 0.91, "wrong"), _run("c", 0.6), _run("d", None, "abstained")]
    runs.append(_run("e", 0.99, "wrong", happened=False))
    low, high = reliability(runs)
    assert (low.low, low.high, low.runs, low.confidence, low.right, low.by_others) == (0.5, 0.65, 1, 0.6, 1.0, None)
    assert (high.low, high.high, high.runs) == (0.9, 1.0, 3)
    assert high.confidence == pytest.approx((0.95 + 1.0 + 0.91) / 3)
    assert high.right == pytest.approx(2 / 3)
    # Both of a are judged by b alone, which was wrong; b by both of a, which were right.
    of_a, of_b = (0 + 2 * 0.91) / 3, (2 + 2 * 0.975) / 4
    assert high.by_others == pytest.approx((of_a + of_a + of_b) / 3)


def test_no_run_no_range() -> None:
    assert reliability([_run("a", None, "abstained")]) == []
