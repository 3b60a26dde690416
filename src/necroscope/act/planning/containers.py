"""Plans about a container: its restart policy, then stop it."""

from __future__ import annotations

from necroscope.act.planning.draft import Draft
from necroscope.act.steps import RUNNING, STOPPED
from necroscope.errors import BadInput, Refused
from necroscope.vocabulary.plan import Condition, Plan, Step

NO = "no"


def stop_container(draft: Draft, name: str) -> Plan:
    """Keep its engine from starting it again, where that can be said, and stop it."""
    view = draft.node.engine.container(name)
    if view is None:
        raise BadInput(f"No container engine here knows a container {name}.", "$NECROSCOPE_CONTAINER_SOCKET names one")
    if view.started_by:
        whose = view.started_by.removeprefix("unit ")
        hint = f"necroscope fix disable-unit {whose}" if view.started_by.startswith("unit ") else "remove it there"
        raise Refused(f"Container {view.name} would be started again by {view.started_by}.", hint)
    if any(view.id in cgroup for one in draft.node.processes.callers() for cgroup in one.cgroups):
        raise Refused(f"Container {view.name} is protected: you are in it.", "run fix on the host")
    if not view.running:
        raise Refused(f"Container {view.name} is not running.", "there is nothing to stop")
    conditions = (draft.same_boot(), Condition("container", view.name, view.id))
    steps, notes = [], []
    if view.policy != NO and view.sets_policy:
        says = f'POST /containers/{view.id[:12]}/update {{"RestartPolicy": {{"Name": "{NO}"}}}} at {view.socket}'
        steps.append(Step("restart-policy", view.id, says, view.policy, NO, conditions=conditions))
    elif view.policy != NO:
        notes.append(
            f"{view.engine} cannot change the restart policy ({view.policy}) of a container that exists: stopped by "
            "hand it stays down, until something starts it, or all containers of that policy at boot"
        )
    says = f"POST /containers/{view.id[:12]}/stop at {view.socket}"
    steps.append(Step("stop-container", view.id, says, RUNNING, STOPPED, conditions=conditions))
    notes.append(f"it may take {view.stop_timeout_s} s to stop; then {view.engine} sends SIGKILL")
    return draft.made("container", view.name, steps, notes)
