"""Saturated cores from looks at their times."""

from __future__ import annotations

from collections.abc import Sequence

from necroscope.record.metrics.cores import Cores, Saturated
from necroscope.vocabulary.model import Sample


def _cores(shares: Sequence[tuple[float, float, float]], cores: Cores | None = None) -> tuple[Cores, list[Saturated]]:
    """What is told of one core, whose seconds were so much user, system, idle."""
    cores, found = cores or Cores(), list[Saturated]()
    total = [100.0, 100.0, 100.0]
    for second, shared in enumerate([(0.0, 0.0, 0.0), *shares]):
        total = [before + share for before, share in zip(total, shared, strict=True)]
        named = zip(("user", "system", "idle"), total, strict=True)
        found += cores.look([Sample("cpu_time_seconds", value, ("3", mode)) for mode, value in named], float(second))
    return cores, found


def test_a_second_is_not_enough_and_from_two_on_all_count() -> None:
    _, one = _cores([(0.0, 1.0, 0.0), (0.5, 0.0, 0.5)])
    assert one == []
    cores, three = _cores([(0.0, 1.0, 0.0)] * 3)
    assert [(found.cpu, found.mode) for found in three] == [("3", "kernel")] * 2
    assert round(sum(found.seconds for found in three), 6) == 3.0
    assert (cores.now, round(cores.longest_s, 6), round(cores.in_kernel_s["3"], 6)) == (1, 3.0, 3.0)


def test_four_percent_of_idle_time_is_not_saturated() -> None:
    assert _cores([(0.0, 0.96, 0.04)] * 5)[1] == []


def test_a_program_that_computes_is_no_kernel() -> None:
    cores, found = _cores([(0.9, 0.1, 0.0)] * 6)
    assert {one.mode for one in found} == {"user"}
    assert cores.in_kernel_s == {}


def test_the_longest_run_is_remembered_for_a_minute() -> None:
    cores, _ = _cores([(0.0, 1.0, 0.0)] * 4 + [(0.0, 0.0, 1.0)] * 50)
    assert (cores.now, round(cores.longest_s, 6)) == (0, 4.0)
    _cores([(0.0, 0.0, 1.0)] * 70, cores)
    assert cores.longest_s == 0.0
