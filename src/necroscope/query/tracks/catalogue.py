"""Which tracks there are, from which signals each is made, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal["sum", "most", "mean"]
"""How the series of a signal become one line: their sum, the highest, or the mean."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a track: signals, of which labels, and how they are put together. `rate`: per second."""

    name: str
    signals: tuple[str, ...]
    rate: bool = True
    how: How = "sum"
    labels: tuple[tuple[str, str], ...] = ()
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Track:
    """A picture of its own on the common axis. `unit` is that of all of its lines."""

    id: str
    title: str
    unit: str
    lines: tuple[Line, ...]
    help: str = ""


def _pressure(resource: str) -> Line:
    chosen = (("resource", resource), ("who", "some"))
    return Line(resource, ("pressure_stalled_seconds",), labels=chosen, scale=100.0)


TRACKS: tuple[Track, ...] = (
    Track(
        "zombies",
        "Zombie cgroups",
        "cgroups",
        (Line("zombies", ("memcg_zombies",), rate=False),),
        "Memory cgroups that were removed and that the kernel keeps.",
    ),
    Track(
        "restarts",
        "Restarts",
        "a minute",
        (
            Line("units", ("systemd_unit_restarts",), scale=60.0),
            Line("containers", ("container_restarts",), scale=60.0),
        ),
        "Automatic restarts of units and containers.",
    ),
    Track(
        "run-delay",
        "Waiting for a core",
        "s per s",
        (Line("all cores", ("cpu_run_delay_seconds",)), Line("worst core", ("cpu_run_delay_seconds",), how="most")),
        "Time that tasks which could have run waited; two that wait one second make two seconds.",
    ),
    Track(
        "pressure",
        "Pressure (PSI)",
        "% of time",
        (_pressure("cpu"), _pressure("memory"), _pressure("io")),
        "Share of the time in which some task waited for the resource.",
    ),
    Track(
        "throttling",
        "Stopped by CPU quota",
        "s per s",
        (
            Line("all cgroups", ("throttle_throttled_seconds",)),
            Line("worst cgroup", ("throttle_throttled_seconds",), how="most"),
        ),
        "Time that run queues of cgroups were stopped, summed over cores.",
    ),
    Track(
        "faults",
        "Page faults",
        "a second",
        (Line("all", ("vmstat_pgfault",)), Line("major", ("vmstat_pgmajfault",))),
        "Major ones had to wait for a disk.",
    ),
    Track(
        "reclaim",
        "Reclaim",
        "pages a second",
        (Line("direct", ("vmstat_pgscan_direct",)), Line("background", ("vmstat_pgscan_kswapd",))),
        "Pages that reclaim looked at: by tasks themselves, and in the background.",
    ),
    Track(
        "nic",
        "NIC losses",
        "a second",
        (
            Line("received, lost", ("nic_rx_dropped", "nic_rx_missed_errors", "nic_rx_fifo_errors")),
            Line("sent, lost", ("nic_tx_dropped",)),
            Line("send timeouts", ("nic_tx_timeouts",)),
        ),
        "Packets that were dropped, and send queues that stood still.",
    ),
    Track(
        "traffic",
        "NIC traffic",
        "MB per s",
        (Line("received", ("nic_rx_bytes",), scale=1e-6), Line("sent", ("nic_tx_bytes",), scale=1e-6)),
        "Bytes of all devices together.",
    ),
    Track(
        "gpu",
        "GPU busy",
        "%",
        (
            Line("mean", ("gpu_utilization_percent",), rate=False, how="mean"),
            Line("busiest", ("gpu_utilization_percent",), rate=False, how="most"),
        ),
        "Share of the time in which a kernel ran on the GPU.",
    ),
)
BY_ID = {track.id: track for track in TRACKS}
SIGNALS = tuple(sorted({signal for track in TRACKS for line in track.lines for signal in line.signals}))
