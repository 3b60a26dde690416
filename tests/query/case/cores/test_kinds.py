"""Kinds of starvation are data."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.config import Config, CpuLimits
from necroscope.query.case.cores.kinds import Kinds, kinds, load
from necroscope.query.case.cores.starved import starved
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.surroundings import look_around
from necroscope.query.cores.core_time import CoreTime, core_time
from necroscope.vocabulary.model import MODES
from stage.incident import NET_RX, SMAPS, Played, at
from stage.reading import complaint, second_of

TWO_KINDS = """
[[kinds]]
name = "full"
help = "x"
seconds = 2.0

[[kinds]]
name = "half"
help = "half of the time busy"
seconds = 4.0
busy = 0.45
"""


def _times(node: Played, folder: Path) -> CoreTime:
    return core_time(node.write(folder).snapshot(), [(at(0), at(node.seconds))])


def _found(node: Played, folder: Path, known: Kinds | None = None) -> list[tuple[str, float, float]]:
    found = starved(_times(node, folder), known or kinds(), CpuLimits())
    return [(run.kind, second_of(run.from_ns), second_of(run.to_ns)) for run in found]


def test_the_shipped_kinds() -> None:
    known = kinds()
    assert [one.name for one in known.counted] == ["full", "held", "interrupted"]
    assert [one.name for one in known.waited] == ["stopped"]
    assert [one.name for one in known.sampled] == ["sampled"]
    limits = Config().cpu
    assert [one.busy_of(limits) for one in known.counted] == [limits.busy, limits.busy, 0.8]
    assert [one.busy_of(CpuLimits(busy=0.9)) for one in known.sampled] == [pytest.approx(0.83)]
    assert all(one.help for one in (*known.counted, *known.waited, *known.sampled))


def test_the_kernels_part_of_a_long_run_is_one_of_its_own(tmp_path: Path) -> None:
    node = Played(1, 90)
    node.does(0, 60, 66, 1.0, "walker", 9, frames=SMAPS, mode="system")
    node.does(0, 20, 60, 1.0, "busy", 8)
    node.does(0, 66, 80, 1.0, "busy", 8)
    assert _found(node, tmp_path) == [("full", 20, 80), ("held", 60, 66)]


def test_interrupts_starve_a_core_that_has_a_little_idle_time_left(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 20, 25, 0.85, "any", 9, frames=NET_RX, mode="softirq")
    assert _found(node, tmp_path) == [("interrupted", 20, 25)]


def test_a_run_that_a_later_kind_covers_is_not_told_twice(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 20, 26, 1.0, "any", 9, frames=SMAPS, mode="system")
    assert _found(node, tmp_path) == [("held", 20, 26)]


def test_a_kind_more_is_an_entry_more(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 20, 26, 0.5, "any", 9)
    node.does(0, 40, 46, 1.0, "any", 9)
    assert _found(node, tmp_path) == [("full", 40, 46)]
    assert _found(node, tmp_path, load(TWO_KINDS)) == [("half", 20, 26), ("half", 40, 46)]
    scene = look_around(
        FixedStore(node.write(tmp_path / "b")), complaint(30), (at(0), at(60)), Config(), load(TWO_KINDS)
    )
    assert [run.kind for run in scene.runs] == ["half", "half"]


@pytest.mark.parametrize(
    "text", ["[[kinds]]\nname = 'x'", "[[kinds]]\nname = 'x'\nseconds = 1.0\nwhat = 1", "kind = 1"]
)
def test_a_mistake_in_the_file_is_an_error(text: str) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        load(text)


def test_the_setting_counts_for_kinds_without_a_share_of_their_own(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 20, 26, 0.92, "any", 9)
    times = _times(node, tmp_path)
    assert starved(times, kinds(), CpuLimits()) == []
    (run,) = starved(times, kinds(), CpuLimits(busy=0.9))
    assert (run.kind, run.shares[MODES.index("user")]) == ("full", pytest.approx(0.92))
