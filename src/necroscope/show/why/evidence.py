"""The links from the symptom to its cause, numbered, each with its evidence, its strength and its doubt."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from necroscope.show.cells import stacked
from necroscope.show.plain import plain
from necroscope.show.why.answer import CATALOGUE, HEADS
from necroscope.show.why.layout import bulleted, indented
from necroscope.show.why.pictures import core_strip, growth_caption, growth_chart
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import Link, Verdict

_LINES_MOST = 6


def evidence(verdict: Verdict, width: int) -> Iterator[RenderableType]:
    """Every link but those that are listed as not ruled out."""
    made = (one for one in verdict.links if one.kind != "not-ruled-out")
    for number, link in enumerate(made, 1):
        yield Text()
        strength = f"  {link.strength:.2f}" if link.strength is not None else ""
        yield Text.assemble((f"{number:>2}  ", "dim"), (HEADS[link.kind], "bold cyan"), (strength, "dim"))
        yield from claim(link, 4)
        yield from _picture(link, verdict, width)


def claim(link: Link, by: int) -> Iterator[RenderableType]:
    """What a link says, its evidence, what is known in general, and its doubt."""
    yield indented(Text(plain(link.claim), style="bold"), by)
    measured = [line for line in link.evidence if line.text != link.claim and line.source != CATALOGUE]
    for line in measured[:_LINES_MOST]:
        yield bulleted("•", _line(line), by + 2)
    if len(measured) > _LINES_MOST:
        yield bulleted("•", Text(f"and {len(measured) - _LINES_MOST} more (--json)", style="dim"), by + 2)
    for line in link.evidence:
        if line.source == CATALOGUE:
            yield indented(Text(plain(line.text)), by + 2)
    if link.doubt:
        yield bulleted("?", Text(f"doubt: {plain(link.doubt)}"), by + 2)


def _line(line: Evidence) -> Text:
    return Text.assemble(plain(line.text), (f"  [{plain(line.source)}]", "dim"))


def _picture(link: Link, verdict: Verdict, width: int) -> list[RenderableType]:
    """The picture that belongs to a link."""
    room = width - 4
    if link.kind == "starved-core" and verdict.strip is not None:
        at_ns = verdict.symptom.at_ns if verdict.symptom is not None else None
        lines = core_strip(verdict.strip, at_ns, room)
        return [Text(), indented(stacked(lines), 4)] if lines else []
    if link.kind == "accumulation" and verdict.growth is not None:
        lines = growth_chart(verdict.growth, room)
        caption = Text(growth_caption(verdict.growth), style="dim")
        return [Text(), indented(caption, 4), indented(stacked(lines), 4)] if lines else []
    return []
