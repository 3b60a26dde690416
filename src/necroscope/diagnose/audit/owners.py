"""Which orchestrator owns a node: by its own agent and its configuration, never by what happens to run on it now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from necroscope.config import CrashLoopLimits
from necroscope.diagnose.audit.roles import RoleEntry, Roles
from necroscope.diagnose.audit.runs import failures, steady
from necroscope.quantity import span
from necroscope.vocabulary.conclusions.audit import AuditFacts, Owner, Standing, Workload
from necroscope.vocabulary.model import Evidence


def owners(facts: AuditFacts, roles: Roles, limits: CrashLoopLimits) -> tuple[Owner, ...]:
    """Every orchestrator of which there is a trace, the one that owns the node first."""
    agents: dict[str, list[RoleEntry]] = {}
    for entry in roles.entries:
        if entry.agent:
            agents.setdefault(entry.orchestrator, []).append(entry)
    matched = [(roles.of(workload), workload) for workload in facts.workloads]
    found = []
    for name, entries in agents.items():
        mine = [workload for entry, workload in matched if entry in entries]
        found.append(_owner(name, entries, mine, facts, limits))
    order: Sequence[Standing] = ("owns", "set-up", "present")
    return tuple(sorted((one for one in found if one.standing != "absent"), key=lambda one: order.index(one.standing)))


def owning(found: Iterable[Owner]) -> tuple[Owner, ...]:
    """Those that own the node: whose agent runs steadily; where none does, those that were set up."""
    every = tuple(found)
    running = tuple(one for one in every if one.standing == "owns")
    return running or tuple(one for one in every if one.standing == "set-up")


def _owner(
    name: str, entries: list[RoleEntry], agents: list[Workload], facts: AuditFacts, limits: CrashLoopLimits
) -> Owner:
    written = [path for entry in entries for path, _ in entry.configured if path in facts.found]
    running = [one for one in agents if steady(one) and not failures(one, limits)]
    on = [one for one in agents if one.enabled or one.active or failures(one, limits)]
    standing: Standing = "owns" if running else "absent" if not on else "set-up" if written else "present"
    return Owner(name, standing, tuple(_because(running, on, written, facts)))


def _because(running: list[Workload], on: list[Workload], written: list[str], facts: AuditFacts) -> Iterator[Evidence]:
    for one in running[:2]:
        yield Evidence(f"{one.name} has been running for {span(one.since_start_s or 0.0)}", "systemd")
    for one in [one for one in on if one not in running][:2]:
        state = "is enabled" if one.enabled else "is not enabled"
        how = "" if facts.source == "image" else ", and does not run steadily"
        yield Evidence(f"{one.name} {state}{how}", "systemd" if facts.source == "live" else "unit files")
    for path in written[:2]:
        yield Evidence(f"its configuration is there: {path}", path)
    if on and not written:
        yield Evidence("none of its configuration files is there", "files")
