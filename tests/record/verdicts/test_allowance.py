"""What verdicts may take, averaged over an hour."""

from __future__ import annotations

from necroscope.record.verdicts.allowance import Allowance


def test_a_reset_every_five_seconds_for_a_day_stays_within_half_a_percent() -> None:
    """Whatever a verdict costs; asked as often as it is allowed, over any hour after the first bucket."""
    for cost_s in (0.5, 3.0, 10.0):
        allowance, now_s, asked = Allowance(0.005, 0.0), 0.0, list[float]()
        while now_s < 24 * 3600:
            if not allowance.wait_s(now_s):
                allowance.spend(cost_s, now_s)
                asked.append(now_s)
            now_s += 5.0
        assert len(asked) * cost_s <= 0.005 * 25 * 3600 + cost_s
        later = [at_s for at_s in asked if 3600 * 5 <= at_s < 3600 * 6]
        assert len(later) * cost_s <= 0.005 * 3600 + cost_s


def test_the_first_verdicts_come_at_once_and_the_wait_is_told() -> None:
    allowance = Allowance(0.005, 0.0)
    assert allowance.wait_s(0.0) == 0.0
    allowance.spend(18.0, 0.0)
    wait_s = allowance.wait_s(0.0)
    assert 300 < wait_s < 3600
    assert allowance.wait_s(wait_s - 1) > 0
    assert allowance.wait_s(wait_s + 1) == 0.0


def test_nothing_may_be_taken() -> None:
    allowance = Allowance(0.0, 0.0)
    allowance.spend(1.0, 0.0)
    assert allowance.wait_s(100.0) > 0
