"""Busy seconds by samples alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.query.samples.busy_seconds import busy_seconds
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from stage.looked import IDLE, LOOP, WALK, One, batch
from stage.recorded import PERIOD_NS, START_NS

SECOND = START_NS // NS


def _store(folder: Path, ones: list[One]) -> Store:
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    writer.add_samples(batch(ones))
    writer.close(merge=False)
    return Store(folder)


def _ones(number: int, second: int, **more: object) -> list[One]:
    return [One(START_NS + second * NS + place * 10_000_000 + 1, **more) for place in range(number)]  # type: ignore[arg-type]


def test_idle_samples_are_not_busy_and_kernel_ones_are_told(tmp_path: Path) -> None:
    ones = [*_ones(50, 0, frames=WALK), *_ones(20, 0, frames=LOOP), *_ones(20, 0, frames=IDLE), *_ones(9, 1, cpu=3)]
    found = busy_seconds(_store(tmp_path, ones).snapshot(), (START_NS, START_NS + 5 * NS))
    assert found == {
        0: {SECOND: (pytest.approx(70 * PERIOD_NS / NS), pytest.approx(50 * PERIOD_NS / NS))},
        3: {SECOND + 1: (pytest.approx(9 * PERIOD_NS / NS), 0.0)},
    }


def test_cycles_are_counted_against_the_busiest_second(tmp_path: Path) -> None:
    ones = [*_ones(80, 0, event="cycles", weight=7), *_ones(40, 1, event="cycles", weight=7)]
    found = busy_seconds(_store(tmp_path, ones).snapshot(), (START_NS, START_NS + 5 * NS))
    assert found[0][SECOND + 1][0] == pytest.approx(found[0][SECOND][0] / 2)
