"""How well it is shown that somebody leaks, from 0 to 1."""

from __future__ import annotations

from necroscope.diagnose.leak.attribution import Leak
from necroscope.diagnose.priors import PRIORS, Priors


def strength(leak: Leak, left_total: int, priors: Priors = PRIORS) -> float:
    """The best of what was seen and of what names show; less for a unit that only a path names."""
    best = max(_seen(leak, left_total, priors), _named(leak, priors))
    return best * (priors.leak_unknown_unit if leak.doubt else 1.0)


def _seen(leak: Leak, left_total: int, priors: Priors) -> float:
    if leak.seen < priors.leak_least_seen:
        return 0.0
    found = priors.leak_seen if leak.seen >= priors.leak_several else priors.leak_seen_few
    if leak.alignment is not None and leak.alignment.holds_by(priors):
        found = priors.leak_aligned
    if leak.share is not None and leak.share < priors.leak_half:
        found *= priors.leak_small_share
    return found * (priors.leak_minority if leak.seen < priors.leak_half * left_total else 1.0)


def _named(leak: Leak, priors: Priors) -> float:
    if not leak.named:
        return 0.0
    if leak.one_per_restart:
        return priors.leak_counted
    return priors.leak_named if leak.named >= priors.leak_several else priors.leak_named_few
