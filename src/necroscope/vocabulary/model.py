"""The vocabulary: frozen values that every layer speaks, and nothing that reads, stores or prints.

A *signal* is declared once by the sensor that reads it. A sensor's *reading* is made of samples (numbers of
declared signals) and records (things with names: zombies, units, containers, symptoms). Rules turn them into
*findings*.
Units stand in the names: `_ns` nanoseconds, `_s` seconds, `_bytes` bytes; `at_ns` is always UTC.
None means unknown, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["critical", "warning", "info"]
PinKind = Literal["tmpfs", "page-cache", "anon", "kernel"]
MODES = ("user", "system", "irq", "softirq", "steal", "idle")
"""What a core's time is spent on, as it is kept: nice is user, waiting for a disk is idle."""
SubjectKind = Literal["unit", "container", "process", "cgroup", "device", "cpu", "kernel"]


# -- signals ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signal:
    """A number that is read over and over. Names follow `area_what_unit`, labels are names of dimensions."""

    name: str
    unit: str
    kind: Literal["counter", "gauge"]
    help: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a signal; `labels` are the values of the signal's labels, in their order."""

    signal: str
    value: float
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unseen:
    """What could not be seen, why, and what would make it visible."""

    sensor: str
    reason: str
    hint: str = ""


# -- zombies ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pin:
    """What keeps removed cgroups in memory: a class of pages, how much of it, and some of its files."""

    kind: PinKind
    bytes: int
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParentCount:
    """Zombies below one live cgroup, counted at the nearest live ancestor and nowhere else."""

    path: str
    zombies: int


@dataclass(frozen=True, slots=True)
class Family:
    """Zombies whose paths differ only in ids and numbers: `/docker/<id>`.

    Ages are seconds since creation; None where the kernel does not tell. `born_last_hour` is None
    unless the age of nearly every member is known. `repeated` are paths that several zombies bore, with how many
    (something was made anew under the same name, over and over); `newest` are the paths of the youngest members.
    """

    pattern: str
    parent: str
    zombies: int
    examples: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()
    oldest_age_s: float | None = None
    newest_age_s: float | None = None
    born_last_hour: int | None = None
    repeated: tuple[tuple[str, int], ...] = ()
    newest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ZombieName:
    """One zombie, when it was first seen as one. `cgroup_id` is the kernel's; `bytes` is what is charged to it."""

    path: str
    family: str
    cgroup_id: int
    age_s: float | None
    bytes: int
    pinned_by: str = ""


@dataclass(frozen=True, slots=True)
class DirectoryFamily:
    """Live cgroup directories of one pattern that hold no process and no child: left behind, not removed."""

    pattern: str
    directories: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Census:
    """Memory cgroups that the kernel tracks, those that live, and the difference: the zombies.

    `counted_by` names the method of the zombie count. `host_wide` says that the numbers are the host's while
    the reader stands inside a cgroup namespace. `partial` says that names or directories are not complete.
    `measured_born` are the zombies by which the count grew between two looks `measured_s` apart. `hierarchy` is the
    number that the kernel gives the hierarchy with the memory controller (v2: 0), where a file says it.
    """

    mode: Literal["v1", "v2", "hybrid"]
    tracked: int | None
    live: int | None
    zombies: int | None
    counted_by: str
    growth_per_hour: float | None = None
    growth_basis: Literal["since-boot", "measured", "ages", "unknown"] = "unknown"
    measured_born: int | None = None
    measured_s: float | None = None
    leaked_directories: int | None = None
    leaked_families: tuple[DirectoryFamily, ...] = ()
    by_parent: tuple[ParentCount, ...] = ()
    families: tuple[Family, ...] = ()
    pinned_by: tuple[Pin, ...] = ()
    host_wide: bool = False
    partial: bool = False
    source: str = ""
    hierarchy: int | None = None


# -- what crash-loops --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnitState:
    """A systemd unit that failed or restarts; for a recorder also one that started or ended since the look before.

    `ever_succeeded` is what the journal remembers; None: no journal. `started_us` and `ended_us` are CLOCK_MONOTONIC
    microseconds of the main process's last start and end, 0 where there was none (a start forgets the end before it).
    `starts`, `successes` and `failures` are counted from look to look; None: nobody counts.
    """

    name: str
    active_state: str
    sub_state: str
    result: str
    restarts: int
    exit_code: str = ""
    exit_status: int | None = None
    restart_policy: str = ""
    since_start_s: float | None = None
    unit_file_state: str = ""
    preset: str = ""
    wanted_by: tuple[str, ...] = ()
    required_by: tuple[str, ...] = ()
    triggered_by: tuple[str, ...] = ()
    fragment_path: str = ""
    control_group: str = ""
    main_pid: int = 0
    ever_succeeded: bool | None = None
    last_lines: tuple[str, ...] = ()
    started_us: int = 0
    ended_us: int = 0
    starts: int | None = None
    successes: int | None = None
    failures: int | None = None


