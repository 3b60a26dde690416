"""/proc/vmstat: what memory management had to do - faults, reclaim, compaction, huge pages, OOM kills.

A signal is named after its field, so that a kernel's documentation applies. Fields come and go with kernels and
their configuration; one that is absent is not emitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import flat_keyed
from necroscope.vocabulary.model import Reading, Sample, Signal

_STALL = "allocstall"

# field: (unit, help). All of these only grow.
FIELDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "pgfault": ("faults", "Page faults of all kinds; most cost a microsecond and no I/O."),
        "pgmajfault": ("faults", "Page faults that had to wait for a disk."),
        "pgscan_kswapd": ("pages", "Pages looked at by background reclaim."),
        "pgscan_direct": ("pages", "Pages looked at by tasks that had to reclaim memory themselves."),
        "pgscan_khugepaged": ("pages", "Pages looked at by reclaim on behalf of huge pages."),
        "pgscan_proactive": ("pages", "Pages looked at because somebody wrote to memory.reclaim."),
        "pgscan_direct_throttle": ("tasks", "Tasks put to sleep because reclaim could not keep up."),
        "pgsteal_kswapd": ("pages", "Pages that background reclaim got back."),
        "pgsteal_direct": ("pages", "Pages that tasks got back by reclaiming themselves."),
        "pgsteal_khugepaged": ("pages", "Pages got back on behalf of huge pages."),
        "pgsteal_proactive": ("pages", "Pages got back because somebody wrote to memory.reclaim."),
        "pgrefill": ("pages", "Pages of the active lists that reclaim looked at."),
        "pginodesteal": ("pages", "Pages freed with their inode by tasks that reclaimed."),
        "kswapd_inodesteal": ("pages", "Pages freed with their inode by background reclaim."),
        "pageoutrun": ("runs", "Runs of background reclaim."),
        "slabs_scanned": ("objects", "Kernel objects that reclaim looked at."),
        "zone_reclaim_failed": ("attempts", "Reclaim within one NUMA node that found too little."),
        "pswpin": ("pages", "Pages read back from swap."),
        "pswpout": ("pages", "Pages written to swap."),
        "compact_stall": ("stalls", "Tasks that had to compact memory themselves before they got a large page."),
        "compact_fail": ("attempts", "Compactions by tasks that made no large page."),
        "compact_success": ("attempts", "Compactions by tasks that made a large page."),
        "compact_migrate_scanned": ("pages", "Pages that compaction looked at to move."),
        "compact_free_scanned": ("pages", "Pages that compaction looked at to move to."),
        "compact_isolated": ("pages", "Pages that compaction took aside to move."),
        "compact_daemon_wake": ("wakeups", "Wake-ups of the compaction threads."),
        "thp_fault_alloc": ("pages", "Huge pages handed out at a page fault."),
        "thp_fault_fallback": ("pages", "Page faults that wanted a huge page and got a small one."),
        "thp_collapse_alloc": ("pages", "Huge pages made of small ones."),
        "thp_split_page": ("pages", "Huge pages split into small ones."),
        "thp_split_page_failed": ("pages", "Huge pages that could not be split."),
        "thp_deferred_split_page": ("pages", "Huge pages queued to be split under pressure."),
        "thp_underused_split_page": ("pages", "Huge pages split because they were mostly empty."),
        "thp_split_pmd": ("mappings", "Huge mappings split, the page staying whole."),
        "oom_kill": ("kills", "Tasks killed for want of memory, in cgroups and on the whole node."),
        "workingset_refault": ("pages", "Pages needed again soon after reclaim took them (before 5.9)."),
        "workingset_activate": ("pages", "Refaulted pages found to be in constant use (before 5.9)."),
        "workingset_restore": ("pages", "Refaulted pages that had been in constant use before (before 5.9)."),
        "workingset_refault_anon": ("pages", "Anonymous pages needed again soon after reclaim took them."),
        "workingset_refault_file": ("pages", "File pages needed again soon after reclaim took them: thrashing."),
        "workingset_activate_anon": ("pages", "Refaulted anonymous pages found to be in constant use."),
        "workingset_activate_file": ("pages", "Refaulted file pages found to be in constant use."),
        "workingset_restore_anon": ("pages", "Refaulted anonymous pages that had been in constant use before."),
        "workingset_restore_file": ("pages", "Refaulted file pages that had been in constant use before."),
        "workingset_nodereclaim": ("nodes", "Shadow entries of evicted pages that were dropped themselves."),
        "drop_pagecache": ("calls", "Writes to drop_caches that dropped page cache: somebody's cure."),
        "drop_slab": ("calls", "Writes to drop_caches that dropped kernel objects: somebody's cure."),
        "numa_pages_migrated": ("pages", "Pages moved between NUMA nodes."),
        "pgmigrate_success": ("pages", "Pages moved, for whatever reason."),
        "pgmigrate_fail": ("pages", "Pages that could not be moved."),
    }
)


@dataclass(frozen=True, slots=True)
class VmCounters:
    """All fields of one look, by the kernel's names."""

    fields: Mapping[str, int]

    def get(self, field: str) -> int | None:
        """The field's value; None when this kernel does not have it."""
        return self.fields.get(field)

    @property
    def stalls(self) -> dict[str, int]:
        """Tasks that had to reclaim memory before they got any, by zone (`all` where zones are not separate)."""
        return {
            name.removeprefix(_STALL).removeprefix("_") or "all": value
            for name, value in self.fields.items()
            if name == _STALL or name.startswith(f"{_STALL}_")
        }


class Vmstat:
    """The fields of /proc/vmstat that tell reclaim, faults, compaction and kills."""

    name: ClassVar[str] = "vmstat"
    signals: ClassVar[tuple[Signal, ...]] = (
        *(Signal(f"vmstat_{field}", unit, "counter", text) for field, (unit, text) in FIELDS.items()),
        Signal(
            "vmstat_allocstall",
            "stalls",
            "counter",
            "Tasks that had to reclaim memory themselves before they got any, by the zone they asked.",
            ("zone",),
        ),
    )

    def read(self, host: Host) -> Reading:
        """One look at /proc/vmstat."""
        return Reading(samples=tuple(_samples(parse_vmstat(host.read("/proc/vmstat")))))


def parse_vmstat(text: bytes) -> VmCounters:
    """Every field with a number; `Unavailable` when there is none."""
    fields = flat_keyed(text)
    if not fields:
        raise Unavailable("/proc/vmstat holds no field")
    return VmCounters(MappingProxyType(fields))


def _samples(stat: VmCounters) -> Iterator[Sample]:
    for field in FIELDS:
        if (value := stat.get(field)) is not None:
            yield Sample(f"vmstat_{field}", value)
    yield from (Sample("vmstat_allocstall", value, (zone,)) for zone, value in stat.stalls.items())
