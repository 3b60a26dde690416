"""Kernel functions in the samples of a taken core."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from necroscope.clock import NS
from necroscope.lab.scoring.run_report import RunReport, Window
from necroscope.lab.scoring.sampled import functions_sampled, share_of
from necroscope.lab.stage import Stage
from necroscope.store.write.writer import Writer
from stage.looked import IDLE, One, batch
from stage.recorded import START_NS

WALK = (("read", "libc.so.6"), ("smaps_pte_range.isra.0", "[kernel]"), ("vm_normal_page", "[kernel]"))
OTHER = (("main", "tool"), ("vfs_read", "[kernel]"))


def _stage(store: Path, *episodes: tuple[float, float]) -> Stage:
    report = RunReport(episodes=[Window(START_NS + round(a * NS), START_NS + round(b * NS)) for a, b in episodes])
    stage: Any = SimpleNamespace(store=store, cpu=1, report=report)
    return cast(Stage, stage)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    def at(second: float, frames: Any, cpu: int = 1) -> One:
        return One(START_NS + round(second * NS), frames, cpu)

    ones = [at(1.1, WALK), at(1.2, WALK), at(1.3, WALK), at(1.4, OTHER), at(1.5, IDLE), at(1.6, OTHER, 0), at(3, OTHER)]
    writer = Writer(tmp_path)
    writer.add_samples(batch(ones))
    writer.close(merge=False)
    return tmp_path


def test_the_share_is_of_the_busy_samples_of_that_core_in_the_episodes(store: Path) -> None:
    assert share_of(_stage(store, (1, 2)), frozenset({"smaps_pte_range"})) == pytest.approx(0.75)
    assert share_of(_stage(store, (1, 2), (2.5, 3.5)), frozenset({"smaps_pte_range"})) == pytest.approx(0.6)
    assert share_of(_stage(store, (1, 2)), frozenset({"vfs_read"}), cpu=0) == pytest.approx(1.0)


def test_without_samples_nothing_was_shown(store: Path) -> None:
    assert share_of(_stage(store, (5, 6)), frozenset({"smaps_pte_range"})) == 0.0
    assert share_of(_stage(store), frozenset({"smaps_pte_range"})) == 0.0


def test_a_show_wants_one_of_the_functions(store: Path) -> None:
    show = functions_sampled("a walk", ("smaps_pte_range", "show_smap"), 0.6)
    assert show.measure(_stage(store, (1, 2))) == pytest.approx(0.75)
    assert (show.at_least, "a walk" in show.text) == (0.6, True)


def test_only_functions_of_the_kernel_show_something(tmp_path: Path) -> None:
    made_at_run_time = (("main", "node"), ("smaps_pte_range", "[jit]"))
    writer = Writer(tmp_path)
    writer.add_samples(batch([One(START_NS + NS, made_at_run_time, 1), One(START_NS + NS + 1, OTHER, 1)]))
    writer.close(merge=False)
    assert share_of(_stage(tmp_path, (0, 2)), frozenset({"smaps_pte_range"})) == 0.0
    assert share_of(_stage(tmp_path, (0, 2)), frozenset({"vfs_read"})) == pytest.approx(0.5)
