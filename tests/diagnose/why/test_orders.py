"""Who ordered what others had to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.diagnose.why.orders import ORDERED_BY, Orderer, orderers
from necroscope.query.profile import profile
from necroscope.query.select import Select
from stage.incident import NET_RX, SEND, SYSCALL, Played, at


def _orderers(node: Played, folder: Path, cgroups: frozenset[str] = frozenset()) -> list[Orderer]:
    made = profile(node.write(folder), Select((at(30), at(36) - 1)), [(at(0), at(6) - 1), (at(10), at(16) - 1)])
    return orderers(made, ORDERED_BY["softirq-flood"], cgroups)


def test_the_one_who_sends_more_than_before(tmp_path: Path) -> None:
    node = Played(3, 50)
    node.usual()
    node.does(0, 0, 50, 0.1, "chatter", 5, frames=SEND, mode="system", cgroup="/a")
    node.does(1, 30, 36, 0.6, "flooder", 6, frames=SEND, mode="system", cgroup="/b")
    node.does(2, 30, 36, 0.9, "victim", 7, frames=NET_RX, mode="softirq", cgroup="/c")
    first, second = _orderers(node, tmp_path)
    assert (first.name, first.cgroup, first.pids) == ("flooder", "/b", (6,))
    assert first.seconds == pytest.approx(3.6, abs=0.1)
    assert first.part == pytest.approx(0.86, abs=0.02)
    assert first.lift is not None
    assert first.lift > 100
    assert second.name == "chatter"
    assert second.lift == pytest.approx(1.0, abs=0.1)


def test_only_of_a_cgroup(tmp_path: Path) -> None:
    node = Played(1, 50)
    node.does(0, 30, 36, 0.3, "in", 5, frames=SEND, mode="system", cgroup="/a")
    node.does(0, 30, 36, 0.6, "out", 6, frames=SEND, mode="system", cgroup="/b")
    assert [one.name for one in _orderers(node, tmp_path, frozenset({"/a"}))] == ["in"]


def test_nobody(tmp_path: Path) -> None:
    node = Played(1, 50)
    node.does(0, 0, 50, 0.3, "reader", 5, frames=SYSCALL, mode="system")
    assert _orderers(node, tmp_path) == []
