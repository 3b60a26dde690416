"""Compares what `why` said with the truth of a run. Pure.

*Right* means that mechanism, subject (kind and name) and core equal the truth; in a run without a cause, that none was
named. *Abstained* names no cause where there is one, or nobody to act on where the rest is right: neither right nor
wrong. Everything else is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Mark = Literal["right", "wrong", "abstained", "no answer"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One run, judged. `because` says in what the answer differs from the truth; `confidence` is a named cause's."""

    scenario: str
    seed: int
    happened: bool
    verdict: str
    mark: Mark
    because: str = ""
    confidence: float | None = None
    seconds: float = 0.0


def judge(truth: dict[str, Any], answer: dict[str, Any] | None, seconds: float = 0.0) -> Judgement:
    """Judge the document that `why --json` printed; None when it printed none."""
    happened = all(one["ok"] for one in truth["happened"]["shown"])
    run = (str(truth["scenario"]), int(truth["seed"]), happened)
    if answer is None:
        return Judgement(*run, "", "no answer", "why gave no answer", seconds=seconds)
    verdict, cause = str(answer.get("verdict", "")), answer.get("cause")
    if cause is None:
        mark: Mark = "abstained" if truth["cause"] else "right"
        return Judgement(*run, verdict, mark, seconds=seconds)
    differs = _differences(truth, cause)
    if truth["cause"] and cause.get("subject") is None and len(differs) == 1:
        return Judgement(*run, verdict, "abstained", "names nobody to act on", seconds=seconds)
    confidence = cause.get("confidence")
    sure = float(confidence) if isinstance(confidence, int | float) else None
    return Judgement(*run, verdict, "wrong" if differs else "right", "; ".join(differs), sure, seconds)


def _differences(truth: dict[str, Any], cause: dict[str, Any]) -> list[str]:
    if truth["cause"] is None:
        return [f"named {cause.get('kind')} where there is no cause to be seen"]
    subject, said = truth["subject"], cause.get("subject") or {}
    pairs = (
        ("mechanism", truth["cause"], cause.get("kind")),
        ("subject", f"{subject['kind']} {subject['name']}", f"{said.get('kind')} {said.get('name')}"),
        ("core", truth["cpu"], cause.get("cpu")),
    )
    return [f"{what} is {true}, not {named}" for what, true, named in pairs if true != named]


def calibration(judgements: Sequence[Judgement]) -> str:
    """How sure the answers were, and how often they were right: one line."""
    sure = [(one.confidence, one.mark == "right") for one in judgements if one.confidence is not None]
    counts = {
        mark: sum(one.mark == mark for one in judgements) for mark in ("right", "wrong", "abstained", "no answer")
    }
    parts = [f"{count} {mark}" for mark, count in counts.items() if count]
    if sure:
        mean = sum(confidence for confidence, _ in sure) / len(sure)
        right = sum(ok for _, ok in sure) / len(sure)
        brier = sum((confidence - ok) ** 2 for confidence, ok in sure) / len(sure)
        parts.append(f"{len(sure)} causes named with a mean confidence of {mean:.2f}, {right:.2f} of them right")
        parts.append(f"Brier score {brier:.3f}")
    return "; ".join(parts) or "nothing was judged"
