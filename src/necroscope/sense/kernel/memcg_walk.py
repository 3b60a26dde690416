"""Every memory cgroup the kernel tracks, by name, the removed ones too: the walk on the live kernel.

Offsets come from the kernel's BTF, memory through BPF. The tree is the host's, whatever namespace we are in. Where the
walk stops early, or a list changes faster than it can be read, the result is `partial` and says why.
It changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.kernel.bpf.memory import BpfMemory
from necroscope.sense.kernel.btf import BTF, Btf, read_btf
from necroscope.sense.kernel.files import FileLayout, Files, Mounts
from necroscope.sense.kernel.layout import MemcgLayout
from necroscope.sense.kernel.page_lists import PinLayout
from necroscope.sense.kernel.pins import Pins
from necroscope.sense.kernel.pointers import read_pointers
from necroscope.sense.kernel.walker import Walk, Walker
from necroscope.sense.kernel.zombies import Ticks, Zombie, ticks

__all__ = ["SlicedWalk", "Walk", "Zombie", "walk_memcgs"]


@dataclass(frozen=True, slots=True)
class _Layouts:
    """Where things lie in this kernel. Nothing else of its long description is kept."""

    memcg: MemcgLayout
    pins: PinLayout | None
    files: FileLayout | None
    unseen: tuple[str, ...]
    page_struct_bytes: int


def walk_memcgs(
    host: Host,
    budget_s: float = 2.0,
    on_zombie: Callable[[Zombie], None] | None = None,
    files_of_each: bool = True,
) -> Walk:
    """Walk the live kernel; `on_zombie` gets each zombie, with all files that were seen to pin it unless they are not
    wanted.

    `Unavailable` where kernel memory cannot be read at all: a captured host, missing rights, no BTF.
    """
    host.live_path(BTF)
    layouts = _layouts(host)
    # On a slow machine reading the layouts, which is done once, would use up all the time there is.
    deadline = clock.elapsed_s() + budget_s
    with BpfMemory(host) as memory:
        return _walker(host, memory, layouts, on_zombie, files_of_each).walk(deadline)


class SlicedWalk:
    """A walk that is made a little at a time; between two slices any time may pass. Close it when it is done with.

    `on_zombie` is called as by `walk_memcgs`, without the files. Raises `Unavailable` like that.
    """

    def __init__(self, host: Host, on_zombie: Callable[[Zombie], None], most_s: float) -> None:
        host.live_path(BTF)
        layouts = _layouts(host)
        self._host, self._spent_s, self._began_s = host, 0.0, clock.thread_cpu_s()
        self._memory = BpfMemory(host)
        try:
            self._walker = _walker(host, self._memory, layouts, on_zombie, files_of_each=False)
        except BaseException:
            self.close()
            raise
        self._steps = self._walker.steps(most_s, self._cpu_s)

    def advance(self, slice_s: float) -> Walk | None:
        """Go on for about so much CPU time of this thread; the walk, when it is done. Each slice may be made by
        another thread."""
        self._began_s = clock.thread_cpu_s()
        self._walker.at(_ticks(self._host, self._memory))
        ends_s = self._cpu_s() + slice_s
        try:
            for _ in self._steps:
                if self._cpu_s() > ends_s:
                    return None
            return self._walker.result()
        finally:
            self._spent_s, self._began_s = self._cpu_s(), clock.thread_cpu_s()

    def close(self) -> None:
        """Let go of what reads kernel memory."""
        self._memory.__exit__(None, None, None)

    def _cpu_s(self) -> float:
        return self._spent_s + clock.thread_cpu_s() - self._began_s


def _walker(
    host: Host,
    memory: BpfMemory,
    layouts: _Layouts,
    on_zombie: Callable[[Zombie], None] | None,
    files_of_each: bool,
) -> Walker:
    pointers = read_pointers(host, memory.current_task(), layouts.page_struct_bytes)
    pins = files = None
    if layouts.pins is not None and layouts.files is not None:
        files = Files(memory, layouts.files, pointers, Mounts(host.read_or_none("/proc/self/mountinfo") or b""))
        pins = Pins(memory, layouts.pins, pointers, files, _numa_nodes(host))
    now = _ticks(host, memory)
    walker = Walker(memory, layouts.memcg, pointers, pins, files, now, on_zombie, files_of_each)
    walker.reasons += layouts.unseen
    return walker


def _ticks(host: Host, memory: BpfMemory) -> Ticks | None:
    return ticks(memory.jiffies(), host.clock().monotonic_ns / clock.NS)


@lru_cache(maxsize=1)
def _layouts(host: Host) -> _Layouts:
    """Worked out once: a running kernel does not change, and its description takes longer to read than a walk."""
    btf = read_btf(host)
    memcg = MemcgLayout.of(btf)
    pins, files, unseen = _pin_layouts(btf)
    return _Layouts(memcg, pins, files, tuple(unseen), btf.sizeof("page"))


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
