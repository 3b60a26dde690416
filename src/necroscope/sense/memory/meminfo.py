"""/proc/meminfo: where the memory of the node is, under the kernel's names; sizes are in bytes here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import count, whole_lines
from necroscope.vocabulary.model import Reading, Sample, Signal

_KIB = 1024


@dataclass(frozen=True, slots=True)
class MemorySizes:
    """One look; a line that this kernel does not have is None."""

    memtotal_bytes: int | None = None
    memfree_bytes: int | None = None
    memavailable_bytes: int | None = None
    buffers_bytes: int | None = None
    cached_bytes: int | None = None
    shmem_bytes: int | None = None
    anonpages_bytes: int | None = None
    mapped_bytes: int | None = None
    unevictable_bytes: int | None = None
    mlocked_bytes: int | None = None
    dirty_bytes: int | None = None
    writeback_bytes: int | None = None
    slab_bytes: int | None = None
    sreclaimable_bytes: int | None = None
    sunreclaim_bytes: int | None = None
    percpu_bytes: int | None = None
    kernelstack_bytes: int | None = None
    pagetables_bytes: int | None = None
    vmallocused_bytes: int | None = None
    committed_as_bytes: int | None = None
    anonhugepages_bytes: int | None = None
    swaptotal_bytes: int | None = None
    swapfree_bytes: int | None = None
    hugetlb_bytes: int | None = None
    hugepagesize_bytes: int | None = None
    hugepages_total: int | None = None
    hugepages_free: int | None = None


# field: (the file's name for it, help)
_LINES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "memtotal_bytes": ("MemTotal", "Memory the kernel has."),
        "memfree_bytes": ("MemFree", "Memory used for nothing at all; small on a healthy node."),
        "memavailable_bytes": ("MemAvailable", "Estimate of what can be had without swapping."),
        "buffers_bytes": ("Buffers", "Cache of block devices."),
        "cached_bytes": ("Cached", "Page cache, tmpfs included."),
        "shmem_bytes": ("Shmem", "tmpfs and shared memory: counted as cache, but only swap or unlink frees it."),
        "anonpages_bytes": ("AnonPages", "Memory of processes that no file backs."),
        "mapped_bytes": ("Mapped", "Page cache that processes have mapped."),
        "unevictable_bytes": ("Unevictable", "Memory that reclaim may not touch."),
        "mlocked_bytes": ("Mlocked", "Memory locked by processes."),
        "dirty_bytes": ("Dirty", "Page cache that waits to be written."),
        "writeback_bytes": ("Writeback", "Page cache being written."),
        "slab_bytes": ("Slab", "Kernel objects of all kinds."),
        "sreclaimable_bytes": ("SReclaimable", "Kernel objects that reclaim may free: dentries, inodes."),
        "sunreclaim_bytes": ("SUnreclaim", "Kernel objects that stay; grows with zombie cgroups."),
        "percpu_bytes": ("Percpu", "Per-CPU areas of the kernel; grows with zombie cgroups times possible CPUs."),
        "kernelstack_bytes": ("KernelStack", "Kernel stacks of all tasks."),
        "pagetables_bytes": ("PageTables", "Page tables of all processes."),
        "vmallocused_bytes": ("VmallocUsed", "Kernel memory mapped page by page."),
        "committed_as_bytes": ("Committed_AS", "Memory promised to processes, used or not."),
        "anonhugepages_bytes": ("AnonHugePages", "Anonymous memory in transparent huge pages."),
        "swaptotal_bytes": ("SwapTotal", "Size of swap."),
        "swapfree_bytes": ("SwapFree", "Swap not in use."),
        "hugetlb_bytes": ("Hugetlb", "Memory set aside for huge pages of all sizes."),
        "hugepagesize_bytes": ("Hugepagesize", "Size of a default huge page."),
        "hugepages_total": ("HugePages_Total", "Huge pages set aside, of the default size."),
        "hugepages_free": ("HugePages_Free", "Huge pages set aside that nobody uses."),
    }
)


class Meminfo:
    """Where the memory is."""

    name: ClassVar[str] = "meminfo"
    signals: ClassVar[tuple[Signal, ...]] = tuple(
        Signal(f"meminfo_{field}", "bytes" if field.endswith("_bytes") else "pages", "gauge", text)
        for field, (_, text) in _LINES.items()
    )

    def read(self, host: Host) -> Reading:
        """One look at /proc/meminfo."""
        seen = parse_meminfo(host.read("/proc/meminfo"))
        values = {field.name: getattr(seen, field.name) for field in fields(seen)}
        return Reading(
            samples=tuple(Sample(f"meminfo_{name}", value) for name, value in values.items() if value is not None)
        )


def parse_meminfo(text: bytes) -> MemorySizes:
    """The known lines; `Unavailable` when there is none."""
    lines = dict(_line(line) for line in whole_lines(text))
    known = {
        field: lines[name.encode(), field.endswith("_bytes")]
        for field, (name, _) in _LINES.items()
        if (name.encode(), field.endswith("_bytes")) in lines
    }
    seen = MemorySizes(**known)
    if seen == MemorySizes():
        raise Unavailable("/proc/meminfo holds no line that is known")
    return seen


def _line(line: bytes) -> tuple[tuple[bytes, bool], int | None]:
    """((name, is a size), value): a size has a unit, a number of pages has none; None when it is neither."""
    name, _, rest = line.partition(b":")
    tokens = rest.split()
    value = count(tokens[0]) if tokens else None
    if tokens[1:] == [b"kB"]:
        return (name, True), None if value is None else value * _KIB
    return (name, False), value if len(tokens) == 1 else None
