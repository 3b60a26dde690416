"""A validation as a person reads it: the outcome first, then the three answers with what shows them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from necroscope.clock import iso
from necroscope.quantity import span
from necroscope.show.plain import plain
from necroscope.show.why.layout import bulleted, indented, put
from necroscope.vocabulary.conclusions.validation import Answer, Measure, Outcome, Question, Validation

_STYLES: dict[Outcome, str] = {"pass": "bold green", "fail": "bold red", "inconclusive": "bold yellow"}
_QUESTIONS: dict[Question, str] = {
    "growth": "Growth and restarts",
    "symptoms": "Symptoms and starved cores",
    "residue": "What is left",
}


def print_validation(found: Validation, console: Console) -> None:
    """The whole validation."""
    put(console, _head(found))
    for number, answer in enumerate(found.answers, 1):
        put(console, _answer(number, answer))
    told = [one for one in found.measures if _tells(one)]
    if told:
        put(console, [Text(), Text("Before and after", style="bold")])
        put(console, [indented(_measure(one)) for one in told])
    if found.notes:
        put(console, [Text(), Text("Could not be read", style="bold")])
        put(console, [bulleted("?", Text(plain(note))) for note in found.notes])


def _head(found: Validation) -> Iterator[RenderableType]:
    facts = found.facts
    yield Text.assemble((_headline(found), _STYLES[found.outcome]))
    words = f"{plain(facts.change.text)} at " if facts.change.text else ""
    yield Text(f"  Change: {words}{iso(facts.change.at_ns)}")
    before = span(facts.before.seconds) if facts.before is not None else "nothing"
    yield Text(f"  Compared: {before} before it, {span(facts.after.seconds)} after it")
    if found.leaker is not None:
        yield Text(f"  Leaker: {found.leaker.kind} {plain(found.leaker.name)}")
    if facts.booted_ns is not None:
        yield Text(f"  The node booted at {iso(facts.booted_ns)}; what came after that is judged")


def _headline(found: Validation) -> str:
    if found.outcome == "pass":
        return "VALIDATED"
    if found.outcome == "inconclusive":
        return "INCONCLUSIVE"
    if not found.healed_only:
        return "NOT FIXED"
    healed = bool(found.facts.long_before) and found.answer("symptoms").outcome == "pass"
    return "NOT FIXED: the symptom is gone, and its cause is not" if healed else "NOT FIXED: the cause is still there"


def _answer(number: int, answer: Answer) -> Iterator[RenderableType]:
    yield Text()
    outcome = (answer.outcome, _STYLES[answer.outcome])
    yield Text.assemble(f" {number}  ", (_QUESTIONS[answer.question], "bold"), "  ", outcome)
    yield from _lines(answer)


def _lines(answer: Answer) -> Iterator[RenderableType]:
    yield indented(Text(plain(answer.claim)), 4)
    for line in answer.evidence:
        yield bulleted("•", Text.assemble(plain(line.text), (f"  [{plain(line.source)}]", "dim")), 6)
    if answer.needs:
        yield bulleted("→", Text(plain(answer.needs), style="green"), 6)


def _tells(one: Measure) -> bool:
    return max(one.before or 0.0, one.after or 0.0) >= 0.005


def _measure(one: Measure) -> Text:
    before, after = (_number(value) for value in (one.before, one.after))
    worse = ("  worse", "bold red") if one.worse else ("", "")
    return Text.assemble(f"{one.name:<40} {before:>9} → {after:>9} {one.unit}", worse)


def _number(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
