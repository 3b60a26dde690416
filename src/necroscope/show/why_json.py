"""Verdicts -> the JSON documents of `necroscope why` (docs/json.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from necroscope.clock import iso
from necroscope.model import Evidence
from necroscope.show.plain import valid
from necroscope.verdict import Cause, Complaint, Group, Remedy, Verdict


def why_document(verdict: Verdict) -> dict[str, Any]:
    """`necroscope.why/1`."""
    safe: dict[str, Any] = valid({"schema": "necroscope.why/1", **_verdict(verdict)})
    return safe


def why_all_document(groups: Sequence[Group], notes: Sequence[str] = ()) -> dict[str, Any]:
    """`necroscope.why-all/1`. `notes` tell what of the recording could not be read."""
    listed = [{"symptoms": [_symptom(one) for one in group.symptoms], **_verdict(group.verdict)} for group in groups]
    safe: dict[str, Any] = valid({"schema": "necroscope.why-all/1", "groups": listed, "notes": list(notes)})
    return safe


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "symptom": None if verdict.symptom is None else _symptom(verdict.symptom),
        "verdict": verdict.verdict,
        "cause": None if verdict.cause is None else _cause(verdict.cause),
        "chain": [
            {"claim": one.claim, "kind": one.kind, "evidence": [_evidence(line) for line in one.evidence]}
            for one in verdict.chain
        ],
        "rejected": [
            {
                "hypothesis": one.hypothesis,
                "because": one.because,
                "tested": one.tested,
                "evidence": [_evidence(line) for line in one.evidence],
            }
            for one in verdict.rejected
        ],
        "missing": [{"what": one.what, "hint": one.hint} for one in verdict.missing],
        "remedies": [_remedy(one) for one in verdict.remedies],
        "window": _window(verdict.window),
        "notes": list(verdict.notes),
    }


def _symptom(symptom: Complaint) -> dict[str, Any]:
    return {
        "kind": symptom.kind,
        "at": iso(symptom.at_ns),
        "source": symptom.source,
        "text": symptom.text,
        "subject": symptom.subject,
        "uncertainty_ns": symptom.uncertainty_ns,
        "id": None if symptom.id is None else str(symptom.id),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    subject, process = cause.subject, cause.process
    return {
        "kind": cause.kind,
        "subject": None if subject is None else {"kind": subject.kind, "name": subject.name},
        "process": None if process is None else {"name": process.name, "pid": process.pid},
        "cpu": cause.cpu,
        "confidence": round(cause.confidence, 3),
    }


def _evidence(line: Evidence) -> dict[str, Any]:
    return {
        "text": line.text,
        "value": line.value,
        "unit": line.unit,
        "window": _window(line.window),
        "source": line.source,
    }


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {
        "action": remedy.action,
        "subject": remedy.subject,
        "command": remedy.command,
        "text": remedy.text,
        "risk": remedy.risk,
        "cost": remedy.cost,
        "purges_existing": remedy.purges_existing,
    }


def _window(window: tuple[int, int] | None) -> list[str] | None:
    return None if window is None else [iso(window[0]), iso(window[1])]
