"""What belongs to an orchestrator that does not own the node.

That nothing runs now is no evidence. All of it must hold: its role names an orchestrator; that one neither runs
steadily here nor was configured; another one owns the node; nobody outside of it needs it; and it was never seen to
succeed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from necroscope.diagnose.audit.owners import owning
from necroscope.diagnose.audit.roles import RoleEntry
from necroscope.diagnose.audit.runs import ever_succeeded
from necroscope.vocabulary.conclusions.audit import AuditFacts, Owner, Workload
from necroscope.vocabulary.model import Evidence


def orphaned(
    workload: Workload,
    entry: RoleEntry | None,
    owners: Sequence[Owner],
    dependants: Mapping[str, tuple[str, ...]],
    facts: AuditFacts,
) -> list[Evidence]:
    """The reasons, each of which is needed; empty where one of them is missing."""
    if entry is None or not entry.orchestrator or not (workload.enabled or workload.active or _tried(workload)):
        return []
    masters = [one for one in owning(owners) if one.orchestrator != entry.orchestrator]
    own = next((one for one in owners if one.orchestrator == entry.orchestrator), None)
    at_home = own is not None and own.standing in ("owns", "set-up")
    if at_home or not masters or dependants.get(workload.name) or ever_succeeded(workload):
        return []
    shown = masters[0].because[0]
    stands = "owns this node" if masters[0].standing == "owns" else "is set up here"
    return [
        Evidence(f"it belongs to {entry.orchestrator} ({entry.title}), which was not set up here", "roles"),
        *(own.because if own is not None else ()),
        Evidence(f"{masters[0].orchestrator} {stands}: {shown.text}", shown.source),
        Evidence("no other unit needs it", "systemd" if facts.source == "live" else "unit files"),
        _successes(workload, facts),
    ]


def _tried(workload: Workload) -> bool:
    unit, container = workload.unit, workload.container
    if unit is not None:
        return unit.restarts > 0 or unit.active_state in ("failed", "activating")
    return container is not None and container.state not in ("created", "")


def _successes(workload: Workload, facts: AuditFacts) -> Evidence:
    if facts.source == "image":
        return Evidence("whether it ever succeeds cannot be seen in an image", "unit files")
    if ever_succeeded(workload) is None:
        return Evidence("no success of it is known, and no failure either", "journal")
    return Evidence("it was never seen to succeed", workload.runs.source or "journal")
