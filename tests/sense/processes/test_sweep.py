"""The bounded sweep over processes: who is wanted comes first, the others in turn, and use is told exactly or not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from necroscope.sense.host import Host
from necroscope.sense.processes import sweep as process_sweep
from necroscope.sense.processes.sweep import Moved, ProcessSweep, Round

HZ = os.sysconf("SC_CLK_TCK")


class Node:
    """A host with processes that a test changes; each look costs one second of CPU for every 64 processes."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.at_s, self.cpu_s, self.read = root, 100, 0.0, list[int]()
        (root / "necroscope").mkdir()
        (root / "proc").mkdir()
        self.host = Host(root)
        short = self.host.short
        monkeypatch.setattr(
            self.host, "short", lambda path, limit: (self.read.append(int(path.split("/")[2])), short(path, limit))[1]
        )
        monkeypatch.setattr(process_sweep.clock, "thread_cpu_s", self._spend)

    def _short(self, path: str, limit: int) -> bytes | None:
        self.read.append(int(path.split("/")[2]))
        return self.short(path, limit)

    def _spend(self) -> float:
        self.cpu_s += 1.0
        return self.cpu_s

    def has(self, pid: int, ticks: int = 0, state: str = "S", start: int = 5, comm: str = "sh") -> None:
        folder = self.root / f"proc/{pid}"
        folder.mkdir(exist_ok=True)
        text = f"{pid} ({comm}) {state} 1 1 1 0 -1 4194560 172 0 0 0 {ticks} 0 0 0 20 0 1 0 {start} 2531328 235\n"
        (folder / "stat").write_text(text)

    def look(self, sweep: ProcessSweep, wanted: tuple[int, ...] = ()) -> Round:
        clocks = {"realtime_ns": 1_767_323_045 * 10**9, "monotonic_ns": 10**10, "boottime_ns": self.at_s * 10**9}
        (self.root / "necroscope/clock.json").write_text(json.dumps(clocks))
        self.read.clear()
        self.at_s += 10
        return sweep.look(self.host, wanted)


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    return Node(tmp_path, monkeypatch)


def uses(found: Round) -> dict[int, int]:
    return {one.process.pid: one.user_ticks for one in found.moved}


def test_use_is_what_came_since_the_look_before(node: Node) -> None:
    sweep = ProcessSweep(100.0)
    node.has(10, 500)
    node.has(11, 7)
    assert node.look(sweep) == Round(2, 2, ())
    node.has(10, 530)
    (moved,) = node.look(sweep).moved
    assert (moved.process.pid, moved.process.comm, moved.user_ticks, moved.system_ticks) == (10, "sh", 30, 0)
    assert node.look(sweep).moved == ()


def test_a_pid_that_is_used_again_and_a_young_process_used_all_they_have(node: Node) -> None:
    sweep = ProcessSweep(100.0)
    node.has(10, 500)
    node.look(sweep)
    node.has(10, 40, start=105 * HZ)
    node.has(11, 60, start=101 * HZ)
    node.has(12, 70, start=50 * HZ)
    found = node.look(sweep)
    assert uses(found) == {10: 40, 11: 60}
    assert all(one.young for one in found.moved)


def test_whoever_wants_to_run_is_reported_though_it_used_nothing(node: Node) -> None:
    sweep = ProcessSweep(100.0)
    node.has(10, 5)
    node.look(sweep)
    node.has(10, 5, state="R")
    assert uses(node.look(sweep)) == {10: 0}


def test_whoever_made_itself_patient_is_not(node: Node) -> None:
    sweep = ProcessSweep(100.0)
    stat = "{} (sh) {} 1 1 1 0 -1 4194560 172 0 0 0 5 0 0 0 20 {} 1 0 5 2531328 235 " + "0 " * 14 + "3 0 {} 0 0 0\n"
    for state in ("S", "R"):
        for pid, nice, policy in ((10, 0, 0), (11, 19, 0), (12, -5, 0), (13, 0, 5), (14, 0, 3), (15, 0, 1)):
            node.has(pid)
            (node.root / f"proc/{pid}/stat").write_text(stat.format(pid, state, nice, policy))
        found = node.look(sweep)
    assert sorted(uses(found)) == [10, 12, 15]


def test_names_may_hold_anything(node: Node) -> None:
    sweep = ProcessSweep(100.0)
    for pid, comm in ((10, "a) R 1 ("), (11, ") "), (12, "")):
        node.has(pid, 1, comm=comm)
    node.look(sweep)
    for pid, comm in ((10, "a) R 1 ("), (11, ") "), (12, "")):
        node.has(pid, 3, comm=comm)
    assert uses(node.look(sweep)) == {10: 2, 11: 2, 12: 2}


def test_the_wanted_come_first_and_the_others_in_turn(node: Node) -> None:
    for pid in range(1000, 1300):
        node.has(pid, 1)
    # Each check costs a second: those before the first 64 and before the next 64 are within it.
    sweep = ProcessSweep(2.5)
    found = node.look(sweep, (1299, 1250, 4711))
    assert (found.processes, found.looked_at) == (300, 128)
    assert node.read == [1299, 1250, *range(1000, 1126)]
    node.look(sweep, (1299,))
    assert node.read == [1299, *range(1126, 1253)]
    node.look(sweep)
    assert node.read == [*range(1253, 1300), *range(1000, 1081)]


def test_without_the_others_only_the_wanted_are_read(node: Node) -> None:
    for pid in range(1000, 1300):
        node.has(pid, 1)
    sweep = ProcessSweep(100.0)
    assert node.look(sweep).looked_at == 300
    node.read.clear()
    found = sweep.look(node.host, (1299, 1250), others=False)
    assert (found.processes, found.looked_at, node.read) == (300, 2, [1299, 1250])


def test_what_was_used_over_several_rounds_is_not_reported_as_that_of_one(node: Node) -> None:
    for pid in range(1000, 1200):
        node.has(pid, 1)
    sweep = ProcessSweep(2.5)
    node.look(sweep)
    node.look(sweep)
    for pid in range(1000, 1200):
        node.has(pid, 900)
    found = node.look(sweep, (1010, 1190))
    assert 1190 in uses(found)
    assert 1010 not in node.read[2:]
    assert all(pid in range(1128, 1200) or pid < 1056 for pid in uses(found))


def test_the_gone_are_forgotten(node: Node) -> None:
    sweep = ProcessSweep(100.0)
    node.has(10, 1)
    node.look(sweep)
    (node.root / "proc/10/stat").unlink()
    (node.root / "proc/10").rmdir()
    assert node.look(sweep) == Round(0, 0, ())
    assert sweep._known == {}


def test_this_process_is_seen_for_real() -> None:
    sweep = ProcessSweep(10.0)
    sweep.look(Host())
    burnt = sum(number * number for number in range(2_000_000))
    assert burnt
    me = [one for one in sweep.look(Host()).moved if one.process.pid == os.getpid()]
    assert len(me) == 1
    assert isinstance(me[0], Moved)
    assert me[0].user_ticks + me[0].system_ticks >= 1
