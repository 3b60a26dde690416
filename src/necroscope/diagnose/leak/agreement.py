"""Whether a count of what was left behind and one of restarts are the same number."""

from __future__ import annotations

from necroscope.diagnose.priors import PRIORS, Priors


def agree(left: int, restarts: int | None, priors: Priors = PRIORS) -> bool:
    """As many in all as restarts in all, give or take the start that is under way."""
    if not restarts:
        return False
    return abs(left - restarts) <= max(priors.leak_agree_slack, priors.leak_agree * restarts)


def agree_in_span(left: int, restarts: int, priors: Priors = PRIORS) -> bool:
    """As many within a span as restarts that looks noticed within it: looks come seconds apart."""
    most = max(left, restarts)
    return min(left, restarts) >= priors.leak_several and abs(left - restarts) <= priors.leak_agree_in_span * most
