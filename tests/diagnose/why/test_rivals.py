"""The standing list of rivals, tested."""

from __future__ import annotations

import pytest

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.diagnose.mechanisms import mechanisms
from necroscope.diagnose.why.rivals import _SAME, Case, not_ruled_out, rejected
from necroscope.diagnose.why.suspects import LineUp, Suspect
from necroscope.verdict import Rejected
from stage.incident import SYSCALL, USER
from stage.looked import Frames, text

FAULT: Frames = (("main", "app"), ("asm_exc_page_fault", "[kernel]"), ("handle_mm_fault", "[kernel]"))
RECLAIM: Frames = (*FAULT, ("try_to_free_mem_cgroup_pages", "[kernel]"), ("shrink_folio_list", "[kernel]"))
RUN = Run(1, 0, 6 * NS, (0.1, 0.5, 0.0, 0.1, 0.3, 0.0))


def _case(*stacks: tuple[Frames, float], cause: str = "", explained: tuple[str, ...] = (), **facts: float) -> Case:
    told = tuple((text(frames), weight) for frames, weight in stacks)
    who = Suspect("p", "/", "", (1,), 5.0, 0.8, 0.0, 1e-9, 1.0, told)
    return Case(RUN, who, LineUp((who,), (), who, 1.0, 5), facts, 0.9, 2, cause, frozenset(explained))


def _of(case: Case) -> dict[str, Rejected]:
    return {one.hypothesis: one for one in rejected(case)}


def test_rates_beside_quiet_times() -> None:
    found = _of(_case((FAULT, 1.0), (USER, 3.0), vmstat_pgfault=5000.0, vmstat_pgfault_before=4000.0))
    assert found["page-faults"].because == (
        "5,000 page faults a second, 4,000 in quiet times; "
        "25 % of the core's samples were in a page fault and nothing else"
    )
    assert [one.value for one in found["page-faults"].evidence] == [5000.0, 0.25]


def test_what_the_cause_does_inside_a_rival_is_the_causes() -> None:
    found = _of(_case((RECLAIM, 4.0), cause="x", explained=("try_to_free_mem_cgroup_pages",)))
    assert found["page-faults"].evidence[0].value == 0.0
    inside = _of(_case((RECLAIM, 4.0), cause="x", explained=("handle_mm_fault",)))
    assert inside["reclaim"].evidence[0].value == 1.0


def test_the_cause_itself_is_no_rival() -> None:
    assert "page-faults" not in _of(_case((FAULT, 1.0), cause="page-fault-storm"))
    assert "reclaim" not in _of(_case((RECLAIM, 1.0), cause="memcg-reclaim"))


def test_what_has_no_numbers_is_untested() -> None:
    found = _of(_case((SYSCALL, 1.0)))
    assert not found["nic-or-hardware"].tested
    assert "2 hardware errors" in found["nic-or-hardware"].because
    assert not found["cpu-quota"].tested
    assert _of(_case((SYSCALL, 1.0), throttle_throttled_seconds=0.5))["cpu-quota"].tested


def test_numbers_that_speak_for_a_rival_do_not_reject_it() -> None:
    found = _of(_case((SYSCALL, 1.0)))
    assert {name for name, one in found.items() if not_ruled_out(one)} == {"steal"}
    assert found["steal"].because == "the hypervisor took 30 % of the core"


def test_reclaim_that_walked_is_told_as_what_walked() -> None:
    walk: Frames = (*FAULT, ("try_to_free_mem_cgroup_pages", "[kernel]"), ("mem_cgroup_iter", "[kernel]"))
    pages: Frames = (*FAULT, ("shrink_node", "[kernel]"), ("shrink_inactive_list", "[kernel]"))
    cause = {"cause": "zombie-memcg", "explained": ("mem_cgroup_iter",)}
    found = _of(_case((walk, 9.0), (pages, 0.5), (USER, 0.5), **cause, vmstat_pgscan_direct=7.0))["reclaim"]  # type: ignore[arg-type]
    assert found.because == (
        "it was reclaim that walked: 95 % of the core's samples were below it, but 5 % where it looks at pages and "
        "objects; 7 pages scanned by tasks themselves a second: its own work is not what took the time"
    )
    assert [(one.source, one.value) for one in found.evidence] == [("vmstat_pgscan_direct", 7.0), ("samples", 0.05)]
    own = _of(_case((walk, 1.0), (pages, 3.0), **cause))["reclaim"]  # type: ignore[arg-type]
    assert own.because == "75 % of the core's samples were in reclaim"


@pytest.mark.parametrize(
    ("rival", "cause"),
    [("huge-pages", "huge-page-work"), ("reclaim", "kswapd-spin"), ("interrupt-affinity", "interrupt-storm")],
)
def test_causes_that_are_a_rival_are_called_as_the_catalogue_calls_them(rival: str, cause: str) -> None:
    assert rival in _of(_case((SYSCALL, 1.0)))
    assert rival not in _of(_case((SYSCALL, 1.0), cause=cause))


def test_every_cause_that_is_a_rival_is_in_the_catalogue() -> None:
    assert set().union(*_SAME.values()) <= {one.id for one in mechanisms(())}
