"""Every setting, by section. Each has a default that is right for most nodes.

# /etc/necroscope/necroscope.toml
[zombies]
warning = 1000
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from necroscope.config.setting import setting


@dataclass(frozen=True, slots=True)
class ZombieLimits:
    """When zombies are worth waking somebody: how many there are, or how fast they come."""

    warning: int = setting(1_000, "count", "zombie memory cgroups that make a warning, whoever owns them")
    critical: int = setting(10_000, "count", "zombie memory cgroups that make a critical finding")
    growth_per_hour: int = setting(
        60, "count", "new zombies an hour, measured between two looks, that make a warning before there are many"
    )
    growing_from: int = setting(100, "count", "zombies there must be before growth counts: a busy node always has some")
    leaked_directories: int = setting(500, "count", "cgroup directories without a process that make a warning")


@dataclass(frozen=True, slots=True)
class CrashLoopLimits:
    """How often something must have restarted to be called a crash loop, and how young it then always is."""

    restarts: int = setting(5, "count", "restarts (or deaths under one name) that make a crash loop")
    young_s: float = setting(300.0, "span", "time of steady running after which past restarts are only mentioned")


@dataclass(frozen=True, slots=True)
class CpuLimits:
    """When one core counts as saturated in a look, and a quota as biting."""

    busy: float = setting(
        0.97, "number", "share of a look in which a core must be busy to count as saturated", most=1.0
    )
    throttled_periods: float = setting(
        0.25, "number", "share of quota periods in which a cgroup must be stopped to be mentioned", most=1.0
    )


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the recording is, and how much of it is kept: whichever limit is reached first."""

    path: str = setting(
        "", "text", "folder of the recording", otherwise="`/var/lib/necroscope` for root, else the XDG state folder"
    )
    max_bytes: int | None = setting(
        None, "size", "what the store may take", least=64 << 20, otherwise="`share` of the filesystem, at most 20 GiB"
    )
    share: float = setting(0.10, "number", "share of the filesystem, where `max_bytes` is not set", most=0.9)
    max_age_s: float = setting(7 * 86_400.0, "span", "rows older than this go", least=600)
    min_free_bytes: int = setting(
        512 << 20, "size", "the store shrinks while its filesystem has less left than this, down to 64 MiB"
    )


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """What is recorded."""

    perf: bool = setting(True, "flag", "sample stacks with perf; without it, only sensors are read")
    frequency_hz: int = setting(97, "count", "samples a second of each busy core", least=1, most=997)
    skip: tuple[str, ...] = setting((), "texts", "sensors that are not read, by their names in signals.md")


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """What the recorder and everything it runs may take together; beyond it, it sheds what is missed least."""

    cpu: float | None = setting(
        None, "number", "share of one core", least=0.005, otherwise="0.04, or 0.002 of all cores where that is more"
    )
    memory_bytes: int | None = setting(
        None, "size", "memory", least=64_000_000, otherwise="250 MB, and 2 MB for each core beyond 16"
    )
    descriptors: int | None = setting(None, "count", "open descriptors", least=64, otherwise="256, and 8 for each core")


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Lines that `record` writes where no terminal is."""

    format: str = setting("text", "text", "`text`, or `json`: one document a line", choices=("text", "json"))
    level: str = setting(
        "info",
        "text",
        "the least that is written: `debug` adds the status once a minute",
        choices=("debug", "info", "warning", "error"),
    )


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """What Prometheus scrapes."""

    listen: str = setting(
        "", "text", "address and port of `/metrics`, as `127.0.0.1:9477`", otherwise="nothing listens"
    )


@dataclass(frozen=True, slots=True)
class ExplainSettings:
    """Verdicts that the recorder makes by itself."""

    enabled: bool = setting(True, "flag", "ask for the cause of each symptom as soon as its data are there")
    unreported: bool = setting(True, "flag", "ask about starvation that nobody reported too")
    cpu_s: float = setting(10.0, "span", "CPU time that one verdict may take", least=1, most=120)
    memory_bytes: int = setting(300_000_000, "size", "memory that one verdict may take", least=100_000_000)
    share: float = setting(
        0.005, "number", "share of one core that all verdicts may take, averaged over an hour", most=1.0
    )
    again_s: float = setting(30.0, "span", "a symptom is asked about once more this long after the first verdict")


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """Somewhere that verdicts are handed to: an address or a command."""

    kind: str = setting(
        "json", "text", "`json`, `alertmanager` or `command`", choices=("json", "alertmanager", "command")
    )
    url: str = setting("", "text", "where `json` and `alertmanager` POST to")
    command: tuple[str, ...] = setting(
        (), "texts", "program and arguments of `command`; the verdict is JSON on its standard input"
    )
    timeout_s: float = setting(5.0, "span", "an attempt that takes longer has failed", least=0.1, most=60)
    profile: str = setting(
        "",
        "text",
        "with `command`: also a file with the profile around the symptom, `otlp` or `pprof`",
        choices=("", "otlp", "pprof"),
    )
    name: str = setting("", "text", "what logs and metrics call it", otherwise="its kind and number")


@dataclass(frozen=True, slots=True)
class JobSettings:
    """Logs of jobs that are followed."""

    follow: tuple[str, ...] = setting(
        (), "texts", "files, as shell patterns: `/tmp/ray/session_latest/logs/*`; at most 256 files are followed"
    )
    stalled_s: float = setting(
        60.0,
        "span",
        "a GPU at 0 % with its memory held, or a `job-progress` mark that does not come, for this long",
        least=10,
    )


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set, by section. `labels` are the node's own, for metrics and verdicts; `sinks` is a list
    of tables."""

    zombies: ZombieLimits = field(default_factory=ZombieLimits)
    crash_loop: CrashLoopLimits = field(default_factory=CrashLoopLimits)
    cpu: CpuLimits = field(default_factory=CpuLimits)
    store: StoreSettings = field(default_factory=StoreSettings)
    record: RecordSettings = field(default_factory=RecordSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    log: LogSettings = field(default_factory=LogSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    explain: ExplainSettings = field(default_factory=ExplainSettings)
    jobs: JobSettings = field(default_factory=JobSettings)
    labels: Mapping[str, str] = field(default_factory=dict)
    sinks: tuple[SinkSettings, ...] = ()