@dataclass(frozen=True, slots=True)
class ContainerState:
    """A container as its engine tells it. `deaths` counts exits that the engine remembers for this *name*
    within `deaths_window_s`, across recreated containers; `past_ids` are the ids that died under the name."""

    engine: str
    id: str
    name: str
    image: str
    state: str
    restarts: int | None = None
    exit_status: int | None = None
    oom_killed: bool = False
    restart_policy: str = ""
    age_s: float | None = None
    since_start_s: float | None = None
    deaths: int | None = None
    deaths_window_s: float | None = None
    past_ids: tuple[str, ...] = ()
    cgroup: str = ""


@dataclass(frozen=True, slots=True)
class ProcessTurnover:
    """A process name whose pids came and went between two looks `window_s` apart."""

    name: str
    parent: str
    cgroup: str
    pids: tuple[int, ...]
    starts: int
    window_s: float


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """What one process used between two looks. `start_ticks` (clock ticks after boot) and the pid are its identity;
    `run_delay_s` is how long its threads waited for a core; None: the look before did not read it."""

    pid: int
    start_ticks: int
    comm: str
    cgroup: str
    user_s: float
    system_s: float
    run_delay_s: float | None
    rss_bytes: int
    cpu: int


# -- cores ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CoreShares:
    """What one core did, as shares (0 to 1) of the time accounted to it.

    user includes nice and guests; busy is everything but idle and iowait. `accounted_s` far below the time that
    passed means that the core could not even count (its interrupts were off, or the hypervisor kept it).
    """

    cpu: int
    user: float
    system: float
    irq: float
    softirq: float
    steal: float
    idle: float
    busy: float
    accounted_s: float


# -- symptoms ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Symptom:
    """A complaint in the kernel's log: header line, what it names, the stack below it, and its repeats.

    `at_ns` is the last occurrence, give or take `uncertainty_ns`; `first_at_ns` the first of `repeats`.
    """

    kind: str
    at_ns: int
    uncertainty_ns: int
    text: str
    first_at_ns: int
    repeats: int = 1
    driver: str = ""
    device: str = ""
    queue: int | None = None
    cpu: int | None = None
    task: str = ""
    pid: int | None = None
    function: str = ""
    stack: tuple[str, ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    source: str = "kmsg"


# -- a node, and what a sensor brings back from it -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class HostIdentity:
    """Which node this is."""

    name: str
    kernel: str
    boot_id: str
    cpus: int | None
    uptime_s: float | None = None


@dataclass(frozen=True, slots=True)
class NicState:
    """A network device: driver, link, and the driver's own statistics as the driver names them."""

    name: str
    driver: str
    driver_version: str = ""
    operstate: str = ""
    statistics: tuple[tuple[str, int], ...] = ()


Record = (
    Census | ZombieName | UnitState | ContainerState | ProcessTurnover | ProcessUse | Symptom | HostIdentity | NicState
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one sensor saw in one look. `unseen` are parts it could not see while the rest is good."""

    samples: tuple[Sample, ...] = ()
    records: tuple[Record, ...] = ()
    unseen: tuple[Unseen, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What looking cost: wall and CPU seconds (kernel seconds being part of them), peak memory."""

    wall_s: float
    cpu_s: float
    kernel_s: float
    rss_bytes: int


# -- conclusions ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subject:
    """What an operator would act on."""

    kind: SubjectKind
    name: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One number or fact that carries a claim, and where it was read."""

    text: str
    source: str
    value: float | int | str | None = None
    unit: str = ""
    window: tuple[int, int] | None = None
    """From and to, UTC nanoseconds, of the time that it is about; None: of no time in particular."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a node, with its evidence and what can be done about it."""

    id: str
    severity: Severity
    title: str
    subject: Subject
    evidence: tuple[Evidence, ...] = ()
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that could not be asked, and the facts it missed."""

    rule: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings, the worst first, and the rules that could not be asked."""

    findings: tuple[Finding, ...] = field(default=())
    skipped: tuple[Skipped, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ScanReport:
    """One scan: which node, what was counted, what is wrong, what could not be seen, and what looking cost."""

    host: HostIdentity
    at_ns: int
    window_s: float
    census: Census | None
    diagnosis: Diagnosis
    unseen: tuple[Unseen, ...]
    cost: Cost
    captured: bool = False

    @property
    def blind(self) -> tuple[str, ...]:
        """What could not be seen without which nobody can call a node healthy. A captured host may come without log."""
        uncounted = self.census is None or self.census.zombies is None
        unread = not self.captured and any(one.rule == "kernel-log" for one in self.diagnosis.skipped)
        return (
            *(["zombies could not be counted"] if uncounted else []),
            *(["the kernel log could not be read"] if unread else []),
        )

    @property
    def inconclusive(self) -> bool:
        """True when nothing was found wrong by somebody who was blind."""
        return not self.sick and bool(self.blind)

    @property
    def sick(self) -> bool:
        """True when something is wrong; what is only worth mentioning does not make a node sick."""
        return any(finding.severity != "info" for finding in self.diagnosis.findings)
