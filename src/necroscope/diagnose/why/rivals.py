"""The standing list of rivals: what people suspect first, each tested on the same window and told with its numbers.

A rival that is the cause itself is not on the list. One whose numbers are missing is told as untested, never as
rejected on faith.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from necroscope.case import Run
from necroscope.diagnose.why.suspects import LineUp, Suspect
from necroscope.model import Evidence
from necroscope.quantity import count, share
from necroscope.query.kernel_frames import kernel_functions
from necroscope.store.catalog import Window
from necroscope.verdict import Rejected

_FAULT = (
    "exc_page_fault",
    "asm_exc_page_fault",
    "do_user_addr_fault",
    "handle_mm_fault",
    "do_page_fault",
    "page_fault",
)
_ALLOCATE = (
    "__alloc_pages",
    "__alloc_pages_noprof",
    "__alloc_frozen_pages_noprof",
    "get_page_from_freelist",
    "kmem_cache_alloc",
    "kmem_cache_alloc_noprof",
    "__kmalloc",
    "__kmalloc_noprof",
)
_RECLAIM = (
    "try_to_free_pages",
    "try_to_free_mem_cgroup_pages",
    "shrink_node",
    "shrink_lruvec",
    "balance_pgdat",
    "kswapd",
)
_RECLAIMS_OWN = (
    "shrink_inactive_list",
    "shrink_active_list",
    "shrink_list",
    "shrink_folio_list",
    "shrink_page_list",
    "isolate_lru_folios",
    "isolate_lru_pages",
    "evict_folios",
    "evict_pages",
    "do_shrink_slab",
)
_COMPACT = (
    "compact_zone",
    "try_to_compact_pages",
    "migrate_pages",
    "khugepaged",
    "kcompactd",
    "do_huge_pmd_anonymous_page",
)
# Causes that are one of the rivals, or of which one of these is a part.
_SAME: dict[str, set[str]] = {
    "page-faults": {"page-fault-storm", "numa-balancing"},
    "huge-pages": {"compaction", "huge-page-work"},
    "allocator": {"page-fault-storm", "compaction", "lock-contention"},
    "reclaim": {"memcg-reclaim", "kswapd-spin", "direct-reclaim"},
    "interrupt-affinity": {"softirq-flood", "interrupt-storm"},
    "steal": set(),
    "cpu-affinity": set(),
    "nic-or-hardware": set(),
    "cpu-quota": {"cpu-quota-walk"},
}


@dataclass(frozen=True, slots=True)
class Case:
    """What rivals are tested on."""

    run: Run
    suspect: Suspect
    lineup: LineUp
    facts: Mapping[str, float]
    elsewhere_idle: float | None
    hardware_events: int
    cause: str = ""
    explained: frozenset[str] = frozenset()
    """Functions that the cause itself accounts for."""
    noticed: bool = False
    """Whether somebody noticed the symptom who may have been stopped himself, as opposed to the kernel."""

    @property
    def window(self) -> Window:
        """The time that it is all about."""
        return self.run.window


_NOT_RULED_OUT = 0.3
_OWN_WORK = 0.5


def not_ruled_out(rival: Rejected) -> bool:
    """Whether a rival's own numbers speak for it: it claims a large part of the lost time."""
    return rival.tested and rival.standing >= _NOT_RULED_OUT


def rejected(case: Case) -> tuple[Rejected, ...]:
    """Every rival of the standing list that is not the cause itself."""
    tests: dict[str, Callable[[Case], Rejected]] = {
        "page-faults": _page_faults,
        "huge-pages": _huge_pages,
        "allocator": _allocator,
        "reclaim": _reclaim,
        "cpu-affinity": _cpu_affinity,
        "interrupt-affinity": _interrupt_affinity,
        "nic-or-hardware": _hardware,
        "steal": _steal,
        "cpu-quota": _quota,
    }
    return tuple(test(case) for name, test in tests.items() if case.cause not in _SAME[name])


def _page_faults(case: Case) -> Rejected:
    part = _in(case, _FAULT)
    return _rate(case, "page-faults", "vmstat_pgfault", "page faults", part, "in a page fault and nothing else")


def _huge_pages(case: Case) -> Rejected:
    part = _in(case, _COMPACT)
    return _rate(
        case, "huge-pages", "vmstat_compact_stall", "stalls for compaction", part, "in huge pages or compaction"
    )


def _allocator(case: Case) -> Rejected:
    part = _in(case, _ALLOCATE)
    return _told(case, "allocator", f"{share(part)} of the core's samples were in the page or slab allocator", part)


def _reclaim(case: Case) -> Rejected:
    part = _in(case, _RECLAIM)
    found = _rate(case, "reclaim", "vmstat_pgscan_direct", "pages scanned by tasks themselves", part, "in reclaim")
    below, own = _below(case, _RECLAIM), _below(case, _RECLAIMS_OWN)
    if not case.explained or below < _NOT_RULED_OUT or own > _OWN_WORK * below:
        return found
    # What walks may well be reclaim: then it is told, and that it hardly came to its own work.
    text = f"it was reclaim that walked: {share(below)} of the core's samples were below it, but {share(own)} where it"
    text += " looks at pages and objects"
    evidence = (
        *(one for one in found.evidence if one.source != "samples"),
        Evidence(text, "samples", round(own, 3), "share", case.window),
    )
    counted = "".join(f"; {one.text}" for one in evidence[:-1])
    return Rejected("reclaim", f"{text}{counted}: its own work is not what took the time", evidence, standing=own)


