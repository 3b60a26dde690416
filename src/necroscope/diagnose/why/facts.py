"""Numbers around an incident, by name: rates of counters in the window and in quiet times, and what stood there.

`NAME` is the rate per second in the window, `NAME_before` that of quiet times, `NAME_lift` how many times as much.
What nobody could read is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.diagnose.why.scene import Scene
from necroscope.diagnose.why.suspects import LineUp, Suspect
from necroscope.query.kernel_frames import kernel_functions
from necroscope.query.series import Series, series_of
from necroscope.store.catalog import Window

Facts = dict[str, float]
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
    "perf_lost_records",
)
_GAUGES = ("memcg_*", "processes", "host_cpus", "meminfo_*", "cpu_running_tasks")
_AROUND_NS = 600 * NS
_SMALL = 1e-3
_COMING_AND_GOING = 8.0
_STARTS = 3
# From one memory cgroup to the next: what only a walk over many of them spends time on.
_STEPS = frozenset(
    {
        "mem_cgroup_iter",
        "css_next_descendant_pre",
        "css_next_descendant_post",
        "memcg_stat_show",
        "memcg_numa_stat_show",
        "mem_cgroup_node_nr_lru_pages",
        "mem_cgroup_nr_lru_pages",
        "mem_cgroup_print_oom_meminfo",
        "mem_cgroup_scan_tasks",
        "page_counter_calculate_protection",
    }
)


def gather(scene: Scene, run: Run, quiet: Sequence[Window]) -> tuple[Facts, dict[str, list[Series]]]:
    """Every number that the recording has of a run, and the series they come from."""
    near = max(scene.near[0], run.from_ns - _AROUND_NS), min(scene.near[1], run.to_ns + 60 * NS)
    series = series_of(scene.store.snapshot(near), (*_COUNTERS, *_GAUGES), near, scene.notes)
    facts: Facts = {}
    for name, found in series.items():
        if name.startswith(("memcg_", "host_", "meminfo_", "cpu_running", "processes")):
            _gauge(facts, name, found, run)
        else:
            _counter(facts, name, found, run, quiet)
    for short, name in (
        ("zombies", "memcg_zombies"),
        ("tracked", "memcg_tracked"),
        ("live", "memcg_live"),
        ("directories", "memcg_leaked_directories"),
        ("cores", "host_cpus"),
        ("execs", "cpu_forks"),
        ("oom_kills", "vmstat_oom_kill"),
    ):
        for end in ("", "_before", "_lift"):
            if name + end in facts:
                facts[short + end] = facts[name + end]
    facts |= _empty_directories(facts)
    facts["oom_events"] = float(sum(one.kind == "oom-kill" and _about(one.at_ns, run) for one in scene.told))
    return facts, series


def _empty_directories(facts: Facts) -> Facts:
    """Cgroup directories without a process: those that were found, or as many as there are more than processes. Two
    directories cannot hold the same process, so that the rest is empty, whatever it is called."""
    if "live" not in facts or "processes" not in facts:
        return {}
    return {"directories": max(facts.get("directories", 0.0), facts["live"] - facts["processes"], 0.0)}


def _about(at_ns: int, run: Run) -> bool:
    return run.from_ns - 5 * NS <= at_ns <= run.to_ns + 30 * NS


def _gauge(facts: Facts, name: str, found: Iterable[Series], run: Run) -> None:
    values = [value for one in found if not one.labels and (value := _nearest(one, run)) is not None]
    if values:
        facts[name] = values[0]


def _nearest(series: Series, run: Run) -> float | None:
    """The last look up to the run's end; else the first one after it."""
    value = series.at(run.to_ns)
    return float(series.value[0]) if value is None and series.value.size else value


def _counter(facts: Facts, name: str, found: list[Series], run: Run, quiet: Sequence[Window]) -> None:
    if name == "pressure_stalled_seconds":
        for one in found:
            if one.label("who") == "some":
                _rates(facts, f"pressure_{one.label('resource')}", [one], run, quiet)
        return
    _rates(facts, name, found, run, quiet)
    of_core = [one for one in found if one.label("cpu") == str(run.cpu)]
    if name == "interrupts_softirqs":
        for one in of_core:
            _rates(facts, f"softirq_{one.label('kind').lower()}_core", [one], run, quiet)
    elif of_core:
        _rates(facts, f"{name}_core", of_core, run, quiet)


def _rates(facts: Facts, name: str, found: list[Series], run: Run, quiet: Sequence[Window]) -> None:
    now = [rate for one in found if (rate := one.rate(run.window)) is not None]
    if not now:
        return
    facts[name] = sum(now)
    before = [rate for window in quiet if (rate := _sum(found, window)) is not None]
    if before:
        facts[f"{name}_before"] = sum(before) / len(before)
        facts[f"{name}_lift"] = facts[name] / max(facts[f"{name}_before"], _SMALL)


def _sum(found: list[Series], window: Window) -> float | None:
    rates = [rate for one in found if (rate := one.rate(window)) is not None]
    return sum(rates) if rates else None


def with_suspect(facts: Mapping[str, float], run: Run, suspect: Suspect, lineup: LineUp) -> Facts:
    """The numbers, and those of the core and of whoever was on it."""
    core = {f"core_{mode}": run.share(mode) for mode in ("user", "system", "irq", "softirq", "steal")}
    own = {
        "suspect_share": suspect.share,
        "suspect_seconds": suspect.seconds,
        "kernel_share": suspect.kernel,
        "user_share": 1.0 - suspect.kernel,
        "pids": float(len(suspect.pids)),
        "suspect_starts": len(suspect.pids) / max(run.seconds, 1e-9),
        "samples_missing": max(0.0, 1.0 - lineup.sampled),
        "starved_s": run.seconds,
        "memcg_steps": _share_of(suspect, _STEPS),
    }
    starts = _starts(facts, run, suspect, lineup)
    return {**facts, **core, **own, **starts, **_each_start(starts, run, suspect)}


def _share_of(suspect: Suspect, functions: frozenset[str]) -> float:
    """The share of the suspect's samples with one of these functions of the kernel."""
    total = sum(weight for _, weight in suspect.stacks)
    inside = sum(weight for text, weight in suspect.stacks if functions.intersection(kernel_functions(text)))
    return inside / total if total else 0.0


def _each_start(starts: Mapping[str, float], run: Run, suspect: Suspect) -> Facts:
    """What each start took of the core: little where there are many, much where each one has much to copy."""
    count = max(float(len(suspect.pids)), starts.get("execs", 0.0) * run.seconds)
    return {"seconds_per_start": suspect.seconds / count} if count >= _STARTS else {}


def _starts(facts: Mapping[str, float], run: Run, suspect: Suspect, lineup: LineUp) -> Facts:
    """Starts of processes, as far as they are the suspect's business: the kernel counts those of the whole node.

    Where hardly any process came and went in the suspect's cgroup (without one, on its core), they are others'.
    """
    if "execs" not in facts:
        return {}
    known = suspect.cgroup not in ("", "/")
    near = [one for one in lineup.suspects if not one.context and (not known or one.cgroup == suspect.cgroup)]
    seen = sum(len(one.pids) for one in near) / max(run.seconds, 1e-9)
    return {"execs": facts["execs"] if seen >= _COMING_AND_GOING else min(facts["execs"], seen)}
