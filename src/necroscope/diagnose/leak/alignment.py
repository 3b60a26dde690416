"""Whether leftovers and restarts belong together: as many of both, or at the same times, against chance.

Two things that happen often are near each other all the time. So the share of leaks that have a restart near them is
compared with the same after the restarts were shifted around by random amounts: what is as good then is no alignment.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.diagnose.priors import PRIORS, Priors

I64s = NDArray[np.int64]
_NEAREST_NS, _FARTHEST_NS = 150_000_000, 3 * NS
_SHIFTS = 400
_FEW = 3


@dataclass(frozen=True, slots=True)
class Alignment:
    """`matched` of `restarts` have a leak near them; by chance it would be `expected`. `chance`: how likely that is."""

    leaks: int
    restarts: int
    matched: int
    expected: float
    chance: float
    near_s: float

    @property
    def share(self) -> float:
        """Restarts that have a leak near them."""
        return self.matched / self.restarts if self.restarts else 0.0

    @property
    def holds(self) -> bool:
        """Whether they belong together, and not by chance."""
        return self.holds_by(PRIORS)

    def holds_by(self, priors: Priors) -> bool:
        """The same, as other priors have it."""
        enough = self.restarts >= _FEW and self.share >= priors.leak_align_share
        return enough and self.chance <= priors.leak_align_chance


def align(leaks: Sequence[int], restarts: Sequence[int], span: tuple[int, int]) -> Alignment:
    """How well restarts and leaks go together within a span of time. The more often leaks come, the nearer they must
    be. The null model shifts all restarts by the same amount, from the end of the span around to its beginning, so
    that their own rhythm is kept."""
    a, b = np.array(sorted(leaks), np.int64), np.array(sorted(restarts), np.int64)
    if not a.size or not b.size or span[1] <= span[0]:
        return Alignment(int(a.size), int(b.size), 0, 0.0, 1.0, 0.0)
    gap = float(np.median(np.diff(a))) if a.size > 1 else float(span[1] - span[0])
    near_ns = int(min(max(gap / 6, _NEAREST_NS), _FARTHEST_NS))
    matched = int(_matched(b[None, :], a, near_ns)[0])
    length = span[1] - span[0]
    chooser = random.Random(4711)  # the same verdict each time
    by = np.array([chooser.randrange(length) for _ in range(_SHIFTS)], np.int64)
    shifted = _matched((b[None, :] - span[0] + by[:, None]) % length + span[0], a, near_ns)
    chance = (1 + int((shifted >= matched).sum())) / (_SHIFTS + 1)
    return Alignment(int(a.size), int(b.size), matched, float(shifted.mean()), chance, near_ns / NS)


def _matched(these: I64s, those: I64s, near_ns: int) -> I64s:
    """How many of each row of these have one of those near them."""
    place = np.searchsorted(those, these)
    before = np.abs(these - those[np.maximum(0, place - 1)])
    after = np.abs(these - those[np.minimum(those.size - 1, place)])
    found: I64s = (np.minimum(before, after) <= near_ns).sum(axis=1)
    return found


def agree(left: int, restarts: int | None, priors: Priors = PRIORS) -> bool:
    """As many in all as restarts in all, give or take the start that is under way."""
    if not restarts:
        return False
    return abs(left - restarts) <= max(priors.leak_agree_slack, priors.leak_agree * restarts)


def agree_in_span(left: int, restarts: int, priors: Priors = PRIORS) -> bool:
    """As many within a span as restarts that looks noticed within it: looks come seconds apart."""
    most = max(left, restarts)
    return min(left, restarts) >= priors.leak_several and abs(left - restarts) <= priors.leak_agree_in_span * most
