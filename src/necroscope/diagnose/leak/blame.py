"""Who is to blame for what has accumulated: one leaker, or nobody.

Three sources of doubt are kept apart. Who leaks now need not own what has accumulated: he must have a good part of it
where his own were. Two who leak alike, or side by side, are nobody. And where the names of all that there is are known,
they win against somebody who was seen to leave a few.
"""

from __future__ import annotations

from necroscope.diagnose.leak.attribution import Attribution, Leak
from necroscope.diagnose.priors import PRIORS, Priors


def source(found: Attribution, priors: Priors = PRIORS) -> Leak | None:
    """The leak that the accumulation is to be blamed on; None where nobody can be shown to own it."""
    named = _by_name(found, priors)
    least = priors.leak_least_seen if found.what == "zombies" else priors.leak_least_directories
    if found.left_total < least:
        return named
    seen = _by_life(found, priors)
    if seen is None:
        # Nobody of those who leak now left what is there, or several alike; the names of all of it may decide.
        return named if found.whole else None
    if named is None or named.subject == seen.subject:
        return seen
    return named if priors.leak_outweighs * seen.seen < named.named else None


def _by_name(found: Attribution, priors: Priors) -> Leak | None:
    """Whose names most bear. Names of directories only say where they are."""
    if not found.leaks or not found.named_of:
        return None
    best = max(found.leaks, key=lambda leak: leak.firm)
    return best if best.firm and best.firm >= priors.leak_most * found.named_of else None


def _by_life(found: Attribution, priors: Priors) -> Leak | None:
    theirs = [leak for leak in found.leaks if leak.seen]
    seen = sum(leak.seen for leak in theirs)
    # Of many processes that took turns, only some are known by name; what is known of these stands for the rest.
    least = max(priors.leak_least_seen, int(priors.leak_least_seen_share * found.left_total))
    if seen < min(found.left_total, least):
        return None
    placed = [leak for leak in theirs if leak.share is not None and leak.seen >= priors.leak_least_seen]
    leader = _leader(placed if found.located else theirs, found.located, priors)
    if leader is not None and not leader.exact_share and _side_by_side(leader, placed, priors):
        return None
    return leader


def _leader(theirs: list[Leak], located: bool, priors: Priors) -> Leak | None:
    """Who leaks most; where it is known whose the accumulation is, of those who have about as much of it as anybody."""
    if located:
        most = max((leak.share or 0.0 for leak in theirs), default=0.0)
        if most < priors.leak_least_share:
            return None
        theirs = [leak for leak in theirs if (leak.share or 0.0) >= priors.leak_half * most]
    ranked = sorted(theirs, key=lambda leak: -leak.seen)
    if not ranked:
        return None
    first = ranked[0]
    if first.seen < priors.leak_most * sum(leak.seen for leak in ranked):
        return None
    alike = len(ranked) > 1 and ranked[1].seen > priors.leak_half * first.seen
    return None if alike else first


def _side_by_side(leader: Leak, placed: list[Leak], priors: Priors) -> bool:
    """Whether somebody else leaks in the same place, so that what is there may be either's."""
    least = priors.leak_half * (leader.share or 0.0)
    return any((leak.share or 0.0) >= least for leak in placed if leak.subject != leader.subject)
