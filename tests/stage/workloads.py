"""Units and containers of which everything is known, for audits."""

from __future__ import annotations

from typing import Any

from necroscope.vocabulary.conclusions.audit import AuditFacts, Costs, Runs, Workload
from necroscope.vocabulary.model import ContainerState, HostIdentity, UnitState

HOST = HostIdentity("node7", "6.1.0", "boot", 4)
HOUR_S = 3600.0


def running(name: str, up_s: float = HOUR_S, **more: Any) -> Workload:
    """A unit that has been up for a while."""
    return _workload(name, "active", "running", since_start_s=up_s, result="success", **more)


def looping(name: str, restarts: int = 400, **more: Any) -> Workload:
    """A unit that ends with a failure and is started again, over and over; it never succeeded."""
    given: dict[str, Any] = {"since_start_s": 0.4, "result": "exit-code", "exit_status": 1, "ever_succeeded": False}
    given["runs"] = Runs(restarts, 0, restarts, restarts, HOUR_S, "recording")
    return _workload(name, "activating", "auto-restart", restarts=restarts, **(given | more))


def resting(name: str, **more: Any) -> Workload:
    """A unit that does not run."""
    return _workload(name, "inactive", "dead", result="success", **more)


def container(name: str, image: str, state: str = "running", **more: Any) -> Workload:
    """A container of docker."""
    given: dict[str, Any] = {"engine": "docker", "id": "c" * 64, "since_start_s": HOUR_S, "restarts": 0}
    return Workload(container=ContainerState(name=name, image=image, state=state, **(given | more)))


def facts(*workloads: Workload, found: tuple[str, ...] = (), source: Any = "live") -> AuditFacts:
    """A node with these."""
    return AuditFacts(HOST, 1_767_323_045_000_000_000, source, workloads, frozenset(found), systemd=True)


def _workload(name: str, active: str, sub: str, **more: Any) -> Workload:
    own = {key: more.pop(key) for key in ("needed_by", "triggers", "package", "runs", "loaded") if key in more}
    costs = Costs(cgroups_left=more.pop("left", None))
    state: dict[str, Any] = {"result": "", "restarts": 0, "unit_file_state": "enabled", "restart_policy": "always"}
    return Workload(unit=UnitState(name, active, sub, **(state | more)), costs=costs, **own)
