"""How surprising a count is, given what was counted at other times; honest about few samples and about bursts.

A key (a function, a process) has `a` samples in the window and `b` in all baseline blocks together. From `b` follows
how many to expect in the window, and two things make that uncertain: `b` may be few samples, and work comes in bursts,
so that a rate differs from one block to the next (burstiness: the squared variation of the rate). Both together make a
negative binomial, whose tail is summed. Last, the number of keys that were tried is paid for (Bonferroni).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]
_TERMS = 400
_CERTAIN = math.log(1e-300)
# So much is assumed about rates (half as much again, or half as much) where there are too few blocks to see it.
_BURSTY = 0.25
_FEW_BLOCKS = 3
# Keys with fewer samples a block say little about how rates vary; with fewer such keys, nothing typical is known.
_TELLING, _FEW_KEYS = 5.0, 10
_TYPICAL, _MOST_BLOCKS = 0.75, 0.5


def surprise(counts: I64s, seconds: F64s) -> F64s:
    """For each key, how likely its count in the first window is, given the other windows and the number of keys.

    `counts` is (keys, windows), `seconds` the core-seconds of each window. All get 1 where there is no baseline.
    """
    if counts.shape[1] < 2 or seconds[0] <= 0 or seconds[1:].sum() <= 0:
        return np.ones(counts.shape[0])
    known = np.flatnonzero(seconds > 0)
    counts, seconds = counts[:, known], seconds[known]
    a, b = counts[:, 0].astype(np.float64), counts[:, 1:].sum(axis=1) + 0.5
    expected = b * seconds[0] / seconds[1:].sum()
    uncertain = burstiness(counts[:, 1:], seconds[1:]) * (1 + 1 / (known.size - 1))
    tried = max(1, int(((a + b) > 0.5).sum()))
    return np.minimum(1.0, tail(a, expected, 1 / (1 / b + uncertain)) * tried)


def burstiness(blocks: I64s, seconds: F64s) -> F64s:
    """How much the rate of each key varies between blocks (keys, blocks) beyond chance: its squared variation.

    At least what is typical of its like, and on the safe side, the more so the fewer blocks there are. Its like are all
    keys; of one that is there in most blocks, those that are too: programs that come and go do not make it bursty.
    """
    number = blocks.shape[1]
    safe = 1 + 2 / math.sqrt(max(1, number - 1))
    if number < _FEW_BLOCKS:
        return np.full(blocks.shape[0], _BURSTY * safe)
    mean = blocks.sum(axis=1) / number
    expected = mean[:, None] * (number * seconds / seconds.sum())
    spread = ((blocks - expected) ** 2 / np.maximum(expected, 1e-9)).sum(axis=1) / (number - 1)
    own = np.where(mean > 0, np.maximum(0.0, spread - 1) / np.maximum(mean, 1e-9), 0.0)
    telling, often = mean >= _TELLING, (blocks > 0).mean(axis=1) > _MOST_BLOCKS
    typical = _typical(own[telling], _BURSTY)
    return np.maximum(own, np.where(often, _typical(own[telling & often], min(_BURSTY, typical)), typical)) * safe


def _typical(own: F64s, unknown: float) -> float:
    return float(np.quantile(own, _TYPICAL)) if own.size >= _FEW_KEYS else unknown


def tail(a: F64s, mean: F64s, shape: F64s) -> F64s:
    """Two-sided: how likely is a count at least as far off as `a` under a negative binomial; never too small."""
    above = a >= mean
    share = mean / (mean + shape)
    first = _log_gamma(a + shape) - _log_gamma(shape) - _log_gamma(a + 1) + shape * np.log1p(-share)
    first += a * np.log(share)
    total = np.empty(a.size)
    total[above] = _upwards(a[above], shape[above], share[above])
    total[~above] = _downwards(a[~above], shape[~above], share[~above])
    found: F64s = np.minimum(1.0, 2 * np.exp(np.clip(first + np.log(total), _CERTAIN, 0.0)))
    return found


def _upwards(a: F64s, shape: F64s, share: F64s) -> F64s:
    """The sum of all terms from `a` on, in units of the first; after many, a bound of what is left."""
    term, total, at = np.ones(a.size), np.ones(a.size), a
    for _ in range(_TERMS):
        term = term * ((at + shape) / (at + 1) * share)
        total, at = total + term, at + 1
        if not (term > total * 1e-9).any():
            break
    ratio = np.clip(np.maximum((at + shape) / (at + 1), 1.0) * share, 0.0, 1 - 1e-12)
    return total + term * ratio / (1 - ratio)


def _downwards(a: F64s, shape: F64s, share: F64s) -> F64s:
    """The sum of all terms from `a` down to none, in units of the first."""
    term, total, at = np.ones(a.size), np.ones(a.size), a
    for _ in range(_TERMS):
        term = term * np.where(at > 0, at / np.maximum(at - 1 + shape, 1e-300) / share, 0.0)
        total, at = total + term, np.maximum(0.0, at - 1)
        if not (term > total * 1e-9).any():
            break
    ratio = at / np.maximum(at - 1 + shape, 1e-300) / share
    # Where terms still grow, nearly everything lies below: that is no surprise.
    left = np.where(ratio < 1, ratio / np.maximum(1 - ratio, 1e-12), np.inf)
    return total + term * np.where(at > 0, left, 0.0)


def _log_gamma(x: F64s) -> F64s:
    """Stirling's series eight places up, where it is exact enough, and back."""
    up = x + 8
    series = (up - 0.5) * np.log(up) - up + 0.5 * math.log(2 * math.pi) + 1 / (12 * up) - 1 / (360 * up**3)
    found: F64s = series - np.log(np.stack([x + step for step in range(8)])).sum(axis=0)
    return found
