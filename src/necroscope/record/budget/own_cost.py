"""What recording costs the node: CPU and memory of the recorder, of perf, and of what looks for names."""

from __future__ import annotations

import os
from typing import ClassVar

from necroscope import clock
from necroscope.sense.host import Host
from necroscope.vocabulary.model import Sample, Signal

_HZ = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class OwnCost:
    """Reads itself and its children; `last` is the share of one core since the look before, and the memory held now."""

    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("recorder_cpu_seconds", "seconds", "counter", "CPU time that a part of the recorder used.", ("part",)),
        Signal("recorder_rss_bytes", "bytes", "gauge", "Memory that a part of the recorder holds.", ("part",)),
    )

    def __init__(self, host: Host) -> None:
        self._host = host
        self._before: tuple[float, float] | None = None
        self.last = (0.0, 0)

    def read(self, others: dict[str, int]) -> list[Sample]:
        """One look at all parts: this process, and the others by name."""
        parts = {"recorder": os.getpid(), **others}
        seen = {name: found for name, pid in parts.items() if (found := self._of(pid)) is not None}
        self._remember(sum(cpu_s for cpu_s, _ in seen.values()), sum(rss for _, rss in seen.values()))
        cpu = [Sample("recorder_cpu_seconds", cpu_s, (name,)) for name, (cpu_s, _) in seen.items()]
        return cpu + [Sample("recorder_rss_bytes", rss, (name,)) for name, (_, rss) in seen.items()]

    def _of(self, pid: int) -> tuple[float, int] | None:
        stat = self._host.read_or_none(f"/proc/{pid}/stat", 4096)
        fields = stat.rpartition(b")")[2].split() if stat else []
        if len(fields) < 22 or not all(fields[index].isdigit() for index in (11, 12, 21)):
            return None
        return (int(fields[11]) + int(fields[12])) / _HZ, int(fields[21]) * _PAGE

    def _remember(self, cpu_s: float, rss_bytes: int) -> None:
        now = clock.elapsed_s()
        if self._before is not None and now > self._before[0]:
            self.last = (max(0.0, cpu_s - self._before[1]) / (now - self._before[0]), rss_bytes)
        self._before = (now, cpu_s)
