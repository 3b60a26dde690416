"""Numbers around a starved core, by name: rates of counters in the run and in quiet times, and what stood there.

`NAME` is the rate per second in the run, `NAME_before` that of quiet times, `NAME_lift` how many times as much,
`NAME_core` that of the core itself. What nobody could read is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from necroscope.query.series import Series
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.event import Window

Numbers = dict[str, float]
_COUNTERS = (
    "vmstat_*",
    "softnet_*",
    "cpu_forks",
    "cpu_context_switches",
    "pressure_stalled_seconds",
    "throttle_*",
    "nic_*",
    "interrupts_softirqs",
    "interrupts_served_by_cpu",
    "cpu_run_delay_seconds",
    "cpu_thermal_throttles",
    "cpu_package_thermal_throttles",
    "perf_lost_records",
)
_GAUGES = ("memcg_*", "processes", "host_cpus", "meminfo_*", "cpu_running_tasks")
KERNEL = "host_kernel"
"""Its label is the release of the kernel."""
_OF_CORE = ("cpu_frequency_hertz", "cpu_frequency_max_hertz", "cpu_sibling")
SIGNALS = (*_COUNTERS, *_GAUGES, *_OF_CORE, KERNEL)
"""The signals that numbers are made of."""

_STOOD = ("memcg_", "host_", "meminfo_", "cpu_running", "processes")
_SHORT = (
    ("zombies", "memcg_zombies"),
    ("tracked", "memcg_tracked"),
    ("live", "memcg_live"),
    ("directories", "memcg_leaked_directories"),
    ("cores", "host_cpus"),
    ("execs", "cpu_forks"),
    ("oom_kills", "vmstat_oom_kill"),
)
_SMALL = 1e-3


def numbers_of(signals: Mapping[str, list[Series]], run: Run, quiet: Sequence[Window]) -> Numbers:
    """Every number of a run that comes from signals."""
    found: Numbers = {}
    for name, series in signals.items():
        if name in _OF_CORE or name == KERNEL:
            continue
        if name.startswith(_STOOD):
            _gauge(found, name, series, run)
        else:
            _counter(found, name, series, run, quiet)
    for short, name in _SHORT:
        for end in ("", "_before", "_lift"):
            if name + end in found:
                found[short + end] = found[name + end]
    return found | _empty_directories(found)


def of_core(series: Iterable[Series], cpu: int) -> list[Series]:
    """Those of one core."""
    return [one for one in series if one.label("cpu") == str(cpu)]


def _empty_directories(found: Numbers) -> Numbers:
    """Cgroup directories without a process: those that were found, or as many as there are more than processes. Two
    directories cannot hold the same process, so that the rest is empty, whatever it is called."""
    if "live" not in found or "processes" not in found:
        return {}
    return {"directories": max(found.get("directories", 0.0), found["live"] - found["processes"], 0.0)}


def _gauge(found: Numbers, name: str, series: Iterable[Series], run: Run) -> None:
    values = [value for one in series if not one.labels and (value := _nearest(one, run)) is not None]
    if values:
        found[name] = values[0]


def _nearest(series: Series, run: Run) -> float | None:
    """The last look up to the run's end; else the first one after it."""
    value = series.at(run.to_ns)
    return float(series.value[0]) if value is None and series.value.size else value


def _counter(found: Numbers, name: str, series: list[Series], run: Run, quiet: Sequence[Window]) -> None:
    if name == "pressure_stalled_seconds":
        for one in series:
            if one.label("who") == "some":
                _rates(found, f"pressure_{one.label('resource')}", [one], run, quiet)
        return
    _rates(found, name, series, run, quiet)
    own = of_core(series, run.cpu)
    if name == "interrupts_softirqs":
        for one in own:
            _rates(found, f"softirq_{one.label('kind').lower()}_core", [one], run, quiet)
    elif own:
        _rates(found, f"{name}_core", own, run, quiet)


def _rates(found: Numbers, name: str, series: list[Series], run: Run, quiet: Sequence[Window]) -> None:
    now = _sum(series, run.window)
    if now is None:
        return
    found[name] = now
    before = [rate for window in quiet if (rate := _sum(series, window)) is not None]
    if before:
        found[f"{name}_before"] = sum(before) / len(before)
        found[f"{name}_lift"] = now / max(found[f"{name}_before"], _SMALL)


def _sum(series: list[Series], window: Window) -> float | None:
    rates = [rate for one in series if (rate := one.rate(window)) is not None]
    return sum(rates) if rates else None
