"""Who ordered what others had to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.hypotheses.hypothesis import OrderedBy
from necroscope.diagnose.judge.work_origin import Orderer, orderer_of, orders_wanted
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.case import Caller, LineUp
from stage.build_case import NET_RX, ODD, SMAPS, USER, line_up, starvation, suspect

SENDS = OrderedBy(("__sys_sendto", "udp_*"))
FORKS = OrderedBy(("kernel_clone",), least=0.005, own_cgroup=True, least_unknown=0.05)
FLOOD = OrderedBy(("__sys_sendto",), outside=("nic_rx_packets", "softnet_processed_packets_core"), least_unknown=0.3)
RX = suspect(shapes=NET_RX, context="softirq")


def _caller(name: str, seconds: float, before: float = 0.0, function: str = "__sys_sendto", pid: int = 6) -> Caller:
    return Caller(name, f"/{name}", (function,), seconds, before, (pid,))


def _orderer(
    ordered: OrderedBy, *callers: Caller, cgroup: str = "", facts: dict[str, float] | None = None
) -> Orderer | None:
    who = replace(RX, cgroup=cgroup)
    return orderer_of(ordered, starvation(RX, callers=callers), who, facts or {}, PRIORS)


def test_the_one_who_sends_more_than_before() -> None:
    found = _orderer(SENDS, _caller("flooder", 3.5), _caller("chatter", 0.6, 6.0))
    assert found is not None
    assert (found.name, found.cgroup, found.pids, found.seconds) == ("flooder", "/flooder", (6,), 3.5)
    assert found.part == pytest.approx(0.854, abs=0.001)
    assert found.lift == pytest.approx(0.5 / 0.002)


@pytest.mark.parametrize(
    "callers",
    [
        (),
        (_caller("always", 3.5, 30.0),),  # as in quiet times
        (_caller("one", 3.5), _caller("two", 3.0)),  # two alike
        (_caller("little", 0.3),),  # less than a twentieth of the starved time
        (_caller("other", 3.5, function="tcp_recvmsg"),),
    ],
)
def test_nobody_stands_out(callers: tuple[Caller, ...]) -> None:
    assert _orderer(SENDS, *callers) is None


def test_nobody_asked() -> None:
    assert orderer_of(SENDS, starvation(RX), RX, {}, PRIORS) is None


def test_calls_of_several_functions_by_the_same_one_are_added_up() -> None:
    found = _orderer(SENDS, _caller("x", 0.2), _caller("x", 0.3, 0.6, "udp_sendmsg", 7), _caller("x", 9.0, 0, "other"))
    assert found is not None
    assert (found.seconds, found.pids, found.lift) == (0.5, (6, 7), pytest.approx((0.5 / 7) / 0.01))


def test_without_quiet_times_there_is_nothing_to_compare() -> None:
    one = starvation(RX, callers=[_caller("x", 3.0, 0.0)])
    assert one.callers is not None
    found = orderer_of(SENDS, replace(one, callers=replace(one.callers, quiet_s=0.0)), RX, {}, PRIORS)
    assert found is not None
    assert found.lift is None


def test_children_begin_in_their_parents_cgroup() -> None:
    shell, cron = _caller("shell", 0.05, function="kernel_clone"), _caller("cron", 3.0, function="kernel_clone")
    found = _orderer(FORKS, shell, cron, cgroup="/shell")
    assert found is not None
    assert found.name == "shell"
    assert _orderer(FORKS, cron, cgroup="/shell") is None


@pytest.mark.parametrize("cgroup", ["", "/"])
def test_where_the_cgroup_tells_nothing_a_few_calls_show_nobody(cgroup: str) -> None:
    assert _orderer(FORKS, _caller("shell", 0.05, function="kernel_clone"), cgroup=cgroup) is None
    assert _orderer(FORKS, _caller("shell", 0.5, function="kernel_clone"), cgroup=cgroup) is not None


@pytest.mark.parametrize(
    ("seconds", "outside", "named"),
    [(0.5, 10.0, True), (0.5, 90.0, False), (3.0, 90.0, False), (0.5, None, False), (3.0, None, True)],
)
def test_what_came_from_outside_nobody_here_sent(seconds: float, outside: float | None, named: bool) -> None:
    facts = {"softnet_processed_packets_core": 100.0}
    facts |= {} if outside is None else {"nic_rx_packets": outside}
    assert (_orderer(FLOOD, _caller("x", seconds), facts=facts) is not None) is named


def test_callers_are_read_where_a_mechanism_that_others_order_may_be_behind_it() -> None:
    functions, wanted = orders_wanted(catalogue())
    assert {"__sys_sendto", "kernel_clone", "flush_tlb_mm_range"} <= functions
    assert wanted(line_up(RX))
    assert not wanted(line_up(suspect(shapes=SMAPS)))
    assert not wanted(line_up(suspect(shapes=ODD)))
    assert wanted(line_up(suspect(shapes=USER, processes=30)))
    assert not wanted(LineUp())
