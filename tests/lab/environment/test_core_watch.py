"""How long a core was held: without a break, in the window, mostly in a mode."""

from __future__ import annotations

import os
import time

from necroscope.clock import NS
from necroscope.lab.environment.core_watch import CoreWatch, Slice


def watch(*rows: tuple[float, float, float]) -> CoreWatch:
    """Half seconds of core 1: user, system, idle."""
    made = CoreWatch()
    for number, (user, system, idle) in enumerate(rows):
        shares = {"user": user, "system": system, "irq": 0.0, "softirq": 0.0, "steal": 0.0, "idle": idle}
        made.slices.append(Slice(number * NS // 2, (number + 1) * NS // 2, 1, shares))
    return made


KERNEL, USER, QUIET = (0.02, 0.98, 0.0), (1.0, 0.0, 0.0), (0.1, 0.1, 0.8)


def test_the_longest_run_counts_and_a_break_ends_it() -> None:
    cores = watch(KERNEL, KERNEL, QUIET, KERNEL, KERNEL, KERNEL, QUIET)
    assert cores.held_s(1, 0, 10 * NS) == 1.5
    assert cores.held_s(0, 0, 10 * NS) == 0.0


def test_only_the_window_and_only_the_mode_count() -> None:
    cores = watch(KERNEL, KERNEL, USER, USER, USER, QUIET)
    assert cores.held_s(1, 0, 10 * NS) == 2.5
    assert cores.held_s(1, 0, 10 * NS, "system") == 1.0
    assert cores.held_s(1, 0, 10 * NS, "user") == 1.5
    assert cores.held_s(1, NS // 2, 3 * NS // 2) == 1.0


def test_two_ticks_of_fifty_may_be_idle_and_three_may_not() -> None:
    assert watch((0.0, 0.96, 0.04)).held_s(1, 0, NS) == 0.5
    assert watch((0.0, 0.94, 0.06)).held_s(1, 0, NS) == 0.0


def test_a_real_time_thread_may_be_stopped_for_a_twentieth_of_a_second() -> None:
    stopped, idle = (0.0, 0.9, 0.1), (0.0, 0.85, 0.15)
    assert watch(KERNEL, stopped, KERNEL, stopped, KERNEL).held_s(1, 0, 10 * NS) == 2.5
    assert watch(KERNEL, stopped, stopped, stopped, KERNEL).held_s(1, 0, 10 * NS) == 1.0
    assert watch(KERNEL, idle, KERNEL).held_s(1, 0, 10 * NS) == 0.5


def test_shares_are_of_the_time_in_the_window() -> None:
    cores = watch(QUIET, KERNEL)
    assert abs(cores.share(1, 0, NS, "idle") - 0.4) < 1e-9
    assert cores.share(1, 5 * NS, 6 * NS) == 0.0


def test_a_real_core_is_watched() -> None:
    core = min(os.sched_getaffinity(0))
    cores = CoreWatch()
    began_ns = time.time_ns()
    with cores.watching():
        time.sleep(1.2)
    slices = cores.between(core, began_ns, time.time_ns())
    assert len(slices) >= 2
    assert all(abs(sum(one.shares.values()) - 1) < 0.05 for one in slices)
