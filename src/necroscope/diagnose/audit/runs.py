"""Whether something runs steadily, crash-loops, or fails: by states and counts. The limits are those of `scan`."""

from __future__ import annotations

from collections.abc import Iterator

from necroscope.config import CrashLoopLimits
from necroscope.diagnose.rules.crash_loop import container_loops, unit_loops
from necroscope.quantity import count, plural, share, span
from necroscope.vocabulary.conclusions.audit import Workload
from necroscope.vocabulary.model import Evidence, UnitState

STEADY_S = 60.0
"""Whoever was up for so long did not just start to fail again."""


def steady(workload: Workload) -> bool:
    """Whether it runs, and has been for a while; of a unit that only does something once, whether that went well."""
    if not workload.active:
        return False
    if workload.unit is not None and workload.unit.sub_state == "exited":
        return workload.unit.result in ("", "success")
    return (workload.since_start_s or 0.0) >= STEADY_S


def ever_succeeded(workload: Workload) -> bool | None:
    """Whether it ever ran for a while or ended well; None: nobody knows."""
    if steady(workload) or (workload.runs.successes or 0) > 0:
        return True
    if workload.unit is not None and workload.unit.ever_succeeded is not None:
        return workload.unit.ever_succeeded
    return False if (workload.runs.failures or 0) > 0 else None


def failures(workload: Workload, limits: CrashLoopLimits) -> list[Evidence]:
    """What shows that it fails; empty: nothing does."""
    return [*_loop(workload, limits), *_failed(workload), *_rate(workload, limits)]


def _loop(workload: Workload, limits: CrashLoopLimits) -> Iterator[Evidence]:
    unit, container = workload.unit, workload.container
    if unit is not None and unit_loops(unit, limits):
        since = f", last {span(unit.since_start_s)} ago" if unit.since_start_s is not None else ""
        text = f"systemd restarted it {count(unit.restarts)} times{since}"
        yield Evidence(text, "systemd NRestarts", unit.restarts, "restarts")
    if container is not None and container_loops(container, limits):
        number = max(container.restarts or 0, container.deaths or 0)
        yield Evidence(f"it was restarted or recreated {count(number)} times", container.engine, number, "restarts")


def _failed(workload: Workload) -> Iterator[Evidence]:
    unit, container = workload.unit, workload.container
    if unit is not None and (unit.active_state == "failed" or _again(unit)):
        status = f", exit status {unit.exit_status}" if unit.exit_status is not None else ""
        text = f"its last run ended with {unit.result or 'failure'}{status}"
        yield Evidence(text, "systemd Result", unit.exit_status)
    if container is not None and container.state in ("exited", "dead", "restarting") and container.exit_status:
        killed = ", killed for memory" if container.oom_killed else ""
        text = f"{container.state} with exit status {container.exit_status}{killed}"
        yield Evidence(text, container.engine, container.exit_status)


def _again(unit: UnitState) -> bool:
    """Whether it failed and waits for its next start."""
    return unit.result not in ("", "success") and unit.sub_state.startswith("auto-restart")


def _rate(workload: Workload, limits: CrashLoopLimits) -> Iterator[Evidence]:
    runs = workload.runs
    rate = runs.success_rate
    if rate is None or (runs.failures or 0) < limits.restarts or rate >= 0.5 or steady(workload):
        return
    over = f" in {span(runs.window_s)}" if runs.window_s else ""
    text = f"{share(rate)} of its ends were successes: {plural(runs.failures or 0, 'failure')}{over}"
    yield Evidence(text, runs.source or "recording", round(rate, 4))
