"""`necroscope.audit/1` (docs/json.md)."""

from __future__ import annotations

from typing import Any

from necroscope.clock import iso
from necroscope.show.plain import valid
from necroscope.vocabulary.conclusions.audit import Audited, AuditReport, Runs
from necroscope.vocabulary.model import Evidence, Subject

_LINES = 4


def audit_document(report: AuditReport) -> dict[str, Any]:
    """The whole audit."""
    facts = report.facts
    document = {
        "schema": "necroscope.audit/1",
        "at": iso(facts.at_ns),
        "source": facts.source,
        "host": {"name": facts.host.name, "kernel": facts.host.kernel, "boot_id": facts.host.boot_id},
        "recorded": [iso(at_ns) for at_ns in facts.recorded] if facts.recorded else None,
        "owners": [
            {"orchestrator": one.orchestrator, "standing": one.standing, "because": _evidence(one.because)}
            for one in report.owners
        ],
        "audited": [_audited(one) for one in report.audited],
        "baseline": None
        if report.deviations is None
        else [{"kind": one.kind, "subject": _subject(one.subject), "text": one.text} for one in report.deviations],
        "policy": None
        if report.breaches is None
        else {
            "breaches": [
                {
                    "kind": one.kind,
                    "subject": _subject(one.subject),
                    "text": one.text,
                    "review": one.review.isoformat() if one.review else None,
                }
                for one in report.breaches
            ],
            "stale": list(report.stale),
        },
        "unavailable": [{"sensor": one.sensor, "reason": one.reason, "hint": one.hint} for one in facts.unseen],
        "cost": {
            "wall_s": round(report.cost.wall_s, 3),
            "cpu_s": round(report.cost.cpu_s, 3),
            "rss_bytes": report.cost.rss_bytes,
        },
    }
    safe: dict[str, Any] = valid(document)
    return safe


def _audited(one: Audited) -> dict[str, Any]:
    workload, costs = one.workload, one.workload.costs
    unit, container = workload.unit, workload.container
    return {
        "subject": _subject(workload.subject),
        "description": workload.description,
        "role": one.role,
        "entry": one.entry,
        "title": one.title,
        "orchestrator": one.orchestrator,
        "judgement": one.judgement,
        "reasons": _evidence(one.reasons),
        "active": workload.active,
        "state": f"{unit.active_state} ({unit.sub_state})" if unit else container.state if container else "",
        "result": unit.result if unit else "",
        "exit_status": unit.exit_status if unit else container.exit_status if container else None,
        "up_s": _rounded(workload.since_start_s if workload.active else None),
        "why_it_runs": {
            "unit_file": unit.fragment_path if unit else "",
            "unit_file_state": unit.unit_file_state if unit else "",
            "preset": unit.preset if unit else "",
            "wanted_by": list(unit.wanted_by) if unit else [],
            "triggered_by": list(unit.triggered_by) if unit else [],
            "package": workload.package,
            "program": workload.program,
            "program_package": workload.program_package,
            "image": container.image if container else "",
            "restart_policy": unit.restart_policy if unit else container.restart_policy if container else "",
        },
        "needed_by": list(workload.needed_by),
        "triggers": list(workload.triggers),
        "runs": _runs(workload.runs),
        "cost": {
            "cpu_s": _rounded(costs.cpu_s),
            "cpu_share": None if costs.cpu_share is None else round(costs.cpu_share, 6),
            "memory_bytes": costs.memory_bytes,
            "cgroups_left": costs.cgroups_left,
        },
        "last_lines": list(unit.last_lines[-_LINES:]) if unit else [],
    }


def _runs(runs: Runs) -> dict[str, Any]:
    rate = runs.success_rate
    return {
        "starts": runs.starts,
        "successes": runs.successes,
        "failures": runs.failures,
        "success_rate": None if rate is None else round(rate, 4),
        "restarts": runs.restarts,
        "restarts_per_hour": _rounded(runs.restarts_per_hour),
        "window_s": _rounded(runs.window_s),
        "source": runs.source,
    }


def _evidence(lines: tuple[Evidence, ...]) -> list[dict[str, Any]]:
    return [{"text": one.text, "value": one.value, "unit": one.unit, "source": one.source} for one in lines]


def _subject(subject: Subject) -> dict[str, str]:
    return {"kind": subject.kind, "name": subject.name}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
