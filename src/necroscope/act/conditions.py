"""What must still be so before a step: each condition is asked of the node anew, never remembered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from necroscope.act.node.doors import Node, UnitView
from necroscope.vocabulary.plan import Condition, Plan, Step

_RESTARTS = ":"


def broken(node: Node, plan: Plan, step: Step) -> str:
    """The first condition of a step that holds no more, in words; empty where all hold. `Unavailable` where one cannot
    be asked."""
    return next((words for one in step.conditions if (words := _CHECKS[one.kind](node, plan, one))), "")


def files_hash(files: Mapping[str, bytes]) -> str:
    """One hash of a unit's files: their paths and bytes."""
    found = hashlib.sha256()
    for path in sorted(files):
        for part in (path.encode("utf-8", "surrogateescape"), files[path]):
            found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def invocation_of(view: UnitView) -> str:
    """What tells this run of a unit from one that somebody else started."""
    return f"{view.invocation}{_RESTARTS}{view.restarts}"


def _boot(node: Node, _: Plan, condition: Condition) -> str:
    return "" if node.boot.id() == condition.value else "the node was booted since the plan was made"


def _unit_files(node: Node, plan: Plan, condition: Condition) -> str:
    view = node.units.unit(condition.subject)
    if view is None:
        return f"unit {condition.subject} is not there any more"
    ours = {step.target for step in plan.steps if step.kind == "set-path"}
    files = {path: data for path, data in node.units.files(view.names).items() if path not in ours}
    return "" if files_hash(files) == condition.value else f"the files of {condition.subject} were changed since"


def _invocation(node: Node, _: Plan, condition: Condition) -> str:
    """Another run is another only where systemd's own restarts do not account for it."""
    view = node.units.unit(condition.subject)
    if view is None:
        return f"unit {condition.subject} is not there any more"
    invocation, restarts = condition.value.split(_RESTARTS)
    if view.invocation == invocation or view.restarts > int(restarts or 0):
        return ""
    return f"{condition.subject} was started anew by somebody since the plan was made"


def _inode(node: Node, _: Plan, condition: Condition) -> str:
    now = node.memory.identity(condition.subject)
    if now == condition.value:
        return ""
    return f"{condition.subject} is gone" if not now else f"{condition.subject} is another file by now"


def _unused(node: Node, _: Plan, condition: Condition) -> str:
    user = node.memory.user_of(condition.value)
    return "" if user is None else f"{condition.subject} is in use by process {user} by now"


def _process(node: Node, _: Plan, condition: Condition) -> str:
    now = node.processes.process(int(condition.subject))
    if now is not None and now.identity == condition.value:
        return ""
    return f"process {condition.subject} has ended" if now is None else f"process {condition.subject} is another by now"


def _container(node: Node, _: Plan, condition: Condition) -> str:
    now = node.engine.container(condition.subject)
    if now is not None and now.id == condition.value:
        return ""
    return f"container {condition.subject} is {'gone' if now is None else 'another by now'}"


_CHECKS: dict[str, Callable[[Node, Plan, Condition], str]] = {
    "boot": _boot,
    "unit-files": _unit_files,
    "invocation": _invocation,
    "inode": _inode,
    "unused": _unused,
    "process": _process,
    "container": _container,
}
