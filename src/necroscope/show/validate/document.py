"""`necroscope.validate/1` (docs/json.md)."""

from __future__ import annotations

from typing import Any

from necroscope.clock import iso
from necroscope.show.plain import valid
from necroscope.vocabulary.conclusions.validation import Answer, Side, Validation
from necroscope.vocabulary.event import Window


def validate_document(found: Validation) -> dict[str, Any]:
    """The whole validation."""
    facts = found.facts
    document = {
        "schema": "necroscope.validate/1",
        "change": {"at": iso(facts.change.at_ns), "text": facts.change.text},
        "outcome": found.outcome,
        "healed_only": found.healed_only,
        "answers": {one.question: _answer(one) for one in found.answers},
        "leaker": None if found.leaker is None else {"kind": found.leaker.kind, "name": found.leaker.name},
        "cause_before": None if facts.cause is None else facts.cause.kind,
        "wanted_s": facts.wanted_s,
        "before": _side(facts.before) if facts.before is not None else None,
        "after": _side(facts.after),
        "rebooted": iso(facts.booted_ns) if facts.booted_ns is not None else None,
        "measures": [
            {"name": one.name, "unit": one.unit, "before": one.before, "after": one.after, "worse": one.worse}
            for one in found.measures
        ],
        "notes": list(found.notes),
    }
    safe: dict[str, Any] = valid(document)
    return safe


def _answer(one: Answer) -> dict[str, Any]:
    return {
        "outcome": one.outcome,
        "claim": one.claim,
        "evidence": [
            {
                "text": line.text,
                "value": line.value,
                "unit": line.unit,
                "source": line.source,
                "window": _window(line.window) if line.window else None,
            }
            for line in one.evidence
        ],
        "needs": one.needs,
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "window": _window(side.window),
        "zombies": [[iso(at_ns), number] for at_ns, number in side.looks],
        "symptoms": len(side.symptoms),
        "starved_cores": len(side.starved),
        "jobs": {"started": side.jobs.started, "succeeded": side.jobs.succeeded, "failed": side.jobs.failed},
        "covered": round(side.covered, 4),
        "blind": list(side.blind),
    }


def _window(window: Window) -> list[str]:
    return [iso(window[0]), iso(window[1])]
