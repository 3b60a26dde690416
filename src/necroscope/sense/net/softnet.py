"""/proc/net/softnet_stat: packets each core took from the network, dropped, or left for later.

Hexadecimal columns of 32 bits that wrap: 0 processed, 1 dropped, 2 time_squeeze, 9 received_rps (2.6.35),
10 flow_limit_count (3.11), 11 backlog length and 12 the number of the CPU (5.10). There is a row for each
*online* CPU: before 5.10 the n-th row is the n-th CPU of the online list, which is not CPU n once one is offline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import MAX_CPUS, cpu_list, hexadecimal, whole_lines
from necroscope.vocabulary.model import Reading, Sample, Signal, Unseen

_RPS, _FLOW_LIMIT, _BACKLOG, _CPU = 9, 10, 11, 12


@dataclass(frozen=True, slots=True)
class SoftnetRow:
    """One online CPU; `cpu` is None where the kernel does not say which. Columns it does not have are None."""

    cpu: int | None
    processed: int
    dropped: int
    squeezed: int
    received_rps: int | None = None
    flow_limited: int | None = None
    backlog: int | None = None


class Softnet:
    """What each core did with the packets handed to it."""

    name: ClassVar[str] = "softnet"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("softnet_processed_packets", "packets", "counter", "Packets taken in; wraps at 2^32.", ("cpu",)),
        Signal(
            "softnet_dropped_packets",
            "packets",
            "counter",
            "Packets dropped because the core's backlog was full (net.core.netdev_max_backlog).",
            ("cpu",),
        ),
        Signal(
            "softnet_squeezed_rounds",
            "rounds",
            "counter",
            "Polling rounds that ended with packets left: the budget or the time slice of the core was used up.",
            ("cpu",),
        ),
        Signal("softnet_rps_wakeups", "wakeups", "counter", "Calls from another core to take packets (RPS).", ("cpu",)),
        Signal("softnet_flow_limited_packets", "packets", "counter", "Packets dropped by the flow limit.", ("cpu",)),
        Signal("softnet_backlog_packets", "packets", "gauge", "Packets that wait for the core right now.", ("cpu",)),
    )

    def read(self, host: Host) -> Reading:
        """One look; rows that cannot be tied to a CPU are left out, and said to be."""
        rows = number_rows(parse_softnet(host.read("/proc/net/softnet_stat")), _online(host))
        known = [row for row in rows if row.cpu is not None]
        unseen: tuple[Unseen, ...] = ()
        if len(known) < len(rows):
            reason = "this kernel does not number the rows of softnet_stat, and they do not match the CPUs online"
            unseen = (Unseen(self.name, reason, "kernels since 5.10 number them"),)
        return Reading(samples=tuple(sample for row in known for sample in _samples(row)), unseen=unseen)


def parse_softnet(text: bytes) -> tuple[SoftnetRow, ...]:
    """All rows in their order. The place of a row carries meaning on old kernels, so one broken row spoils all."""
    rows = tuple(_row(line.split()) for line in whole_lines(text))
    if not rows:
        raise Unavailable("/proc/net/softnet_stat is empty")
    return rows


def number_rows(rows: Sequence[SoftnetRow], online: Sequence[int] | None) -> tuple[SoftnetRow, ...]:
    """Rows without a CPU get theirs from the online list, where there are as many rows as CPUs."""
    if online is None or len(online) != len(rows):
        return tuple(rows)
    return tuple(replace(row, cpu=cpu) if row.cpu is None else row for row, cpu in zip(rows, online, strict=True))


def _row(tokens: Sequence[bytes]) -> SoftnetRow:
    values = [hexadecimal(token) for token in tokens]
    processed, dropped, squeezed = (*values, None, None, None)[:3]
    if processed is None or dropped is None or squeezed is None or None in values:
        raise Unavailable("a row of /proc/net/softnet_stat cannot be understood")
    later: list[int | None] = [*values, *[None] * (_CPU + 1)]
    cpu = later[_CPU]
    if cpu is not None and cpu >= MAX_CPUS:
        raise Unavailable(f"a row of /proc/net/softnet_stat names CPU {cpu}")
    return SoftnetRow(cpu, processed, dropped, squeezed, later[_RPS], later[_FLOW_LIMIT], later[_BACKLOG])


def _online(host: Host) -> tuple[int, ...] | None:
    try:
        return cpu_list(host.read("/sys/devices/system/cpu/online"))
    except Unavailable:
        return None


def _samples(row: SoftnetRow) -> Iterator[Sample]:
    values = {
        "softnet_processed_packets": row.processed,
        "softnet_dropped_packets": row.dropped,
        "softnet_squeezed_rounds": row.squeezed,
        "softnet_rps_wakeups": row.received_rps,
        "softnet_flow_limited_packets": row.flow_limited,
        "softnet_backlog_packets": row.backlog,
    }
    yield from (Sample(name, value, (str(row.cpu),)) for name, value in values.items() if value is not None)
