"""Every metric there is. Those that are made of signals take name, kind and meaning from the signal."""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.record.budget.own_cost import OwnCost
from necroscope.record.budget.shedding import MEMORY, SHED
from necroscope.sense.cgroups.census_sensor import Memcg
from necroscope.sense.cgroups.throttle import Throttle
from necroscope.sense.cpu.pressure import Pressure
from necroscope.sense.cpu.run_delay import RunDelay
from necroscope.sense.memory.vmstat import Vmstat
from necroscope.sense.net.nic import Nic
from necroscope.sense.net.tcp import Tcp
from necroscope.sense.sampler import SEEN
from necroscope.show.metrics.metric import Metric, counted, from_signal, measured
from necroscope.vocabulary.model import Signal

MOST_SERIES = 300
"""What a node may tell at most."""
SENSORS = (Memcg, RunDelay, Pressure, Vmstat, Throttle, Nic, Tcp)
_KNOWN: dict[str, Signal] = {signal.name: signal for sensor in (*SENSORS, OwnCost) for signal in sensor.signals} | {
    one.name: one for one in (SEEN, SHED, MEMORY)
}

# As they are, summed over labels that are left out.
SUMMED = (
    from_signal(_KNOWN["memcg_tracked"]),
    from_signal(_KNOWN["memcg_live"]),
    from_signal(_KNOWN["memcg_zombies"]),
    from_signal(_KNOWN["memcg_leaked_directories"]),
    from_signal(_KNOWN["cpu_run_delay_seconds"], ()),
    from_signal(_KNOWN["vmstat_pgscan_kswapd"]),
    from_signal(_KNOWN["vmstat_pgscan_direct"]),
    from_signal(_KNOWN["vmstat_pgsteal_kswapd"]),
    from_signal(_KNOWN["vmstat_pgsteal_direct"]),
    from_signal(_KNOWN["vmstat_pageoutrun"]),
    from_signal(_KNOWN["vmstat_allocstall"], ()),
    from_signal(_KNOWN["vmstat_pgmajfault"]),
    from_signal(_KNOWN["vmstat_oom_kill"]),
    from_signal(_KNOWN["pressure_stalled_seconds"], most=6),
    from_signal(_KNOWN["nic_tx_timeouts"], ("device",), most=8),
    from_signal(_KNOWN["tcp_retransmitted_segments"]),
    from_signal(_KNOWN["tcp_timeouts"]),
    from_signal(_KNOWN["tcp_aborts"], ()),
    from_signal(SEEN, most=25),
    from_signal(_KNOWN["recorder_cpu_seconds"], most=6),
    from_signal(_KNOWN["recorder_rss_bytes"], most=6),
    from_signal(MEMORY),
    from_signal(SHED, most=4),
)

ZOMBIES_BY_OWNER = measured(
    "zombies_by_owner", "Zombie memory cgroups by the unit, or else the pattern, that their paths name.", ("owner",), 20
)
ZOMBIES_BORN = counted(
    "zombies_born",
    "Zombie memory cgroups that came since the recorder began, by owner as above; releases are not taken off.",
    ("owner",),
    12,
)
SATURATED_S = counted(
    "core_saturated_seconds",
    "Seconds in which a core had next to no idle time, in runs of at least two; mode is what most of it was.",
    ("cpu", "mode"),
    12,
)
SATURATED = measured("cores_saturated", "Cores with next to no idle time, for at least two seconds now.")
SATURATED_RUN = measured("core_saturated_run_seconds", "The longest time without idle of any core, in the last minute.")
THROTTLED_S = counted(
    "throttled_seconds",
    "Time that CPU quotas stopped cgroups, by pod where an orchestrator's names are known, else by cgroup.",
    ("namespace", "pod", "cgroup"),
    15,
)
UNIT_RESTARTS = counted("unit_restarts", "Automatic restarts of a unit.", ("unit",), 20)
UNIT_SUCCESS = measured(
    "unit_success_ratio",
    "Runs of a unit that ended well, of all that ended since the recorder began; units that failed or restarted.",
    ("unit",),
    20,
)
CONTAINER_RESTARTS = counted("container_restarts", "Restarts of a container.", ("container",), 20)
SYMPTOMS = counted("symptoms", "Complaints of the kernel's log, of jobs and of marks, by kind.", ("kind",), 12)
NIC_RESETS = counted(
    "nic_resets", "Resets of network devices, by the reason that the driver gives.", ("device", "reason"), 12
)
JOBS = counted("jobs", "Jobs that ended, by how.", ("result",), 4)
VERDICTS = counted(
    "verdicts",
    "Verdicts of the recorder, by whether the symptom was explained, the kind of cause, and whom to act on.",
    ("verdict", "cause", "subject"),
    12,
)
VERDICT_AT = measured(
    "verdict_timestamp_seconds",
    "When a verdict was made last that says this, in UTC seconds; the latest of them.",
    ("verdict", "cause", "subject"),
    8,
)
VERDICT_DELAY = measured("verdict_delay_seconds", "Time from the latest explained symptom to its verdict.")
VERDICT_CPU = counted("verdict_cpu_seconds", "CPU time that verdicts took.")
VERDICTS_SKIPPED = counted("verdicts_skipped", "Symptoms that were not asked about, by why.", ("reason",), 4)
SINKS = counted("sink_deliveries", "Verdicts handed to a sink, by how that went.", ("sink", "result"), 12)
GAPS = counted("gaps", "Gaps in the recording, by what is missing.", ("subject",), 5)
GAP_S = counted("gap_seconds", "Time that is missing in the recording, by what is missing.", ("subject",), 5)
SAMPLES = counted("samples", "Samples of stacks that were recorded.")
LOST = counted("lost_samples", "Samples and records of perf that were lost.")
TROUBLES = measured("troubles", "What keeps the recorder from seeing or keeping something, at this moment.")
STORE_BYTES = measured("store_bytes", "What the recording takes on the disk.")
STORE_HOLDS = measured("store_holds_seconds", "For how long back the store holds everything, at the present rate.")
STARTED = measured("start_time_seconds", "When this recorder began, in UTC seconds.")
BUILD = measured("build_info", "1, with the version of the program.", ("version",))

OWN = (
    *(ZOMBIES_BY_OWNER, ZOMBIES_BORN, SATURATED_S, SATURATED, SATURATED_RUN, THROTTLED_S),
    *(UNIT_RESTARTS, UNIT_SUCCESS, CONTAINER_RESTARTS, SYMPTOMS, NIC_RESETS, JOBS),
    *(VERDICTS, VERDICT_AT, VERDICT_DELAY, VERDICT_CPU, VERDICTS_SKIPPED, SINKS, GAPS, GAP_S),
    *(SAMPLES, LOST, TROUBLES, STORE_BYTES, STORE_HOLDS, STARTED, BUILD),
)
METRICS: tuple[Metric, ...] = (*SUMMED, *OWN)
NODE = "necroscope_node_info"
"""1, with the node's own labels: its labels are settings, so it is declared when they are known."""


def node_info(labels: Iterable[str]) -> Metric:
    """The metric that carries the settings' labels."""
    return Metric(NODE, "gauge", "1, with the labels that the settings give this node.", tuple(labels))
