"""judge_all(facts): the role and the judgement of every unit and container, each with its reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from necroscope.config import CrashLoopLimits
from necroscope.diagnose.audit.orphans import orphaned
from necroscope.diagnose.audit.owners import owners, owning
from necroscope.diagnose.audit.roles import RoleEntry, Roles
from necroscope.diagnose.audit.runs import ever_succeeded, failures
from necroscope.diagnose.priors import PRIORS
from necroscope.quantity import plural, span
from necroscope.vocabulary.conclusions.audit import Audited, AuditFacts, Judgement, Owner, Workload
from necroscope.vocabulary.model import Evidence

_ORDER: tuple[Judgement, ...] = ("orphaned", "failing", "unknown", "idle", "needed")
_NO_DEPENDANTS = (".target", ".slice")
_NAMED = 3


def judge_all(
    facts: AuditFacts, roles: Roles, limits: CrashLoopLimits
) -> tuple[tuple[Audited, ...], tuple[Owner, ...]]:
    """Everything that was read, what needs somebody first; and the orchestrators of which there is a trace."""
    standing = owners(facts, roles, limits)
    entries = {id(workload): roles.of(workload) for workload in facts.workloads}
    dependants = _dependants(facts.workloads, entries)
    found = [_audited(one, entries[id(one)], standing, dependants, facts, limits) for one in facts.workloads]
    rank = {judgement: place for place, judgement in enumerate(_ORDER)}
    return tuple(sorted(found, key=lambda one: (rank[one.judgement], -_cost(one), one.workload.name))), standing


def _cost(one: Audited) -> float:
    costs = one.workload.costs
    return (costs.cgroups_left or 0) * 1e9 + (costs.cpu_share or 0.0)


def _dependants(workloads: Sequence[Workload], entries: Mapping[int, RoleEntry | None]) -> dict[str, tuple[str, ...]]:
    """By name, who needs a unit: enabled or running, and not of the same orchestrator."""
    by_name = {one.name: one for one in workloads if one.unit is not None}
    found = {}
    for one in workloads:
        entry = entries[id(one)]
        found[one.name] = tuple(
            name
            for name in one.needed_by
            if not name.endswith(_NO_DEPENDANTS)
            and ((other := by_name.get(name)) is None or _counts(other, entries[id(other)], entry))
        )
    return found


def _counts(other: Workload, its: RoleEntry | None, mine: RoleEntry | None) -> bool:
    same = mine is not None and its is not None and mine.orchestrator != "" and its.orchestrator == mine.orchestrator
    return (other.active or other.enabled) and not same


def _audited(
    workload: Workload,
    entry: RoleEntry | None,
    standing: Sequence[Owner],
    dependants: Mapping[str, tuple[str, ...]],
    facts: AuditFacts,
    limits: CrashLoopLimits,
) -> Audited:
    made = Audited(workload, entry.role if entry else "unknown", "unknown", ())
    if entry is not None:
        made = replace(made, entry=entry.id, title=entry.title, orchestrator=entry.orchestrator)
    fails = failures(workload, limits)
    if reasons := orphaned(workload, entry, standing, dependants, facts):
        return replace(made, judgement="orphaned", reasons=(*reasons, *fails, *_left(workload)))
    if fails:
        never = [Evidence("it was never seen to succeed", "journal")] if ever_succeeded(workload) is False else []
        return replace(made, judgement="failing", reasons=(*fails, *never, *_left(workload)))
    judgement, why = _quiet(workload, entry, standing, dependants.get(workload.name, ()), facts)
    return replace(made, judgement=judgement, reasons=(*why, *_left(workload)))


def _quiet(
    workload: Workload, entry: RoleEntry | None, standing: Sequence[Owner], needed_by: Sequence[str], facts: AuditFacts
) -> tuple[Judgement, list[Evidence]]:
    """The judgement of what neither fails nor is orphaned."""
    image = facts.source == "image"
    source = "unit files" if image else "systemd" if workload.unit is not None else "container engine"
    on = workload.enabled if image else workload.active
    if not on:
        return "idle", [Evidence(_asleep(workload), source)]
    up = _up(workload, image)
    if needed_by:
        names = ", ".join(needed_by[:_NAMED])
        return "needed", [Evidence(f"{plural(len(needed_by), 'unit')} cannot do without it: {names}", source), up]
    if entry is not None and entry.orchestrator and not _at_home(entry, standing):
        text = f"it belongs to {entry.orchestrator}, which was not found to own this node"
        return "unknown", [Evidence(text, "roles"), up]
    if entry is not None:
        return "needed", [Evidence(f"its role is known: {entry.title}", "roles"), up]
    if workload.triggers:
        return "needed", [Evidence(f"it starts {', '.join(workload.triggers[:_NAMED])}", source), up]
    if workload.container is not None and (owner := _of_engine(workload, standing)) is not None:
        return "needed", [Evidence(f"{owner.orchestrator} runs containers by this engine", "roles"), up]
    shipped = f"; package {workload.package} ships it" if workload.package else ""
    return "unknown", [Evidence(f"no role is known of it, and no unit needs it{shipped}", "roles"), up]


def _at_home(entry: RoleEntry, standing: Sequence[Owner]) -> bool:
    return any(one.orchestrator == entry.orchestrator for one in standing if one.standing in ("owns", "set-up"))


def _of_engine(workload: Workload, standing: Sequence[Owner]) -> Owner | None:
    engine = workload.container.engine if workload.container is not None else ""
    return next((one for one in owning(standing) if engine not in ("docker", "podman")), None)


def _asleep(workload: Workload) -> str:
    unit = workload.unit
    if unit is None:
        return f"the container is {workload.container.state if workload.container else 'unknown'}"
    if unit.unit_file_state == "masked":
        return "it is masked: nothing can start it"
    if unit.triggered_by:
        return f"it does not run, and waits for {', '.join(unit.triggered_by[:_NAMED])}"
    if workload.enabled:
        return "it is enabled, and does not run now"
    return f"it does not run; its unit file is {unit.unit_file_state or 'unknown'}"


def _up(workload: Workload, image: bool) -> Evidence:
    if image:
        return Evidence("a boot starts it", "unit files")
    if workload.since_start_s is None:
        return Evidence("it is up", "systemd")
    up_s = workload.since_start_s
    return Evidence(f"it has been up for {span(up_s)}", "systemd", round(up_s, 1), "s")


def _left(workload: Workload) -> Iterator[Evidence]:
    number = workload.costs.cgroups_left or 0
    if number >= PRIORS.leak_several:
        text = f"{plural(number, 'cgroup')} of it were removed and are still kept by the kernel"
        yield Evidence(text, "kernel memory", number, "cgroups")
