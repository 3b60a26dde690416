"""A verdict as `why` tells it, as far as those who hand it on read it."""

from __future__ import annotations

from typing import Any


def why(subject: str = "leaky.service", verdict: str = "explained") -> dict[str, Any]:
    """A document as `why` makes it, as far as it is read here."""
    cause = {
        "kind": "zombie-memcg",
        "subject": {"kind": "unit", "name": subject},
        "process": {"name": "kubelet", "pid": 7},
        "cpu": 3,
        "confidence": 0.97,
    }
    return {
        "schema": "necroscope.why/2",
        "verdict": verdict,
        "symptom": {"kind": "nic-reset", "subject": "eth0"},
        "cause": cause if verdict == "explained" else None,
        "missing": [],
        "remedies": [{"command": f"necroscope fix disable-unit {subject}"}],
    }
