"""A verdict as alerts of Alertmanager's API v2: POST /api/v2/alerts.

Alertmanager ends an alert by itself when `endsAt` has passed: an alert stands for `STANDS_S` after its verdict, which
is told again every five minutes while its symptom comes again. A verdict that replaces another ends that one's alert.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from necroscope.clock import NS, iso
from necroscope.record.verdicts.pronounced import Pronounced

STANDS_S = 900
PATH = "/api/v2/alerts"
_MOST = 1_000


def alert(verdict: Pronounced, node: str, labels: Mapping[str, str], over: bool = False) -> dict[str, Any]:
    """One alert; `over`: it ends now. What tells alerts apart: node, symptom, cause and subject."""
    ends_ns = verdict.at_ns if over else verdict.at_ns + STANDS_S * NS
    named = {
        "alertname": "NecroscopeVerdict",
        "node": node,
        "symptom": str(verdict.symptom.get("kind", "")),
        "device": verdict.device,
        "verdict": verdict.verdict,
        "cause": verdict.kind,
        "subject": verdict.subject,
        "severity": "critical" if verdict.verdict == "explained" else "warning",
    }
    remedies = [one["command"] for one in verdict.why["remedies"] if one.get("command")]
    notes = {
        "summary": verdict.sentence,
        "confidence": str(verdict.cause.get("confidence", "")),
        "command": remedies[0] if remedies else "",
        "verdict_id": verdict.id,
    }
    return {
        "labels": {name: text[:_MOST] for name, text in (dict(labels) | named).items() if text},
        "annotations": {name: text[:_MOST] for name, text in notes.items() if text},
        "startsAt": iso(min(verdict.symptom_ns, verdict.at_ns)),
        "endsAt": iso(ends_ns),
    }