def _rate(case: Case, rival: str, name: str, what: str, part: float, where: str) -> Rejected:
    samples = f"{share(part)} of the core's samples were {where}"
    if name not in case.facts:
        return _told(case, rival, samples, part)
    now, before = case.facts[name], case.facts.get(f"{name}_before")
    quiet = f", {count(before)} in quiet times" if before is not None else ""
    evidence = (
        Evidence(f"{count(now)} {what} a second{quiet}", name, round(now, 1), "1/s", case.window),
        Evidence(samples, "samples", round(part, 3), "share", case.window),
    )
    return Rejected(rival, f"{evidence[0].text}; {samples}", evidence, standing=part)


def _told(case: Case, rival: str, text: str, value: float) -> Rejected:
    return Rejected(rival, text, (Evidence(text, "samples", round(value, 3), "share", case.window),), standing=value)


def _in(case: Case, functions: tuple[str, ...]) -> float:
    """Share of the core's samples that are in such functions, and not because the cause itself was in them: what is
    inside the cause's own functions, or without these, counts."""
    everybody = case.lineup.everybody
    if everybody is None:
        return 0.0
    total = sum(weight for _, weight in everybody.stacks) or 1.0
    wanted, found = frozenset(functions), 0.0
    for text, weight in everybody.stacks:
        names = kernel_functions(text)
        if _last(names, wanted - case.explained) > _last(names, case.explained):
            found += weight
    return found / total


def _below(case: Case, functions: tuple[str, ...]) -> float:
    """Share of the core's samples that are in such functions, whatever is inside of these."""
    everybody = case.lineup.everybody
    if everybody is None:
        return 0.0
    total = sum(weight for _, weight in everybody.stacks) or 1.0
    names = ((frozenset(kernel_functions(text)), weight) for text, weight in everybody.stacks)
    return sum(weight for one, weight in names if not one.isdisjoint(functions)) / total


def _last(names: list[str], wanted: frozenset[str]) -> int:
    """Place of the innermost of some functions in a stack; -1: none is in it."""
    return max((place for place, name in enumerate(names) if name in wanted), default=-1)


def _cpu_affinity(case: Case) -> Rejected:
    others = sum(1 for one in case.lineup.suspects if not one.context and one.share >= 0.05 and one is not case.suspect)
    text = f"{share(case.suspect.share)} of the core went to {case.suspect.title}"
    text += f", {others} others took 5 % or more: it was not shared by too many"
    evidence = [Evidence(text, "samples", others, "processes", case.window)]
    if case.elsewhere_idle is not None:
        idle = f"the other cores were idle {share(case.elsewhere_idle)} of the time"
        evidence.append(Evidence(idle, "cpu", round(case.elsewhere_idle, 3), "share", case.window))
    return Rejected("cpu-affinity", "; ".join(one.text for one in evidence), tuple(evidence))


def _interrupt_affinity(case: Case) -> Rejected:
    part = case.run.share("irq") + case.run.share("softirq")
    sampled = sum(one.share for one in case.lineup.suspects if one.context)
    text = f"interrupts of both kinds took {share(max(part, sampled))} of the core"
    served = case.facts.get("interrupts_served_by_cpu_core")
    before = case.facts.get("interrupts_served_by_cpu_core_before")
    if served is not None:
        text += f"; {count(served)} a second came in" + ("" if before is None else f", {count(before)} in quiet times")
    evidence = Evidence(text, "cpu", round(max(part, sampled), 3), "share", case.window)
    return Rejected("interrupt-affinity", text, (evidence,), standing=max(part, sampled))


def _hardware(case: Case) -> Rejected:
    names = ("nic_rx_errors", "nic_tx_errors", "nic_carrier_changes", "nic_tx_carrier_errors")
    rates = [case.facts[name] for name in names if name in case.facts]
    events = f"{case.hardware_events} hardware errors in the kernel's log"
    if not rates:
        return Rejected(
            "nic-or-hardware",
            f"{events}; the device's own counters were not recorded",
            (Evidence(events, "events", case.hardware_events, "events"),),
            tested=False,
        )
    text = f"errors and link changes of network devices: {sum(rates):.1f} a second; {events}"
    return Rejected("nic-or-hardware", text, (Evidence(text, "nic", round(sum(rates), 2), "1/s", case.window),))


def _steal(case: Case) -> Rejected:
    part = case.run.share("steal")
    if not case.run.counted:
        return Rejected("steal", "the core's counters were not recorded", (), tested=False)
    text = f"the hypervisor took {share(part)} of the core"
    return Rejected("steal", text, (Evidence(text, "cpu", round(part, 3), "share", case.window),), standing=part)


def _quota(case: Case) -> Rejected:
    name = "throttle_throttled_seconds"
    if name not in case.facts:
        return Rejected("cpu-quota", "no cgroup with a CPU quota was seen", (), tested="throttle_periods" in case.facts)
    now, before = case.facts[name], case.facts.get(f"{name}_before", 0.0)
    text = f"quotas stopped cgroups for {now:.2f} s a second, {before:.2f} in quiet times"
    evidence = (Evidence(text, "throttle", round(now, 3), "s/s", case.window),)
    if case.noticed:
        # What a job loses to its own quota looks to it like any other delay.
        return Rejected("cpu-quota", text, evidence, standing=min(1.0, max(0.0, now - before)))
    return Rejected("cpu-quota", f"{text}; a stopped task takes no core", evidence)
