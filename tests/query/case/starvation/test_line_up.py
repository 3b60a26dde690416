"""Who was on a core, against what is normal there."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.query.case.starvation.line_up import Bounds, line_up, with_cgroups
from necroscope.query.profile.profile import profile
from necroscope.query.select import Select
from necroscope.vocabulary.case import LineUp
from stage.incident import NET_RX, SYSCALL, WALK, Played, at


def _line_up(
    node: Played, folder: Path, begin: int, end: int, cpu: int, quiet: int = 6, bounds: Bounds | None = None
) -> LineUp:
    store = node.write(folder)
    blocks = [(at(5 * n), at(5 * n + 5) - 1) for n in range(quiet)]
    made = profile(store, Select((at(begin), at(end) - 1), cpus=frozenset({cpu})), blocks)
    return line_up(made, end - begin, bounds)


def test_the_new_one_is_first_and_the_steady_one_is_as_usual(tmp_path: Path) -> None:
    node = Played(2, 60)
    node.usual()
    node.does(1, 40, 46, 0.75, "walker", 9, frames=WALK, mode="system", cgroup="/w")
    found = _line_up(node, tmp_path, 40, 46, 1)
    first, steady = found.suspects[0], next(one for one in found.suspects if one.name == "steady")
    assert (first.name, first.cgroup, first.pid, first.context) == ("walker", "/w", 9, "")
    assert first.share == pytest.approx(0.75, abs=0.02)
    assert (first.before, first.kernel, first.processes) == (0.0, 1.0, 1)
    assert first.chance < 1e-20
    assert steady.share == pytest.approx(0.2, abs=0.02)
    assert steady.before == pytest.approx(0.2, abs=0.02)
    assert steady.chance > 0.01
    assert [(one.leaf, one.functions[-1], one.kernel) for one in first.stacks] == [
        ("mem_cgroup_iter", "mem_cgroup_iter", True)
    ]
    assert first.stacks[0].weight == pytest.approx(first.seconds)
    assert found.sampled == pytest.approx(1.0, abs=0.03)
    assert found.blocks == 6
    assert found.everybody is not None
    assert found.everybody.seconds == pytest.approx(sum(one.seconds for one in found.suspects))


def test_interrupts_are_nobodys(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.usual()
    node.does(0, 40, 45, 0.7, "innocent", 9, frames=NET_RX, mode="softirq", cgroup="/i")
    found = _line_up(node, tmp_path, 40, 45, 0)
    assert (found.suspects[0].context, found.suspects[0].name, found.suspects[0].pids) == ("softirq", "", ())
    assert all(one.name != "innocent" for one in found.suspects)
    assert all(one.cgroup != "/i" for one in found.by_cgroup)


def test_soft_interrupts_that_the_kernels_thread_worked_off_have_its_pid(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 40, 45, 0.7, "ksoftirqd/0", 14, frames=NET_RX[4:], mode="softirq")
    first = _line_up(node, tmp_path, 40, 45, 0).suspects[0]
    assert (first.context, first.name, first.pids) == ("softirq", "", (14,))


def test_many_of_one_name_have_no_single_pid(tmp_path: Path) -> None:
    node = Played(1, 60)
    for number in range(60):
        node.does(0, 40, 45, 0.0165, "true", 1000 + number, cgroup="/storm")
    found = _line_up(node, tmp_path, 40, 45, 0)
    (first,), (group,) = found.suspects, found.by_cgroup
    assert (first.name, first.pid, first.processes, len(first.pids)) == ("true", None, 60, 50)
    assert (group.name, group.cgroup, group.processes, len(group.pids)) == ("", "/storm", 60, 50)


def test_a_line_up_is_bounded_and_the_largest_excess_stays(tmp_path: Path) -> None:
    node = Played(1, 60)
    for number in range(30):
        node.does(0, 40, 46, 0.01 + 0.001 * number, f"p{number}", 100 + number, frames=SYSCALL, cgroup=f"/{number}")
    found = _line_up(node, tmp_path, 40, 46, 0)
    assert (len(found.suspects), len(found.by_cgroup)) == (12, 12)
    assert found.suspects[0].excess >= found.suspects[-1].excess > 0.02
    short = _line_up(node, tmp_path / "short", 40, 46, 0, bounds=Bounds(2, 0, 0))
    assert [one.name for one in short.suspects] == [one.name for one in found.suspects[:2]]
    assert all(not one.stacks for one in (*short.suspects, *short.by_cgroup))
    assert [one.chance for one in short.suspects] == [one.chance for one in found.suspects[:2]]


def test_without_quiet_times_nothing_is_compared(tmp_path: Path) -> None:
    node = Played(1, 20)
    node.usual()
    found = _line_up(node, tmp_path, 5, 10, 0, quiet=0)
    assert found.suspects[0].before is None
    assert found.blocks == 0


def test_nobody_was_seen(tmp_path: Path) -> None:
    node = Played(2, 20)
    node.does(0, 0, 20, 0.5, "elsewhere", 5)
    assert _line_up(node, tmp_path, 5, 10, 1) == LineUp(blocks=6)


def test_cgroups_of_looks_at_processes(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 40, 45, 0.3, "a", 5, cgroup="/cpu/a")
    node.does(0, 40, 45, 0.2, "a", 6, cgroup="/cpu/a")
    found = with_cgroups(_line_up(node, tmp_path, 40, 45, 0), {5: ["/memory/a"], 6: ["/memory/b", "/memory/a"]})
    assert found.suspects[0].cgroups == ("/memory/a", "/memory/b")
    assert found.by_cgroup[0].cgroups == ("/memory/a", "/memory/b")
