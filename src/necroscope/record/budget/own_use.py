"""What this process and everything it runs use together, for the budget: CPU time, memory, descriptors.

Children are found by the kernel's own list, so that nobody who starts one need report it. CPU time is read at every
look; memory (its proportional set size, and the rings of perf, which it does not count) and descriptors once in
`DEAR_S`.

Sources: /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN), /proc/PID/stat, /proc/PID/smaps_rollup, /proc/PID/maps,
/proc/PID/fd.
"""

from __future__ import annotations

import os
import re

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.record.budget.governor import Use
from necroscope.sense.host import Host
from necroscope.sense.numbers import count

DEAR_S = 60.0
MOST_CHILDREN = 64

_HZ = os.sysconf("SC_CLK_TCK")
_PSS = re.compile(rb"^Pss:\s+(\d+) kB$", re.MULTILINE)
_RINGS = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) .*perf_event\]?$", re.MULTILINE)
# user, system, and both of children that ended: columns behind the name
_TIMES = (11, 12, 13, 14)


class OwnUse:
    """Reads what is used so far; children that ended count on."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._dear_s = 0.0

    def read(self) -> Use:
        """One look."""
        pids = self.tree()
        cpu_s = sum(map(self._cpu_s, pids))
        now_s = clock.elapsed_s()
        if now_s < self._dear_s:
            return Use(now_s, cpu_s)
        self._dear_s = now_s + DEAR_S
        return Use(now_s, cpu_s, sum(map(self._memory, pids)), sum(map(self._descriptors, pids)))

    def tree(self) -> list[int]:
        """This process and all below it, as far as they can be seen."""
        found, waiting = list[int](), [os.getpid()]
        while waiting and len(found) < MOST_CHILDREN:
            pid = waiting.pop()
            found.append(pid)
            for thread in self._entries(f"/proc/{pid}/task"):
                words = (self._host.short(f"/proc/{pid}/task/{thread}/children") or b"").split()
                waiting += [number for word in words if (number := count(word)) is not None]
        return found

    def _cpu_s(self, pid: int) -> float:
        text = self._host.short(f"/proc/{pid}/stat", 4096) or b""
        fields = text[text.rfind(b") ") + 2 :].split()
        ticks = [count(fields[place]) for place in _TIMES if place < len(fields)]
        return sum(one for one in ticks if one is not None) / _HZ

    def _memory(self, pid: int) -> int:
        pss = _PSS.search(self._host.read_or_none(f"/proc/{pid}/smaps_rollup", 1 << 16) or b"")
        rings = _RINGS.findall(self._host.read_or_none(f"/proc/{pid}/maps") or b"")
        return (int(pss[1]) << 10 if pss else 0) + sum(int(high, 16) - int(low, 16) for low, high in rings)

    def _descriptors(self, pid: int) -> int:
        return len(self._entries(f"/proc/{pid}/fd"))

    def _entries(self, path: str) -> list[str]:
        try:
            return self._host.entries(path)
        except Unavailable:
            return []
