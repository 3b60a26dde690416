"""Shares of each core between two looks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from necroscope import clock
from necroscope.query.cores.scan_cores import core_shares
from necroscope.sense.cpu.times import Cpu
from necroscope.sense.host import Host
from necroscope.sense.sensor import Look, look
from necroscope.store.memory import MemoryStore
from necroscope.vocabulary.model import CoreShares, Reading, Sample


def _store(*looks: dict[tuple[str, str], float]) -> MemoryStore:
    store = MemoryStore()
    for second, values in enumerate(looks):
        samples = tuple(Sample("cpu_time_seconds", value, labels) for labels, value in values.items())
        store.add([Look("cpu", second * 1_000_000_000, Reading(samples), 0.0)])
    return store


def test_one_core_busy_among_two() -> None:
    shares, window_s = core_shares(
        _store(
            {
                ("0", "idle"): 10.0,
                ("0", "system"): 1.0,
                ("1", "idle"): 5.0,
                ("1", "system"): 2.0,
                ("1", "softirq"): 0.0,
            },
            {
                ("0", "idle"): 11.0,
                ("0", "system"): 1.0,
                ("1", "idle"): 5.0,
                ("1", "system"): 2.9,
                ("1", "softirq"): 0.1,
            },
        )
    )
    assert window_s == 1.0
    assert [share.cpu for share in shares] == [0, 1]
    assert shares[0].busy == pytest.approx(0.0)
    assert (shares[1].busy, shares[1].system, shares[1].softirq) == (
        pytest.approx(1.0),
        pytest.approx(0.9),
        pytest.approx(0.1),
    )


def _one(before: dict[str, float], after: dict[str, float]) -> tuple[CoreShares, ...]:
    return core_shares(_store(*({("0", mode): value for mode, value in look.items()} for look in (before, after))))[0]


def test_waiting_that_the_kernel_moves_between_iowait_and_idle_leaves_busy_alone() -> None:
    (share,) = _one({"system": 1.0, "idle": 10.0, "iowait": 5.0}, {"system": 1.5, "idle": 14.5, "iowait": 1.0})
    assert (share.busy, share.idle, share.accounted_s) == (pytest.approx(0.5), pytest.approx(0.5), pytest.approx(1.0))


def test_small_steps_back_are_no_time() -> None:
    (share,) = _one({"system": 1.0, "idle": 10.0, "steal": 0.07}, {"system": 2.0, "idle": 9.98, "steal": 0.03})
    assert (share.system, share.idle, share.steal) == (pytest.approx(1.0), 0.0, 0.0)


def test_a_core_that_was_offline_in_between_is_not_called_busy() -> None:
    assert _one({"system": 1.0, "idle": 10.0}, {"system": 1.2, "idle": 0.03}) == ()


def test_a_burnt_core_is_seen_on_this_machine() -> None:
    cpu = max(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\nwhile True: pass"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    store = MemoryStore()
    try:
        assert child.stdout is not None
        child.stdout.readline()
        store.add(look((Cpu(),), Host()))
        clock.sleep(0.5)
        store.add(look((Cpu(),), Host()))
    finally:
        child.kill()
        child.communicate()
    burnt = {share.cpu: share for share in core_shares(store)[0]}[cpu]
    assert burnt.busy > 0.9
    assert 0.3 <= burnt.accounted_s <= 2.0


def test_one_look_tells_nothing() -> None:
    assert core_shares(_store({("0", "user"): 1.0})) == ((), 0.0)


def test_a_core_that_came_between_is_left_out() -> None:
    shares, _ = core_shares(_store({("0", "user"): 1.0}, {("0", "user"): 2.0, ("1", "user"): 9.0}))
    assert [share.cpu for share in shares] == [0]
