"""Who called functions by which work of other cores is ordered."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.query.case.starvation.callers import callers_in
from necroscope.query.case.wanted import Names, Orders
from necroscope.query.profile.profile import profile
from necroscope.query.select import Select
from necroscope.vocabulary.case import Callers, LineUp
from stage.incident import NET_RX, SEND, SYSCALL, Played, at, nic_reset
from stage.reading import case, complaint

SENDING = frozenset({"udp_sendmsg", "__sys_send*"})
FORK = (*SYSCALL, ("__do_sys_clone", "[kernel]"), ("copy_process", "[kernel]"))


def _callers(node: Played, folder: Path, names: frozenset[str] = SENDING) -> Callers:
    made = profile(node.write(folder), Select((at(30), at(36) - 1)), [(at(0), at(6) - 1), (at(10), at(16) - 1)])
    return callers_in(made, Names(names))


def test_the_one_who_sends_more_than_before(tmp_path: Path) -> None:
    node = Played(3, 50)
    node.usual()
    node.does(0, 0, 50, 0.1, "chatter", 5, frames=SEND, mode="system", cgroup="/a")
    node.does(1, 30, 36, 0.6, "flooder", 6, frames=SEND, mode="system", cgroup="/b")
    node.does(2, 30, 36, 0.9, "victim", 7, frames=NET_RX, mode="softirq", cgroup="/c")
    found = _callers(node, tmp_path)
    first, second = found.callers
    assert (first.name, first.cgroup, first.pids, first.before_s) == ("flooder", "/b", (6,), 0.0)
    assert first.functions == ("__sys_sendto", "udp_sendmsg")
    assert first.seconds == pytest.approx(3.6, abs=0.1)
    assert second.name == "chatter"
    assert second.before_s == pytest.approx(2 * second.seconds, rel=0.1)
    assert (found.window_s, found.quiet_s) == (pytest.approx(6.0), pytest.approx(12.0))


def test_by_which_functions(tmp_path: Path) -> None:
    node = Played(1, 50)
    node.does(0, 30, 36, 0.3, "both", 5, frames=SEND, mode="system", cgroup="/a")
    node.does(0, 30, 36, 0.6, "both", 5, frames=FORK, mode="system", cgroup="/a")
    found = _callers(node, tmp_path, SENDING | {"copy_process"})
    assert [one.functions for one in found.callers] == [("copy_process",), ("__sys_sendto", "udp_sendmsg")]


def test_interrupts_and_the_kernels_threads_order_nothing(tmp_path: Path) -> None:
    node = Played(1, 50)
    sends_in_interrupt = (*NET_RX, ("udp_sendmsg", "[kernel]"))
    node.does(0, 30, 36, 0.3, "hit", 5, frames=sends_in_interrupt, mode="softirq", cgroup="/a")
    node.does(0, 30, 36, 0.3, "kworker/0:1", 6, frames=SEND, mode="system", cgroup="")
    node.does(0, 30, 36, 0.2, "reader", 7, frames=SYSCALL, mode="system")
    assert _callers(node, tmp_path).callers == ()


@pytest.mark.parametrize("wanted", [True, False])
def test_they_are_read_where_they_are_wanted(tmp_path: Path, wanted: bool) -> None:
    node = Played(2, 90)
    node.usual()
    node.does(0, 60, 66, 0.95, "any", 9, frames=NET_RX, mode="softirq", cgroup="/x")
    node.does(1, 60, 66, 0.6, "flooder", 6, frames=SEND, mode="system", cgroup="/b")
    nic_reset(node, 70)
    asked: list[LineUp] = []

    def want(line_up: LineUp) -> bool:
        asked.append(line_up)
        return wanted

    (one,) = case(node.write(tmp_path), complaint(70), Orders(SENDING, want)).starvations
    assert [found.suspects[0].context for found in asked] == ["softirq"]
    assert (one.callers is not None) is wanted
    if one.callers is not None:
        assert [each.name for each in one.callers.callers] == ["flooder"]
