"""Plans and what became of them -> the JSON documents of `necroscope fix` (docs/json.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from necroscope.clock import iso
from necroscope.show.plain import valid
from necroscope.vocabulary.plan import Action, FixReport, Plan, StepReport

SCHEMA, HISTORY = "necroscope.fix/1", "necroscope.fix-history/1"


def plan_document(plan: Plan, action: Action) -> dict[str, Any]:
    """`necroscope.fix/1` of a plan that was not carried out."""
    steps = [StepReport(step) for step in plan.steps]
    safe: dict[str, Any] = valid({"schema": SCHEMA, **_of(plan, steps, "planned", ""), "action": _action(action)})
    return safe


def report_document(report: FixReport, action: Action) -> dict[str, Any]:
    """`necroscope.fix/1` of a plan that was begun."""
    body = _of(report.plan, report.steps, report.ending, report.because)
    safe: dict[str, Any] = valid({"schema": SCHEMA, **body, "action": _action(action)})
    return safe


def history_document(reports: Sequence[FixReport]) -> dict[str, Any]:
    """`necroscope.fix-history/1`."""
    rows = [{"at": iso(one.at_ns), **_of(one.plan, one.steps, one.ending, one.because)} for one in reports]
    safe: dict[str, Any] = valid({"schema": HISTORY, "plans": rows})
    return safe


def _of(plan: Plan, steps: Sequence[StepReport], ending: str, because: str) -> dict[str, Any]:
    return {
        "id": plan.id,
        "action": plan.action,
        "subject": {"kind": plan.subject.kind, "name": plan.subject.name},
        "reason": plan.reason,
        "made": iso(plan.made_ns),
        "expires": iso(plan.expires_ns),
        "boot_id": plan.boot_id,
        "undoable": plan.undoable,
        "notes": list(plan.notes),
        "then": list(plan.then),
        "steps": [_step(one) for one in steps],
        "ending": ending,
        "because": because,
    }


def _step(report: StepReport) -> dict[str, Any]:
    step = report.step
    return {
        "kind": step.kind,
        "target": step.target,
        "says": step.says,
        "shows": list(step.shows),
        "undoable": step.undoable,
        "conditions": [{"kind": one.kind, "subject": one.subject, "value": one.value} for one in step.conditions],
        "items": [path for path, _ in step.items],
        "outcome": report.outcome,
        "note": report.note,
        "undone": report.undone,
    }


def _action(action: Action) -> dict[str, str]:
    names = ("name", "effect", "precondition", "risk", "cost", "undo", "not_achieved")
    return {name: getattr(action, name) for name in names}
