"""Compares what `why` said with the truth of a run. Pure.

*Right* means that mechanism, subject (kind and name) and core equal the truth; in a run without a cause, that none was
named. *Abstained* names no cause where there is one, or nobody to act on where the rest is right: neither right nor
wrong. Everything else is wrong. What did not happen is marked too, but does not count.

The answer that is judged is of the whole recording. The answer given at once is judged beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from necroscope.quantity import plural

Mark = Literal["right", "wrong", "abstained", "no answer"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One run, judged. `because` says what it did not show that it must, and in what the answer differs from the truth;
    `confidence` is a named cause's; `seconds` is how long the answer took. `at_once` and `answered_s` are of whoever
    asked while the recorder still wrote: the mark, and the seconds from the symptom to that verdict."""

    scenario: str
    seed: int
    happened: bool
    verdict: str
    mark: Mark
    because: str = ""
    confidence: float | None = None
    seconds: float = 0.0
    at_once: Mark | None = None
    answered_s: float | None = None

    @property
    def in_short(self) -> str:
        """The mark, or that it did not happen, and why."""
        return f"{self.mark if self.happened else 'did not happen'}{': ' if self.because else ''}{self.because}"

    @property
    def bad(self) -> bool:
        """Whether it did not happen, was answered wrongly, or not at all."""
        return not self.happened or self.mark in ("wrong", "no answer") or self.at_once == "wrong"


def judge(truth: dict[str, Any], answer: dict[str, Any] | None, seconds: float = 0.0, complaint: str = "") -> Judgement:
    """Judge the document that `why --json` printed; None when it printed none, but perhaps a complaint."""
    verdict = "" if answer is None else str(answer.get("verdict", ""))
    absent, (mark, differs, sure) = _not_shown(truth), _marked(truth, answer, complaint)
    run = (str(truth["scenario"]), int(truth["seed"]), not absent)
    asked = truth.get("asked_at_once")
    at_once, early, _ = _marked(truth, asked) if asked else (None, [], None)
    early = [f"asked at once: {one}" for one in early] if at_once == "wrong" else []
    because = "; ".join(absent + differs + early)
    return Judgement(*run, verdict, mark, because, sure, seconds, at_once, asked["answered_s"] if asked else None)


def failed(scenario: str, seed: int, reason: str) -> Judgement:
    """A run that broke off."""
    return Judgement(scenario, seed, False, "", "no answer", f"it broke off: {reason}")


def _marked(
    truth: dict[str, Any], answer: dict[str, Any] | None, complaint: str = ""
) -> tuple[Mark, list[str], float | None]:
    """The mark, why it is that, and the confidence of a cause that counts as named."""
    if answer is None:
        return "no answer", [f"why gave no answer{': ' if complaint else ''}{complaint}"], None
    cause = answer.get("cause")
    if cause is None:
        return "abstained" if truth["cause"] else "right", [], None
    differs = _differences(truth, cause)
    if truth["cause"] and cause.get("subject") is None and len(differs) == 1:
        return "abstained", ["names nobody to act on"], None
    confidence = cause.get("confidence")
    sure = float(confidence) if isinstance(confidence, int | float) else None
    return "wrong" if differs else "right", differs, sure


def _not_shown(truth: dict[str, Any]) -> list[str]:
    """What the run had to show and did not, with what was measured; nothing when it happened."""
    missed = [one for one in truth["happened"]["shown"] if not one["ok"]]
    texts = [f"{one['text']} ({_value(one)})" for one in missed]
    return [f"did not show: {' and '.join(texts)}"] if missed else []


def _value(shown: dict[str, Any]) -> str:
    if shown["value"] is None:
        return "not measured"
    return f"{shown['value']:g}{' ' if shown['unit'] else ''}{shown['unit']}"


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
    """How sure the answers were about what happened, and how often they were right: one line."""
    counted = [one for one in judgements if one.happened]
    sure = [(one.confidence, one.mark == "right") for one in counted if one.confidence is not None]
    counts = {mark: sum(one.mark == mark for one in counted) for mark in ("right", "wrong", "abstained", "no answer")}
    parts = [f"{count} {mark}" for mark, count in counts.items() if count]
    if sure:
        mean = sum(confidence for confidence, _ in sure) / len(sure)
        right = sum(ok for _, ok in sure) / len(sure)
        brier = sum((confidence - ok) ** 2 for confidence, ok in sure) / len(sure)
        parts.append(
            f"{plural(len(sure), 'cause')} named with a mean confidence of {mean:.2f}, {right:.2f} of them right"
        )
        parts.append(f"Brier score {brier:.3f}")
    if len(counted) < len(judgements):
        parts.append(f"{len(judgements) - len(counted)} did not happen")
    return "; ".join(parts) or "nothing was judged"
