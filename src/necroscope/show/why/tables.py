"""What else was thought of, and what was not recorded: lists, which come last."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from necroscope.quantity import share
from necroscope.show.plain import plain
from necroscope.show.why.answer import process_in_words
from necroscope.show.why.evidence import claim
from necroscope.show.why.layout import bulleted, head, pairs
from necroscope.vocabulary.verdict import CandidateCause, Outcome, Verdict


def not_ruled_out(verdict: Verdict) -> Iterator[RenderableType]:
    """Who, or what, it may have been as well."""
    links = [one for one in verdict.links if one.kind == "not-ruled-out"]
    rows = [] if links else list(_rows(verdict, "not-ruled-out"))
    if links or rows:
        yield from head("Not ruled out")
    for link in links:
        yield from claim(link, 2)
    if rows:
        yield pairs("?", rows)


def tested(verdict: Verdict) -> Iterator[RenderableType]:
    """What was ruled out, and what could not be tested."""
    for words, sign, outcome in (("Ruled out", "✗", "ruled-out"), ("Not tested", "?", "untested")):
        if rows := list(_rows(verdict, outcome)):  # type: ignore[arg-type]
            yield from head(words)
            yield pairs(sign, rows)


def _rows(verdict: Verdict, outcome: Outcome) -> Iterator[tuple[str, str]]:
    for one in verdict.tested:
        if one.outcome == outcome:
            yield _name(one.hypothesis), one.because


def _name(hypothesis: str) -> str:
    """An id in words; what already is in words, as the name of a process, stays."""
    return hypothesis if " " in hypothesis else hypothesis.replace("-", " ")


def candidates(verdict: Verdict) -> Iterator[RenderableType]:
    """Causes that were weighed beside the one that is named."""
    others = verdict.candidates[1:] if verdict.cause is not None else verdict.candidates
    if others:
        yield from head("Other candidates" if verdict.cause is not None else "Candidates")
        yield pairs("~", ((_name(one.kind), _weighed(one)) for one in others))


def _weighed(one: CandidateCause) -> str:
    who = f", {process_in_words(one.process)}" if one.process is not None else ""
    where = f"core {one.cpu}{who}: " if one.cpu is not None else ""
    because = f"; {one.because}" if one.because else ""
    return f"{where}explains {share(one.explains)} of the lost time, confidence {one.confidence:.2f}{because}"


def not_recorded(verdict: Verdict) -> Iterator[RenderableType]:
    """What could not be seen, and what would make it visible."""
    if not verdict.missing:
        return
    yield from head("Not recorded")
    for one in verdict.missing:
        hint = (f" ({plain(one.hint)})", "dim") if one.hint else ""
        yield bulleted("?", Text.assemble(plain(one.what), hint))


def notes(verdict: Verdict) -> Iterator[RenderableType]:
    """What of the recording could not be read."""
    for note in verdict.notes:
        yield Text()
        yield Text(f"Note: {plain(note)}", style="dim")
