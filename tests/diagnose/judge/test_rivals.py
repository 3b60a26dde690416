"""The standing list of rivals, tested: ruled out, not ruled out, or untested, each with its numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import rivals
from necroscope.diagnose.judge.rivals import Trial, claim, strongest
from necroscope.diagnose.judge.suspect_facts import facts_of
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary import verdict
from necroscope.vocabulary.case import Case, HardwareEvent, Quota, Starvation
from stage.build_case import AT_NS, NET_RX, SYSCALL, USER, Functions, Shapes, case, mark, starvation, suspect

KNOWN = catalogue()
FAULT: Functions = ("asm_exc_page_fault", "handle_mm_fault")
RECLAIM: Functions = (*FAULT, "try_to_free_mem_cgroup_pages", "shrink_folio_list")
WALKS: Functions = (*FAULT, "try_to_free_mem_cgroup_pages", "mem_cgroup_iter")
PAGES: Functions = (*FAULT, "shrink_node", "shrink_inactive_list")
ZOMBIES = {"cause": "zombie-memcg", "explained": frozenset({"mem_cgroup_iter"})}


def _starved(shapes: Shapes = SYSCALL, share: float = 1.0, **more: object) -> Starvation:
    return starvation(suspect(shapes=shapes, share=share), **more)  # type: ignore[arg-type]


def _tested(one: Starvation, around: Case | None = None, **more: object) -> dict[str, verdict.Tested]:
    who = one.line_up.suspects[0]
    given = around if around is not None else case(one)
    trial = Trial(given, one, who, facts_of(one, who, KNOWN), PRIORS, **more)  # type: ignore[arg-type]
    return {each.hypothesis: each for each in rivals.tested(trial, KNOWN)}


def _outcome(found: verdict.Tested) -> tuple[str, float | None]:
    return found.outcome, found.explains


def test_every_rival_of_the_list_is_tested_and_none_is_ruled_out_without_a_number() -> None:
    found = _tested(_starved())
    assert set(found) == {one.id for one in KNOWN.rivals}
    for one in found.values():
        assert one.because
        assert one.outcome != "not-ruled-out"
        assert (one.explains is None) == (one.outcome == "untested")
        assert one.evidence or one.outcome == "untested"
    assert {name for name, one in found.items() if one.outcome == "untested"} == {
        "nic-or-hardware",
        "cpu-quota",
        "core-frequency",
        "smt-sibling",
    }


def test_a_cause_is_found_and_the_rival_that_is_the_same_thing_is_left_out() -> None:
    for cause, rival in (
        ("page-fault-storm", "page-faults"),
        ("huge-page-work", "huge-pages"),
        ("compaction", "huge-pages"),
        ("kswapd-spin", "reclaim"),
        ("interrupt-storm", "interrupt-affinity"),
        ("cpu-quota-walk", "cpu-quota"),
    ):
        assert rival in _tested(_starved())
        assert rival not in _tested(_starved(), cause=cause)


# -- samples -------------------------------------------------------------------------------------------------


def test_shares_of_samples_with_rates_beside_quiet_times() -> None:
    numbers = {"vmstat_pgfault": 5000.0, "vmstat_pgfault_before": 4000.0}
    found = _tested(_starved({FAULT: 0.25, USER: 0.75}, **numbers))["page-faults"]
    assert found.because == (
        "25 % of the core's samples were in a page fault and nothing else; "
        "5,000 page faults a second, 4,000 in quiet times"
    )
    assert [one.value for one in found.evidence] == [5000.0, 0.25]
    assert _outcome(found) == ("ruled-out", 0.25)
    assert _outcome(_tested(_starved({FAULT: 0.35, USER: 0.65}))["page-faults"]) == ("not-ruled-out", 0.35)


def test_what_the_cause_does_inside_a_rival_is_the_causes() -> None:
    found = _tested(_starved(RECLAIM), cause="x", explained=frozenset({"try_to_free_mem_cgroup_pages"}))
    assert found["page-faults"].explains == 0.0
    inside = _tested(_starved(RECLAIM), cause="x", explained=frozenset({"handle_mm_fault"}))
    assert inside["reclaim"].explains == 1.0


def test_reclaim_that_walks_is_told_as_what_carries_the_walk() -> None:
    shapes = {WALKS: 0.9, PAGES: 0.05, USER: 0.05}
    found = _tested(_starved(shapes, vmstat_pgscan_direct=7.0), **ZOMBIES)["reclaim"]
    assert found.because == (
        "95 % of the core's samples were below it, but 5 % in its own work; "
        "7 pages scanned by tasks themselves a second"
    )
    assert [(one.source, one.value) for one in found.evidence] == [("vmstat_pgscan_direct", 7.0), ("samples", 0.05)]
    assert _outcome(found) == ("ruled-out", 0.05)
    own = _tested(_starved({WALKS: 0.25, PAGES: 0.75}), **ZOMBIES)["reclaim"]
    assert (own.because, own.explains) == ("75 % of the core's samples were in reclaim", 0.75)


def test_a_rival_explains_only_the_time_that_its_samples_tell_of() -> None:
    """All samples show it, of the four tenths of the time that the hypervisor left."""
    found = _tested(_starved(FAULT, 0.4, steal=0.6))["page-faults"]
    assert _outcome(found) == ("not-ruled-out", 0.4)
    assert "100 % of the core's samples" in found.because


def test_where_interrupts_were_off_samples_stand_for_the_rest() -> None:
    assert _tested(_starved(FAULT, 0.1, sampled=0.1))["page-faults"].explains == 1.0


def test_without_samples_nothing_is_said_of_them() -> None:
    one = _starved()
    empty = replace(one.line_up.suspects[0], stacks=())
    for everybody in (None, empty):
        bare = replace(one, line_up=replace(one.line_up, everybody=everybody))
        assert _tested(bare)["page-faults"].outcome == "untested"


# -- the core's own counters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "outcome", "explains", "text"),
    [
        (None, "not-ruled-out", 0.4, "the hypervisor took 40 % of the core"),
        (0.05, "not-ruled-out", 0.35, "the hypervisor took 40 % of the core, 5 % in quiet times"),
        (0.38, "ruled-out", 0.02, "the hypervisor took 40 % of the core, 38 % in quiet times"),
        (0.5, "ruled-out", 0.0, "the hypervisor took 40 % of the core, 50 % in quiet times"),
    ],
)
def test_steal_is_what_is_more_than_in_quiet_times(
    before: float | None, outcome: str, explains: float, text: str
) -> None:
    numbers = {} if before is None else {"core_steal_before": before}
    found = _tested(_starved(share=0.6, steal=0.4, **numbers))["steal"]
    assert (found.outcome, found.explains, found.because) == (outcome, explains, text)


def test_of_samples_alone_nobody_knows_what_the_hypervisor_took() -> None:
    assert _tested(_starved(counted=False))["steal"].outcome == "untested"
    assert _tested(_starved(counted=False))["interrupt-affinity"].outcome == "ruled-out"


def test_interrupts_by_counters_or_by_samples_whichever_is_more() -> None:
    rx = suspect(shapes=NET_RX, share=0.4, context="softirq")
    one = starvation(suspect(shapes=USER, share=0.6), rx, interrupts_served_by_cpu_core=9.0, counted=False)
    found = _tested(one)["interrupt-affinity"]
    assert found.because == "interrupts of both kinds took 40 % of the core; 9 interrupts a second"
    assert _outcome(found) == ("not-ruled-out", 0.4)


def test_interrupts_are_no_rival_of_a_cause_that_is_interrupts() -> None:
    rx = suspect(shapes=NET_RX, share=0.9, context="softirq")
    one = starvation(rx, suspect("victim", USER, 0.1))
    assert "interrupt-affinity" not in _tested(one, cause="firewall-rules-walk")
    assert _tested(one)["interrupt-affinity"].outcome == "not-ruled-out"
    other = starvation(suspect(), replace(rx, share=0.0))
    assert "interrupt-affinity" in _tested(other, cause="firewall-rules-walk")


# -- rates that rose or fell ---------------------------------------------------------------------------------


def test_a_quota_stops_who_noticed_and_takes_no_core_from_the_kernel() -> None:
    one = _starved(quotas=[Quota("/jobs/one", 0.9, 0.2), Quota("/jobs/two", 0.8, 0.75)])
    noticed = _tested(one, case(one, symptom=mark()))["cpu-quota"]
    assert noticed.because == "a quota stopped a cgroup for 0.9 s of each second, 0.2 in quiet times"
    assert _outcome(noticed) == ("not-ruled-out", 0.7)
    quota = _tested(one)["cpu-quota"]
    assert quota.because.endswith("0.2 in quiet times; what is stopped takes no core")
    assert _outcome(quota) == ("ruled-out", 0.0)


def test_a_quota_of_which_nobody_knows_what_is_usual_does_not_say_zero() -> None:
    one = _starved(quotas=[Quota("/jobs/one", 0.9)])
    found = _tested(one, case(one, symptom=mark()))["cpu-quota"]
    assert found.because == "a quota stopped a cgroup for 0.9 s of each second"
    assert _outcome(found) == ("not-ruled-out", 0.9)


def test_quotas_that_stopped_nobody_are_no_quotas_that_nobody_saw() -> None:
    assert _outcome(_tested(_starved(throttle_throttled_seconds=0.0))["cpu-quota"]) == ("ruled-out", 0.0)
    unseen = _tested(_starved())["cpu-quota"]
    assert (unseen.outcome, unseen.because) == ("untested", "no cgroup with a CPU quota was seen")


@pytest.mark.parametrize(
    ("now", "before", "outcome", "explains"),
    [
        (1.2e9, 3.0e9, "not-ruled-out", 0.6),
        (2.9e9, 3.0e9, "ruled-out", 0.033),
        (3.5e9, 3.0e9, "ruled-out", 0.0),
        (1.2e9, None, "untested", None),
        (1.0, 3.0, "untested", None),
    ],
)
def test_a_core_that_runs_slower(now: float, before: float | None, outcome: str, explains: float | None) -> None:
    numbers = {"cpu_frequency_hertz_core": now}
    numbers |= {} if before is None else {"cpu_frequency_hertz_core_before": before}
    found = _tested(_starved(**numbers))["core-frequency"]
    assert _outcome(found) == (outcome, explains)
    if explains == 0.6:
        assert found.because == "the core ran at 40 % of its frequency in quiet times"


def test_a_busy_sibling_costs_a_part_of_what_it_took_more() -> None:
    found = _tested(_starved(sibling_busy=0.95, sibling_busy_before=0.05))["smt-sibling"]
    assert found.because == "the other thread of its core was busy for 95 % of the time, 5 % in quiet times"
    assert _outcome(found) == ("not-ruled-out", 0.315)
    assert _outcome(_tested(_starved(sibling_busy=0.95, sibling_busy_before=0.9))["smt-sibling"])[0] == "ruled-out"


# -- who else was on the core, and the hardware --------------------------------------------------------------


def test_too_many_on_one_core_is_ruled_out_by_who_shared_it() -> None:
    found = _tested(_starved())["cpu-affinity"]
    assert found.because == (
        "100 % of the core went to reader (pid 77); 0 others took 5 % of it or more; "
        "the other cores were idle 90 % of the time"
    )
    assert _outcome(found) == ("ruled-out", 0.0)


def test_many_who_came_at_once_are_too_many_and_those_that_are_always_there_are_not() -> None:
    first = suspect(share=0.4)
    for before, outcome in ((0.0, "not-ruled-out"), (0.14, "ruled-out")):
        crowd = [suspect(f"crowd{n}", USER, 0.15, pid=100 + n, cgroup=f"/{n}", before=before) for n in range(4)]
        one = starvation(first, *crowd)
        who = next(each for each in one.line_up.suspects if each.name == "reader")
        trial = Trial(case(one), one, who, facts_of(one, who, KNOWN), PRIORS)
        found = {each.hypothesis: each for each in rivals.tested(trial, KNOWN)}["cpu-affinity"]
        assert found.outcome == outcome
        assert "4 others took 5 %" in found.because


def test_those_of_the_suspects_own_cgroup_are_no_others() -> None:
    crowd = [suspect(f"step{n}", USER, 0.15, pid=100 + n, cgroup="/r") for n in range(4)]
    assert _tested(starvation(suspect(share=0.4), *crowd))["cpu-affinity"].explains == 0.0


def test_errors_of_a_device_and_complaints_of_the_hardware() -> None:
    quiet = _tested(_starved(nic_rx_errors=0.0, nic_tx_errors=0.0))["nic-or-hardware"]
    assert (
        quiet.because == "errors and link changes of network devices: 0 a second; 0 hardware errors in the kernel's log"
    )
    assert _outcome(quiet) == ("ruled-out", 0.0)
    usual = _tested(_starved(nic_rx_errors=50.0, nic_rx_errors_before=50.0))["nic-or-hardware"]
    assert usual.outcome == "ruled-out"
    many = _tested(_starved(nic_rx_errors=50.0, nic_rx_errors_before=1.0))["nic-or-hardware"]
    assert _outcome(many) == ("not-ruled-out", None)


def test_a_complaint_of_the_hardware_is_not_ruled_out_though_nobody_counted_errors() -> None:
    one = _starved()
    around = case(one, hardware=(HardwareEvent(AT_NS, "hardware-error"), HardwareEvent(AT_NS, "gpu-xid")))
    found = _tested(one, around)["nic-or-hardware"]
    assert found.because == (
        "2 hardware errors in the kernel's log (hardware-error, gpu-xid); the device's own counters were not recorded"
    )
    assert _outcome(found) == ("not-ruled-out", None)


# -- which of them counts ------------------------------------------------------------------------------------


def test_the_strongest_is_the_one_that_claims_most() -> None:
    silent = verdict.Tested("hardware", "not-ruled-out", "x")
    small, large = (verdict.Tested(f"r{n}", "not-ruled-out", "x", (), n) for n in (0.3, 0.7))
    out = verdict.Tested("out", "ruled-out", "x", (), 0.9)
    assert strongest([silent, small, out, large], PRIORS) is large
    assert strongest([out, silent], PRIORS) is silent
    assert claim(silent, PRIORS) == PRIORS.rival_unmeasured
    assert strongest([out], PRIORS) is None
