"""Verdicts -> the JSON documents of `necroscope why` (docs/json.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from necroscope.clock import iso
from necroscope.show.plain import valid
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import (
    CandidateCause,
    Cause,
    Complaint,
    Group,
    Link,
    ProcessRef,
    Remedy,
    Tested,
    Verdict,
)

Version = Literal[1, 2]
CHAIN_KINDS = {"blocked": "victim", "on-core": "walker", "ordered-by": "orderer", "accumulation": "grew"}
"""Links that version 1 calls differently; it has no `subject`."""


def why_document(verdict: Verdict, version: Version = 2) -> dict[str, Any]:
    """`necroscope.why/2`, or `/1`."""
    safe: dict[str, Any] = valid({"schema": f"necroscope.why/{version}", **_verdict(verdict, version)})
    return safe


def why_all_document(groups: Sequence[Group], notes: Sequence[str] = (), version: Version = 2) -> dict[str, Any]:
    """`necroscope.why-all/2`, or `/1`. `notes`: what of the recording could not be read."""
    listed = [
        {"symptoms": [_symptom(one) for one in group.symptoms], **_verdict(group.verdict, version)} for group in groups
    ]
    document = {"schema": f"necroscope.why-all/{version}", "groups": listed, "notes": list(notes)}
    safe: dict[str, Any] = valid(document)
    return safe


def _verdict(verdict: Verdict, version: Version) -> dict[str, Any]:
    return {
        "symptom": None if verdict.symptom is None else _symptom(verdict.symptom),
        "verdict": verdict.verdict,
        "cause": None if verdict.cause is None else _cause(verdict.cause),
        **(_as_links(verdict) if version == 2 else _as_chain(verdict)),
        "missing": [{"what": one.what, "hint": one.hint} for one in verdict.missing],
        "remedies": [_remedy(one) for one in verdict.remedies],
        "window": _window(verdict.window),
        "notes": list(verdict.notes),
    }


def _as_links(verdict: Verdict) -> dict[str, Any]:
    weakest = verdict.weakest
    return {
        "links": [_link(one) for one in verdict.links],
        "weakest": None if weakest is None else {"kind": weakest.kind, "strength": weakest.strength},
        "tested": [_tested(one) for one in verdict.tested],
        "candidates": [_candidate(one) for one in verdict.candidates],
    }


def _as_chain(verdict: Verdict) -> dict[str, Any]:
    """As version 1 tells it: what is not ruled out is part of the chain, and nothing has a strength."""
    links = [one for one in verdict.links if one.kind != "subject"]
    rejected = [one for one in verdict.tested if one.outcome != "not-ruled-out"]
    return {
        "chain": [
            {"claim": one.claim, "kind": CHAIN_KINDS.get(one.kind, one.kind), "evidence": _evidence(one.evidence)}
            for one in links
        ],
        "rejected": [
            {
                "hypothesis": one.hypothesis,
                "because": one.because,
                "tested": one.outcome == "ruled-out",
                "evidence": _evidence(one.evidence),
            }
            for one in rejected
        ],
    }


# -- the parts -----------------------------------------------------------------------------------------------


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
    subject = cause.subject
    return {
        "kind": cause.kind,
        "subject": None if subject is None else {"kind": subject.kind, "name": subject.name},
        "process": _process(cause.process),
        "cpu": cause.cpu,
        "confidence": round(cause.confidence, 3),
    }


def _process(process: ProcessRef | None) -> dict[str, Any] | None:
    return None if process is None else {"name": process.name, "pid": process.pid}


def _link(one: Link) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "claim": one.claim,
        "strength": one.strength,
        "doubt": one.doubt,
        "evidence": _evidence(one.evidence),
    }


def _tested(one: Tested) -> dict[str, Any]:
    return {
        "hypothesis": one.hypothesis,
        "outcome": one.outcome,
        "because": one.because,
        "explains": one.explains,
        "evidence": _evidence(one.evidence),
    }


def _candidate(one: CandidateCause) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "cpu": one.cpu,
        "process": _process(one.process),
        "explains": round(one.explains, 3),
        "confidence": round(one.confidence, 3),
        "because": one.because,
    }


def _evidence(lines: Sequence[Evidence]) -> list[dict[str, Any]]:
    return [
        {
            "text": line.text,
            "value": line.value,
            "unit": line.unit,
            "window": _window(line.window),
            "source": line.source,
        }
        for line in lines
    ]


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
