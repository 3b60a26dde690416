"""How surprising counts are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.query.profile.odds import burstiness, surprise, tail

CORE_SECONDS = np.full(25, 10.0)


def exact(a: int, mean: float, shape: float) -> float:
    """The two-sided tail, term by term."""

    def term(x: int) -> float:
        share = mean / (mean + shape)
        ways = math.lgamma(x + shape) - math.lgamma(shape) - math.lgamma(x + 1)
        return math.exp(ways + shape * math.log1p(-share) + x * math.log(share))

    span = range(a, a + 60_000) if a >= mean else range(a + 1)
    return min(1.0, 2 * math.fsum(map(term, span)))


@pytest.mark.parametrize("mean", [0.02, 0.5, 3.0, 50.0])
@pytest.mark.parametrize("shape", [0.5, 1.0, 3.0, 40.0, 1e5])
def test_tails_are_those_of_exact_sums(mean: float, shape: float) -> None:
    counts = sorted({0, 1, 2, 5, 10, int(mean * 0.2), int(mean * 0.8), int(mean * 1.2) + 1, int(mean * 3) + 3})
    size = len(counts)
    found = tail(np.array(counts, float), np.full(size, mean), np.full(size, shape))
    assert found.tolist() == pytest.approx([exact(a, mean, shape) for a in counts], rel=1e-3)


@pytest.mark.parametrize(("mean", "shape"), [(2000.0, 0.05), (2000.0, 3.0), (20_000.0, 100.0), (20_000.0, 1e6)])
def test_tails_of_large_counts_are_never_too_small(mean: float, shape: float) -> None:
    for a in (int(mean * 0.3), int(mean * 0.97), int(mean), int(mean * 1.03), int(mean * 2)):
        assert tail(np.array([float(a)]), np.array([mean]), np.array([shape]))[0] >= 0.999 * exact(a, mean, shape)


@pytest.mark.parametrize("b", [0, 1, 3, 20, 100])
@pytest.mark.parametrize("ratio", [1, 24])
def test_steady_keys_come_near_the_binomial_tail(b: int, ratio: int) -> None:
    """Without bursts the question is how `a` and `b` split over both times, which has an exact answer."""
    q = 1 / (1 + ratio)
    for a in (1, 4, 10, 30):
        if a < (b + 1) / ratio:
            continue
        n = a + b
        binomial = math.fsum(math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(a, n + 1))
        found = tail(np.array([float(a)]), np.array([(b + 0.5) / ratio]), np.array([b + 0.5]))[0] / 2
        assert 0.1 * binomial <= found <= 3 * binomial


@given(st.integers(0, 300), st.floats(0.01, 100), st.floats(0.01, 1e6))
def test_a_tail_is_a_probability_that_falls_with_distance(a: int, mean: float, shape: float) -> None:
    counts = np.array([float(a), a + 1.0, a + 50.0])
    found = tail(counts, np.full(3, mean), np.full(3, shape))
    assert ((found > 0) & (found <= 1)).all()
    if a >= mean:
        assert found[0] >= found[1] * 0.999
        assert found[1] >= found[2] * 0.999


@given(st.floats(0.01, 50), st.integers(1, 20))
def test_more_burstiness_is_less_certainty(mean: float, times: int) -> None:
    shapes = 1 / np.array([0.01, 0.1, 0.5, 2.0])
    found = tail(np.full(4, mean * (1 + times) + 8), np.full(4, mean), shapes)
    assert (np.diff(found) >= -1e-12).all()


def test_steady_and_bursty_keys_are_told_apart() -> None:
    steady = np.tile([100, 101, 99, 100], (12, 6))
    bursty = np.tile([[0, 0, 0, 400]], (1, 6))
    found = burstiness(np.vstack([steady, bursty]), np.full(24, 5.0))
    assert found[:12].max() == pytest.approx(0.0)
    assert found[12] == pytest.approx(1.42 * 3, rel=0.1)


def test_what_is_typical_of_others_is_expected_of_all() -> None:
    wild = np.random.default_rng(0).poisson(np.random.default_rng(1).gamma(2, 50, (20, 24)))
    rare = np.zeros((1, 24), np.int64)
    rare[0, 3] = 1
    found = burstiness(np.vstack([wild, rare]), np.full(24, 5.0))
    assert found[-1] >= np.quantile(found[:-1], 0.7)


def test_programs_that_come_and_go_do_not_make_a_steady_one_bursty() -> None:
    """A node on which tests run: each program is there once. One is there all along, and takes a core all at once."""
    passing = np.zeros((30, 4), np.int64)
    for number in range(30):
        passing[number, 1 + number % 3] = 40 + number
    steady = np.array([[430, 11, 11, 11]])
    found = surprise(np.vstack([passing, steady]), np.full(4, 5.0))
    assert found[-1] < 1e-6
    bursty = np.array([[430, 0, 33, 0]])
    assert surprise(np.vstack([passing, bursty]), np.full(4, 5.0))[-1] > 0.01
    shared = np.array([[30, 11, 11, 11]])
    assert surprise(np.vstack([passing, shared]), np.full(4, 5.0))[-1] > 0.001


@pytest.mark.parametrize("blocks", [1, 2])
def test_with_few_blocks_bursts_are_assumed(blocks: int) -> None:
    assert (burstiness(np.full((3, blocks), 50), np.full(blocks, 5.0)) >= 0.5).all()
    counts = np.full((1, blocks + 1), 50)
    counts[0, 0] = 100
    assert surprise(counts, np.full(blocks + 1, 10.0))[0] > 0.01
    counts[0, 0] = 20_000
    assert surprise(counts, np.full(blocks + 1, 10.0))[0] < 0.01


def test_without_a_baseline_nothing_is_surprising() -> None:
    assert surprise(np.array([[5], [0]]), np.array([10.0])).tolist() == [1.0, 1.0]
    assert surprise(np.array([[5, 1]]), np.array([10.0, 0.0])).tolist() == [1.0]
    assert surprise(np.array([[5, 1]]), np.array([0.0, 10.0])).tolist() == [1.0]
    assert surprise(np.zeros((0, 3), np.int64), np.full(3, 1.0)).tolist() == []


def test_a_window_like_its_baseline_is_not_surprising() -> None:
    counts = np.random.default_rng(3).poisson(20, (50, 1)).repeat(25, axis=1)
    assert (surprise(counts, CORE_SECONDS) == 1.0).all()


def test_new_and_gone() -> None:
    counts = np.zeros((3, 25), np.int64)
    counts[0, 0] = 10
    counts[1, 1:] = 60
    counts[2] = 60
    found = surprise(counts, CORE_SECONDS)
    assert found[0] < 1e-6
    assert found[1] < 0.05
    assert found[2] == 1.0


def test_one_sample_is_never_surprising() -> None:
    counts = np.zeros((1, 25), np.int64)
    counts[0, 0] = 1
    assert surprise(counts, CORE_SECONDS)[0] > 0.01


def test_every_key_that_was_tried_is_paid_for() -> None:
    one = np.zeros((1, 25), np.int64)
    one[0, 0] = 6
    many = np.vstack([one, np.ones((999, 25), np.int64), np.zeros((5000, 25), np.int64)])
    assert surprise(many, CORE_SECONDS)[0] == pytest.approx(1000 * surprise(one, CORE_SECONDS)[0], rel=1e-6)


def test_blocks_that_nobody_looked_at_do_not_count() -> None:
    counts = np.full((1, 25), 30)
    counts[0, 10:] = 0
    seconds = np.where(np.arange(25) < 10, 10.0, 0.0)
    assert surprise(counts, seconds)[0] == 1.0
