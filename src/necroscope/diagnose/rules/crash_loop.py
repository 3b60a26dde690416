"""Units, containers and processes that start over and over."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from necroscope.config import CrashLoopLimits
from necroscope.diagnose.fact import Containers, Turnovers, Units
from necroscope.diagnose.leak.remedies import ENGINES, fixing, stopping
from necroscope.quantity import count, span
from necroscope.vocabulary.model import ContainerState, Evidence, Finding, ProcessTurnover, Severity, Subject, UnitState

# A name must come and go this often between two looks before it is called a loop.
_MIN_STARTS = 3


def unit_loops(unit: UnitState, limits: CrashLoopLimits) -> bool:
    """Whether a unit was restarted again and again, and does not run steadily since."""
    steady = unit.active_state == "active" and (unit.since_start_s or 0.0) > limits.young_s
    return unit.restarts >= limits.restarts and not steady


def container_loops(container: ContainerState, limits: CrashLoopLimits) -> bool:
    """Whether a container was restarted, or made anew, again and again, and does not run steadily since."""
    steady = container.state == "running" and (container.since_start_s or 0.0) > limits.young_s
    return _times(container) >= limits.restarts and not steady


def _times(container: ContainerState) -> int:
    return max(container.restarts or 0, container.deaths or 0)


def crash_looping_units(units: Units, limits: CrashLoopLimits) -> Iterator[Finding]:
    """Finds systemd units that were restarted again and again; those that run steadily since are only mentioned."""
    for unit in units.items:
        if unit.restarts >= limits.restarts:
            steady = not unit_loops(unit, limits)
            yield _unit(unit, "info" if steady else "warning", steady)


def crash_looping_containers(containers: Containers, limits: CrashLoopLimits) -> Iterator[Finding]:
    """Finds containers that are restarted, or removed and recreated, so that they are always seconds old."""
    for container in containers.items:
        if _times(container) >= limits.restarts:
            steady = not container_loops(container, limits)
            yield _container(container, "info" if steady else "warning", steady)


def crash_looping_processes(turnovers: Turnovers) -> Iterator[Finding]:
    """Mentions process names whose pid keeps changing: a loop for certain, but many a script does just that."""
    for turnover in turnovers.items:
        if turnover.starts >= _MIN_STARTS:
            yield _process(turnover, "info")


def _unit(unit: UnitState, severity: Severity, steady: bool) -> Finding:
    since = f", {'steady for' if steady else 'last started'} {span(unit.since_start_s)}" if unit.since_start_s else ""
    ago = "" if steady or not since else " ago"
    title = f"unit {unit.name} was restarted {count(unit.restarts)} times{since}{ago}"
    return Finding(
        "crash-loop", severity, title, Subject("unit", unit.name), tuple(_unit_evidence(unit)), _unit_remedies(unit)
    )


def _unit_evidence(unit: UnitState) -> Iterator[Evidence]:
    yield Evidence(
        f"{count(unit.restarts)} restarts since it was last stopped", "systemd NRestarts", unit.restarts, "restarts"
    )
    ended = unit.result + (f", status {unit.exit_status}" if unit.exit_status is not None else "")
    state = f"{unit.active_state} ({unit.sub_state})"
    yield Evidence(f"last result: {ended}; now {state}", "systemd Result", unit.exit_status)
    if unit.ever_succeeded is not None:
        text = "it has succeeded before" if unit.ever_succeeded else "the journal has no success of it"
        yield Evidence(text, "journal", str(unit.ever_succeeded).lower())
    wanted = ", ".join((*unit.wanted_by, *unit.required_by, *unit.triggered_by))
    by = f", wanted by {wanted}" if wanted else ""
    preset = f" (preset: {unit.preset})" if unit.preset else ""
    yield Evidence(f"unit file {unit.unit_file_state or 'unknown'}{preset}{by}", unit.fragment_path or "systemd")
    for line in unit.last_lines[-3:]:
        yield Evidence(f"log: {line}", "journal")


def _unit_remedies(unit: UnitState) -> tuple[str, ...]:
    command = fixing(stopping(unit.unit_file_state, unit.triggered_by), unit.name)
    return (
        f"read why it exits: journalctl -n 50 -u {shlex.quote(unit.name)}",
        f"if this node does not need it: {command} (can be undone)",
    )


def _container(container: ContainerState, severity: Severity, steady: bool) -> Finding:
    recreated = not container.restarts and bool(container.deaths)
    times = container.deaths if recreated else container.restarts
    how = "died and was recreated" if recreated and container.past_ids else "restarted"
    old = f", now {span(container.since_start_s)} old" if container.since_start_s is not None and not steady else ""
    title = f"container {container.name} {how} {count(times or 0)} times{old}"
    subject = Subject("container", container.name or container.id[:12])
    return Finding(
        "crash-loop", severity, title, subject, tuple(_container_evidence(container)), (_container_remedy(container),)
    )


def _container_evidence(container: ContainerState) -> Iterator[Evidence]:
    if container.restarts is not None:
        yield Evidence(f"restart count {count(container.restarts)}", container.engine, container.restarts, "restarts")
    if container.deaths:
        window = f" in the last {span(container.deaths_window_s)}" if container.deaths_window_s else ""
        yield Evidence(
            f"{count(container.deaths)} exits under this name{window}", f"{container.engine} events", container.deaths
        )
    killed = ", killed for memory" if container.oom_killed else ""
    yield Evidence(
        f"{container.state}, last exit status {container.exit_status}{killed}", container.engine, container.exit_status
    )
    if container.age_s is not None:
        yield Evidence(
            f"created {span(container.age_s)} ago, image {container.image}",
            container.engine,
            round(container.age_s, 1),
            "s",
        )


def _container_remedy(container: ContainerState) -> str:
    policy = container.restart_policy or "none"
    command = f": {fixing('stop-container', container.name)}" if container.engine in ENGINES and container.name else ""
    return f"read the log of container {container.id[:12]}, then stop it (restart policy: {policy}){command}"


def _process(turnover: ProcessTurnover, severity: Severity) -> Finding:
    title = (
        f"{turnover.name} was started {count(turnover.starts)} times in {span(turnover.window_s)} by {turnover.parent}"
    )
    pids = ", ".join(str(pid) for pid in turnover.pids[:5])
    evidence = Evidence(
        f"pids came and went: {pids}; cgroup {turnover.cgroup or '/'}", "process table", turnover.starts, "starts"
    )
    return Finding(
        "crash-loop",
        severity,
        title,
        Subject("process", turnover.name),
        (evidence,),
        (f"see what {turnover.parent} runs, and why it ends",),
    )
