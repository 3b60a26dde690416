"""From an action and its subject to a plan; from a verdict or a finding to the action that its remedies name."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from necroscope.act.planning import containers, processes, units, zombies
from necroscope.act.planning.catalogue import BY_NAME
from necroscope.act.planning.draft import Draft
from necroscope.errors import BadInput, Refused
from necroscope.vocabulary.model import Finding
from necroscope.vocabulary.plan import Plan
from necroscope.vocabulary.verdict import Verdict

_ONE = {
    "stop-unit": units.stop_unit,
    "disable-unit": units.disable_unit,
    "mask-unit": units.mask_unit,
    "neutralise-unit": units.neutralise_unit,
    "limit-restarts": units.limit_restarts,
    "stop-container": containers.stop_container,
    "stop-process": processes.stop_process,
    "free-zombies": zombies.free_zombies,
    "remove-directories": zombies.remove_directories,
}
_LEAK, _LOOP, _DIRECTORIES = "zombie-memcg", "crash-loop", "leaked-directories"


def plan(draft: Draft, subjects: Sequence[str]) -> Plan:
    """The plan for one action. `BadInput`: no such subject; `Refused`: it must not be touched."""
    action = BY_NAME[draft.action]
    if draft.action == "reboot":
        if tuple(subjects) not in ((), ("node",)):
            raise BadInput("reboot is about this node.", "necroscope fix reboot")
        return processes.reboot(draft)
    if not subjects or (len(subjects) > 1 and not action.subject.endswith("...")):
        raise BadInput(f"{action.name} needs {action.subject}.", f"necroscope fix {action.name} {action.subject}")
    if draft.action == "remove-leftover":
        return zombies.remove_leftover(draft, subjects)
    return _ONE[draft.action](draft, subjects[0])


def of_verdict(verdict: Verdict) -> tuple[str, str]:
    """The action and subject of the first remedy that is one of ours. `Refused` where the verdict carries none."""
    cause = verdict.cause
    if cause is None or cause.subject is None or verdict.verdict != "explained":
        reason = (
            f"the verdict is {verdict.verdict}" if cause is None or cause.subject is not None else "nobody is named"
        )
        raise Refused(f"There is nobody to act on: {reason}.", "`necroscope why` says what is known")
    for one in verdict.remedies:
        words = shlex.split(one.command) if not one.purges_existing else []
        if words[:2] == ["necroscope", "fix"] and len(words) > 3 and words[2] in BY_NAME:
            return words[2], words[-1]
    advice = next((one.text for one in verdict.remedies if one.text), "it names no remedy")
    raise Refused(f"No remedy of this verdict is a change that fix can make: {advice}", "`necroscope fix --help`")


def of_finding(found: Sequence[Finding], name: str) -> tuple[str, str]:
    """The action and subject of the one finding with this id."""
    same = [one for one in found if one.id == name]
    if not same:
        known = ", ".join(sorted({one.id for one in found})) or "none"
        raise BadInput(f"A scan of this node finds no {name}.", f"it finds: {known}; actions: {', '.join(BY_NAME)}")
    ways = dict.fromkeys(way for one in same if (way := _way(one)) is not None)
    if not ways:
        raise Refused(f"{same[0].title}: fix knows no change for that.", "; ".join(same[0].remedies)[:300])
    if len(ways) > 1:
        raise BadInput(
            f"{name} is found of {len(ways)} subjects.",
            "; ".join(f"necroscope fix {action} {subject}" for action, subject in list(ways)[:5]),
        )
    return next(iter(ways))


def _way(finding: Finding) -> tuple[str, str] | None:
    kind, name = finding.subject.kind, finding.subject.name
    if finding.id in (_LEAK, _LOOP) and kind == "unit":
        return "disable-unit", name
    if finding.id in (_LEAK, _LOOP) and kind == "container":
        return "stop-container", name
    if finding.id == _LEAK and kind == "cgroup":
        return "free-zombies", name
    if finding.id == _DIRECTORIES and kind == "cgroup":
        return "remove-directories", name
    return None


def follow_ups(verdict: Verdict) -> tuple[str, ...]:
    """Commands of the remedies after the one that is followed: what frees what has leaked."""
    return tuple(one.command for one in verdict.remedies[1:] if one.command.startswith("necroscope fix "))
