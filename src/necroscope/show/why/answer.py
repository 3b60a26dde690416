"""The answer: whether there is a cause, which, by what, how sure that is, and whether it helps to stop who was on the
core. One sentence a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.text import Text

from necroscope.show.plain import plain
from necroscope.show.why.layout import sentence
from necroscope.vocabulary.model import Evidence, Subject
from necroscope.vocabulary.verdict import Cause, Link, LinkKind, ProcessRef, Verdict

HEADS: dict[LinkKind, str] = {
    "symptom": "Symptom",
    "starved-core": "Starved core",
    "blocked": "Blocked tasks",
    "on-core": "On the core",
    "mechanism": "Mechanism",
    "ordered-by": "Ordered by",
    "accumulation": "Accumulation",
    "leak-source": "Source of the leak",
    "subject": "Whom to act on",
    "why-it-runs": "Why the unit is running",
    "recurrence": "Seen before",
    "projection": "When it comes back",
    "not-ruled-out": "Not ruled out",
}
"""What each kind of link is called."""
_FOUND = {
    "explained": ("ROOT CAUSE FOUND", "bold red"),
    "partly-explained": ("PROBABLE CAUSE, PARTLY EXPLAINED", "bold yellow"),
    "unexplained": ("NOT ENOUGH EVIDENCE TO NAME A CAUSE", "bold yellow"),
    "no-symptom": ("NOTHING TO EXPLAIN", "bold green"),
}
_INCONCLUSIVE = ("INCONCLUSIVE", "bold yellow")
CATALOGUE = "mechanisms"
"""The source of what is known of a mechanism in general, which is no measurement."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the catalogue says of hypotheses, by id: how each is called in a sentence, and the role of whoever is on the
    core (culprit, walker or kernel)."""

    titles: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)


def outcome(verdict: Verdict) -> tuple[str, str]:
    """The outcome in capitals, and its style in a terminal."""
    return _INCONCLUSIVE if verdict.inconclusive else _FOUND[verdict.verdict]


def headline(verdict: Verdict) -> Text:
    """The outcome, and the kind of the cause."""
    words, style = outcome(verdict)
    kind = f"  {plain(verdict.cause.kind)}" if verdict.cause is not None else ""
    return Text.assemble((words, style), (kind, "bold"))


def answer(verdict: Verdict, known: Known) -> dict[str, Text]:
    """The sentences below the headline, by what they are about, in their order."""
    lines = {"cause": _cause(verdict)}
    if verdict.symptom is not None and (symptom := link_of(verdict, "symptom")) is not None:
        lines["symptom"] = Text(f"Symptom: {plain(symptom.claim)}")
    if verdict.cause is not None:
        core = link_of(verdict, "starved-core")
        lines["mechanism"] = Text(_mechanism(verdict, known))
        lines["core"] = Text(f"{sentence(core.claim)}." if core is not None else "")
        lines["on-core"] = Text(_on_core(verdict, verdict.cause, known))
        lines["confidence"] = confidence(verdict.cause, verdict.weakest)
    return {about: line for about, line in lines.items() if line}


def _cause(verdict: Verdict) -> Text:
    if verdict.cause is not None:
        return root_cause(verdict.cause)
    if verdict.verdict == "no-symptom":
        return Text("No symptom was recorded, and no core was starved for long without one.")
    if verdict.inconclusive:
        return Text("Whether there was a symptom cannot be told from this recording.")
    return Text()


def root_cause(cause: Cause) -> Text:
    """Whom to act on."""
    if cause.subject is None:
        return Text("Whom to act on could not be shown.", style="bold")
    return Text.assemble("Root cause: ", (f"{cause.subject.kind} {plain(cause.subject.name)}", "bold"))


def link_of(verdict: Verdict, kind: LinkKind) -> Link | None:
    """The first link of a kind."""
    return next((one for one in verdict.links if one.kind == kind), None)


def confidence(cause: Cause, weakest: Link | None) -> Text:
    """The confidence and the link that it suffers most from."""
    line = Text.assemble("Confidence ", (f"{cause.confidence:.2f}", "bold"))
    if weakest is None or weakest.strength is None:
        return line
    because = f", because {plain(weakest.doubt)}" if weakest.doubt else ""
    return line.append(f"; weakest link: {HEADS[weakest.kind].lower()} {weakest.strength:.2f}{because}")


def process_in_words(process: ProcessRef) -> str:
    """Name and pid, where one is known."""
    return f"{plain(process.name)}{_pid(process)}"


def _pid(process: ProcessRef) -> str:
    return f" (pid {process.pid})" if process.pid is not None else ""


# -- by what, and who was on the core ------------------------------------------------------------------------


def _mechanism(verdict: Verdict, known: Known) -> str:
    """The mechanism with its most telling number: of what has accumulated, else of what confirms it."""
    link, cause = link_of(verdict, "mechanism"), verdict.cause
    if link is None or cause is None:
        return ""
    line = accumulated(verdict)
    if line is None and link.claim == known.titles.get(cause.kind):
        measured = [one for one in link.evidence if one.source != CATALOGUE and one.text != link.claim]
        line = next(iter(measured[1:] or measured), None)
    return f"{sentence(link.claim)}{f': {plain(line.text)}' if line is not None else ''}."


def accumulated(verdict: Verdict) -> Evidence | None:
    """How much was left behind; None where nothing was, or nobody counted it."""
    link = link_of(verdict, "accumulation")
    return next((line for line in link.evidence if line.unit == "cgroups"), None) if link is not None else None


def _on_core(verdict: Verdict, cause: Cause, known: Known) -> str:
    process, subject = cause.process, cause.subject
    if process is None:
        return ""
    where = f"Core {cause.cpu} was running" if cause.cpu is not None else "The core was running"
    role = known.roles.get(cause.kind, "")
    itself = subject is not None and subject.kind == "process" and _same(process, subject)
    who = f"that process itself{_pid(process)}" if itself else process_in_words(process)
    if role == "walker" and not itself:
        return f"{where} {who}, a bystander: stopping it would not help."
    if role == "kernel" and not itself:
        return f"{where} {who}, which does what others ordered: stopping it would not help."
    helps = ": stopping it would help" if role == "culprit" and verdict.verdict == "explained" else ""
    return f"{where} {who}{helps}."


def _same(process: ProcessRef, subject: Subject) -> bool:
    return subject.name == process.name or subject.name.startswith(f"{process.name} ")
