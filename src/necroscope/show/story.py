"""A verdict as a story that is read from top to bottom: the answer, the chain that leads to it, what was ruled out,
what could not be seen, and what to do.

Text of the node goes in as `Text`, never as markup, and unprintable characters are written out.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from necroscope.model import Evidence, Subject
from necroscope.quantity import share
from necroscope.show.cells import stacked
from necroscope.show.plain import plain
from necroscope.show.story_pictures import core_strip, growth_caption, growth_chart
from necroscope.verdict import Cause, Claim, Missing, ProcessRef, Rejected, Remedy, Verdict

HEADS = {
    "symptom": "What happened",
    "starved-core": "Which core was taken",
    "victim": "Who waited for it",
    "walker": "Who was on it",
    "orderer": "Who ordered that work",
    "mechanism": "Why that takes so long",
    "grew": "What piled up",
    "leak-source": "Who leaves it behind",
    "why-it-runs": "Why that runs at all",
    "not-ruled-out": "What is not ruled out",
    "recurrence": "Did it happen before",
    "projection": "When it comes back",
    "pattern": "The pattern",
}
_VERDICTS = {
    "explained": ("✖ EXPLAINED", "bold red"),
    "partly-explained": ("▲ PARTLY EXPLAINED", "bold yellow"),
    "unexplained": ("? UNEXPLAINED", "bold yellow"),
    "no-symptom": ("✔ NOTHING TO EXPLAIN", "bold green"),
}
_INCONCLUSIVE = ("? INCONCLUSIVE", "bold yellow")
_MOST_EVIDENCE = 6
# What is known of a mechanism is no measurement: it is told as prose.
_CATALOGUE = "mechanisms"
_WIDEST = 100


def print_story(verdict: Verdict, console: Console, titles: dict[str, str], innocent: frozenset[str]) -> None:
    """The whole story. `titles` are those of mechanisms; in those of `innocent`, who was on the core only pays."""
    width = min(console.width, _WIDEST)

    def put(*things: RenderableType) -> None:
        for thing in things:
            console.print(thing, width=width)

    put(*_answer(verdict, titles, innocent))
    for number, claim in enumerate(verdict.chain, 1):
        put(Text(), *_claim(number, claim))
        put(*_picture(claim, verdict, width))
    put(*_rejected(verdict.rejected))
    put(*_missing(verdict.missing))
    put(*_remedies(verdict.remedies))
    for note in verdict.notes:
        put(Text(), Text(f"Note: {plain(note)}", style="dim"))


# -- the answer ------------------------------------------------------------------------------------------------


def _answer(verdict: Verdict, titles: dict[str, str], innocent: frozenset[str]) -> Iterable[RenderableType]:
    words, style = _INCONCLUSIVE if verdict.inconclusive else _VERDICTS[verdict.verdict]
    cause = verdict.cause
    line = Text.assemble((words, style))
    if cause is not None:
        line.append("  ").append(cause.kind, style="bold").append(
            f"   confidence {share(cause.confidence)}", style="dim"
        )
    yield line
    if cause is None:
        yield _indented(Text(_without_cause(verdict)))
        return
    if cause.subject is not None:
        yield _indented(Text.assemble((_whom(cause.subject), "bold"), " is behind it."))
    else:
        yield _indented(Text("Who is behind it could not be told.", style="bold"))
    if title := titles.get(cause.kind):
        yield _indented(Text(f"{_sentence(title)}."))
    if on_core := _on_core(cause, cause.kind in innocent):
        yield _indented(Text(on_core))


def _without_cause(verdict: Verdict) -> str:
    if verdict.verdict == "no-symptom":
        return "No symptom was recorded, and no core was taken for long without one."
    if verdict.inconclusive:
        return "Whether there was a symptom cannot be told from this recording. Why not is below."
    return "The evidence does not carry a cause. What is known and what is missing is below."


def _whom(subject: Subject) -> str:
    return f"{subject.kind} {plain(subject.name)}"


def _on_core(cause: Cause, pays: bool) -> str:
    process, subject = cause.process, cause.subject
    if process is None:
        return ""
    where = f"On core {cause.cpu} was" if cause.cpu is not None else "On the core was"
    if subject is not None and subject.kind == "process" and _same(process, subject):
        return f"{where} that process itself." if cause.cpu is not None else ""
    role = ": it pays for what others left, stopping it would not help." if pays and subject is not None else "."
    return f"{where} {_process(process)}{role}"


def _same(process: ProcessRef, subject: Subject) -> bool:
    return subject.name == process.name or subject.name.startswith(f"{process.name} ")


def _process(process: ProcessRef) -> str:
    return plain(process.name) + (f" (pid {process.pid})" if process.pid is not None else "")


# -- the chain -----------------------------------------------------------------------------------------------


def _claim(number: int, claim: Claim) -> Iterable[RenderableType]:
    head = HEADS.get(claim.kind, claim.kind.replace("-", " ").capitalize())
    yield Text.assemble((f"{number:>2}  ", "dim"), (head, "bold cyan"))
    yield _indented(Text(plain(claim.claim), style="bold"), 4)
    told = [line for line in claim.evidence if line.text != claim.claim and line.source != _CATALOGUE]
    for line in told[:_MOST_EVIDENCE]:
        yield _bulleted("•", _evidence(line))
    if len(told) > _MOST_EVIDENCE:
        yield _bulleted("•", Text(f"and {len(told) - _MOST_EVIDENCE} more (--json)", style="dim"))
    for line in claim.evidence:
        if line.source == _CATALOGUE:
            yield _indented(Text(plain(line.text)), 6)


def _evidence(line: Evidence) -> Text:
    return Text.assemble(plain(line.text), (f"  [{plain(line.source)}]", "dim"))


def _picture(claim: Claim, verdict: Verdict, width: int) -> list[RenderableType]:
    """The picture that belongs to a claim."""
    room = width - 4
    if claim.kind == "starved-core" and verdict.strip is not None:
        at_ns = verdict.symptom.at_ns if verdict.symptom is not None else None
        lines = core_strip(verdict.strip, at_ns, room)
        return [Text(), _indented(stacked(lines), 4)] if lines else []
    if claim.kind == "grew" and verdict.growth is not None:
        lines = growth_chart(verdict.growth, room)
        caption = Text(growth_caption(verdict.growth), style="dim")
        return [Text(), _indented(caption, 4), _indented(stacked(lines), 4)] if lines else []
    return []


# -- what else was thought of, what is missing, what to do -----------------------------------------------------


def _rejected(rivals: tuple[Rejected, ...]) -> list[RenderableType]:
    tested = [one for one in rivals if one.tested]
    untested = [one for one in rivals if not one.tested]
    lines: list[RenderableType] = []
    if tested:
        lines += [Text(), Text("It was not", style="bold")]
        lines.append(_pairs("✗", ((one.hypothesis, one.because) for one in tested)))
    if untested:
        lines += [Text(), Text("Could not be tested", style="bold")]
        lines.append(_pairs("?", ((one.hypothesis, one.because) for one in untested)))
    return lines


def _pairs(sign: str, pairs: Iterable[tuple[str, str]]) -> RenderableType:
    """Names and reasons in two columns."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(max_width=20, overflow="fold")
    grid.add_column(overflow="fold")
    for name, reason in pairs:
        grid.add_row(Text(sign, style="dim"), Text(plain(name.replace("-", " ")), style="bold"), Text(plain(reason)))
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _missing(missing: tuple[Missing, ...]) -> list[RenderableType]:
    if not missing:
        return []
    lines: list[RenderableType] = [Text(), Text("What could not be seen", style="bold")]
    for one in missing:
        hint = (f" ({plain(one.hint)})", "dim") if one.hint else ""
        lines.append(_bulleted("?", Text.assemble(plain(one.what), hint), 2))
    return lines


