"""Patterns of busy and idle cores."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.cores.core_time import CoreTime
from necroscope.query.cores.patterns import patterns
from stage.recorded import START_NS


def _times(busy: np.ndarray) -> CoreTime:
    """(cores, seconds) of busy shares, as looks."""
    cores, seconds = busy.shape
    at_ns = np.repeat(START_NS + (np.arange(seconds) + 1) * NS, cores)
    share = busy.T.reshape(-1)
    spent = np.zeros((share.size, 6), np.int64)
    spent[:, 1] = np.round(share * 1000)
    spent[:, 5] = 1000 - spent[:, 1]
    return CoreTime(at_ns, np.tile(np.arange(cores, dtype=np.int32), seconds), np.full(share.size, 1000), spent)


def _steady(cores: int = 4, seconds: int = 120, share: float = 0.4) -> np.ndarray:
    return np.clip(share + np.random.default_rng(3).normal(0, 0.03, (cores, seconds)), 0, 0.9)


def test_nothing_on_a_steady_node() -> None:
    assert patterns(_times(_steady())) == []
    assert patterns(_times(np.zeros((4, 120)))) == []
    assert patterns(CoreTime(*(np.zeros(0, np.int64),) * 3, np.zeros((0, 6), np.int64))) == []


@pytest.mark.parametrize(("others", "kind"), [(0.4, "single-core-saturation"), (0.02, "all-idle-but-one")])
def test_one_core_without_idle_time(others: float, kind: str) -> None:
    busy = np.full((4, 120), others)
    busy[2, 30:37] = 1.0
    (found,) = patterns(_times(busy))
    assert (found.kind, found.cpu, found.from_ns, found.to_ns) == (
        kind,
        2,
        START_NS + 30 * NS,
        START_NS + 37 * NS - 1,
    )


def test_a_moment_is_no_saturation_and_a_busy_node_hides_nothing() -> None:
    busy = _steady()
    busy[2, 30:34] = 1.0
    assert patterns(_times(busy)) == []
    assert patterns(_times(np.ones((4, 120)))) == []


def test_all_cores_stand_still() -> None:
    busy = _steady()
    busy[:, 50:53] = 0.01
    (found,) = patterns(_times(busy))
    assert (found.kind, found.cpu, (found.from_ns - START_NS) // NS) == ("all-cores-pause", None, 50)
    busy[:, 53:] = 0.01
    assert patterns(_times(busy)) == []


def test_a_beat() -> None:
    busy = _steady(share=0.2)
    busy[:, ::15] += 0.6
    busy[:, 1::15] += 0.6
    (found,) = patterns(_times(busy))
    assert found.kind == "periodic-bursts"
    assert "every 15 s" in found.text


def test_bursts_without_a_beat() -> None:
    busy = _steady(share=0.2, seconds=200)
    for at in np.random.default_rng(8).integers(0, 200, 14):
        busy[:, at : at + 2] = 0.8
    assert [one.kind for one in patterns(_times(busy))] == []


def test_what_drifts_has_no_beat() -> None:
    """Random walks are like themselves a little later, and come back now and then by chance."""
    found = 0
    for seed in range(150):
        steps = np.random.default_rng(seed).normal(0, 0.04, 300).cumsum()
        walk = 0.5 + 0.4 * np.sin(steps)
        found += any(one.kind == "periodic-bursts" for one in patterns(_times(np.tile(walk, (2, 1)))))
    assert found == 0
