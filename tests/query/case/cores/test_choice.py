"""Which starved cores are looked at, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.query.case.cores.choice import clipped
from necroscope.store.read.reader import Store
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.model import ProcessUse
from necroscope.vocabulary.verdict import Complaint
from stage.incident import SMAPS, Played, at, nic_reset
from stage.reading import around, complaint, reader, second_of


def _chosen(store: Store, symptom: Complaint, most: int = 4) -> list[tuple[int, str, float, float]]:
    found = [one.run for one in reader(around(store, symptom)).starvations(most)]
    return [(run.cpu, run.kind, second_of(run.from_ns), second_of(run.to_ns)) for run in found]


def _cpus(store: Store, symptom: Complaint, most: int = 4) -> list[int]:
    return [cpu for cpu, _, _, _ in _chosen(store, symptom, most)]


def _walks(node: Played, cpu: int, begin: int, end: int, share: float = 1.0) -> None:
    node.does(cpu, begin, end, share, f"walks{cpu}", cpu + 1, frames=SMAPS, mode="system", cgroup=f"/{cpu}")


def test_the_kernel_before_programs_and_the_near_before_the_far(tmp_path: Path) -> None:
    node = Played(4, 120)
    node.usual()
    node.does(0, 60, 66, 1.0, "computes", 1, cgroup="/c")
    _walks(node, 1, 60, 66)
    _walks(node, 2, 30, 36)
    store = node.write(tmp_path)
    assert _cpus(store, complaint(70)) == [1, 0, 2]
    assert _cpus(store, complaint(70), most=1) == [1]
    assert _cpus(store, complaint(70, cpu=2)) == [2, 1, 0]


@pytest.mark.parametrize(("begin", "there"), [(66, True), (68, True), (70, False), (71, False)])
def test_what_begins_with_the_symptom_or_after_it_is_not_looked_at(tmp_path: Path, begin: int, there: bool) -> None:
    node = Played(2, 90)
    node.usual()
    _walks(node, 0, begin, begin + 6)
    assert _cpus(node.write(tmp_path), complaint(70.5)) == ([0] if there else [])


@pytest.mark.parametrize(("waited", "there"), [(4.6, True), (0.4, False), (None, False)])
def test_a_core_that_is_not_quite_full_counts_where_somebody_waited(
    tmp_path: Path, waited: float | None, there: bool
) -> None:
    node = Played(2, 90)
    _walks(node, 0, 60, 65, 0.95)
    node.uses.append((69, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, waited, 1 << 20, 0)))
    found = _chosen(node.write(tmp_path), complaint(67))
    assert found == ([(0, "stopped", 60.0, 65.0)] if there else [])


def test_a_short_full_time_long_before_does_not_hide_a_long_one_that_is_nearly_full(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.does(0, 40, 42, 1.0, "starts", 1, cgroup="/s")
    node.does(0, 42, 43, 0.5, "starts", 1, cgroup="/s")
    _walks(node, 0, 60, 68, 0.95)
    node.uses.append((69, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, 7.0, 1 << 20, 0)))
    assert [kind for _, kind, _, _ in _chosen(node.write(tmp_path), complaint(68.5))] == ["stopped", "full"]


def test_of_a_long_time_also_the_parts_that_somebody_took(tmp_path: Path) -> None:
    node = Played(1, 120)
    for number in range(6):
        node.does(0, 0, 60, 0.17, f"crowd{number}", 10 + number, cgroup=f"/crowd{number}")
        node.does(0, 67, 120, 0.17, f"crowd{number}", 10 + number, cgroup=f"/crowd{number}")
    node.does(0, 60, 67, 0.9, "taker", 2, cgroup="/t")
    node.does(0, 60, 67, 0.1, "crowd0", 10, cgroup="/crowd0")
    nic_reset(node, 70)
    whole, part = _chosen(node.write(tmp_path), complaint(70))
    # Of a run of two minutes, the last of it before the symptom tells enough.
    assert whole == (0, "full", 52.0, 72.0)
    assert part == (0, "taken", 60.0, 67.0)


def test_a_long_run_is_cut_to_the_last_of_it_before_the_symptom() -> None:
    run = Run(0, 0, 100 * NS, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert clipped(run, 60 * NS).window == (42 * NS, 62 * NS)
    assert clipped(run, 300 * NS).window == (80 * NS, 100 * NS)
    short = Run(0, 0, 40 * NS, run.shares)
    assert clipped(short, 20 * NS) == short


def test_uncertain_times_reach_further(tmp_path: Path) -> None:
    node = Played(2, 120)
    node.usual()
    for begin in (40, 60, 73):
        _walks(node, 1, begin, begin + 6)
    store = node.write(tmp_path)
    symptom = Complaint("nic-reset", at(70), "kmsg", "x", uncertainty_ns=14 * NS)
    assert sorted(begin for _, _, begin, _ in _chosen(store, symptom)) == [40, 60, 73]
    assert sorted(begin for _, _, begin, _ in _chosen(store, complaint(70))) == [40, 60]