def _remedies(remedies: tuple[Remedy, ...]) -> list[RenderableType]:
    if not remedies:
        return []
    lines: list[RenderableType] = [Text(), Text("What to do", style="bold")]
    for one in remedies:
        lines.append(_bulleted("→", _remedy(one), 2))
    return lines


def _remedy(remedy: Remedy) -> Text:
    text = Text(plain(_sentence(remedy.text or remedy.action)))
    if remedy.command:
        text.append("\n").append(plain(remedy.command), style="bold green")
    facts = [f"{name}: {plain(value)}" for name, value in (("risk", remedy.risk), ("cost", remedy.cost)) if value]
    facts += ["frees what has piled up"] if remedy.purges_existing else []
    return text.append(f"\n{' · '.join(facts)}", style="dim") if facts else text


def _sentence(text: str) -> str:
    text = plain(text)
    return text[:1].upper() + text[1:]


def _indented(thing: RenderableType, by: int = 2) -> Padding:
    return Padding(thing, (0, 0, 0, by), expand=False)


def _bulleted(sign: str, text: Text, by: int = 6) -> Padding:
    """A sign and its text; what does not fit in the line goes on below the text, not below the sign."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    grid.add_row(Text(sign, style="dim"), text)
    return Padding(grid, (0, 0, 0, by), expand=False)
