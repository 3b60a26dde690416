"""Every memory cgroup the kernel tracks, by name, the removed ones too: the walk on the live kernel.

Offsets come from the kernel's BTF, memory through BPF. The tree is the host's, whatever namespace we are in. Where the
walk stops early, or a list changes faster than it can be read, the result is `partial` and says why.
It changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.kernel.btf import Btf
from necroscope.sense.kernel.files import FileLayout, Files, Mounts
from necroscope.sense.kernel.layout import MemcgLayout
from necroscope.sense.kernel.memory import BpfMemory
from necroscope.sense.kernel.pins import PinLayout, Pins
from necroscope.sense.kernel.pointers import read_pointers
from necroscope.sense.kernel.walker import Walk, Walker
from necroscope.sense.kernel.zombies import Zombie, ticks

__all__ = ["Walk", "Zombie", "walk_memcgs"]

BTF = "/sys/kernel/btf/vmlinux"
BTF_BYTES_MAX = 64 << 20


def walk_memcgs(host: Host, budget_s: float = 2.0, on_zombie: Callable[[Zombie], None] | None = None) -> Walk:
    """Walk the live kernel; `on_zombie` is told each zombie, with all the files that were seen to pin it.

    `Unavailable` where kernel memory cannot be read at all: a captured host, missing rights, no BTF.
    """
    deadline = clock.elapsed_s() + budget_s
    host.live_path(BTF)
    btf = Btf(host.read(BTF, BTF_BYTES_MAX))
    layout = MemcgLayout.of(btf)
    pin_layout, file_layout, unseen = _pin_layouts(btf)
    with BpfMemory(host) as memory:
        pointers = read_pointers(host, memory.current_task(), btf.sizeof("page"))
        pins = files = None
        if pin_layout is not None and file_layout is not None:
            files = Files(memory, file_layout, pointers, Mounts(host.read_or_none("/proc/self/mountinfo") or b""))
            pins = Pins(memory, pin_layout, pointers, files, _numa_nodes(host))
        now = ticks(memory.jiffies(), host.clock().monotonic_ns / clock.NS)
        walker = Walker(memory, layout, pointers, pins, files, now, on_zombie)
        walker.reasons += unseen
        return walker.walk(deadline)


def _pin_layouts(btf: Btf) -> tuple[PinLayout | None, FileLayout | None, list[str]]:
    """Names alone are worth a walk: a kernel that keeps its pages otherwise only loses the pins."""
    try:
        return PinLayout.of(btf), FileLayout.of(btf), []
    except Unavailable as error:
        return None, None, [f"what pins zombies cannot be seen: {error.message}"]


def _numa_nodes(host: Host) -> int:
    """One more than the highest NUMA node."""
    try:
        names = host.names("/sys/devices/system/node")
    except Unavailable:
        return 1
    return max((int(name[4:]) + 1 for name in names if re.fullmatch(r"node\d{1,4}", name)), default=1)
