"""A verdict for people: the answer and what to do now, then the evidence, then what else was thought of.

Text of the node goes in as `Text`, never as markup, and unprintable characters are written out.
"""

from __future__ import annotations

from rich.console import Console

from necroscope.show.why import tables
from necroscope.show.why.actions import actions
from necroscope.show.why.answer import Known, answer, headline
from necroscope.show.why.evidence import evidence
from necroscope.show.why.layout import WIDEST, indented, put
from necroscope.vocabulary.verdict import Verdict


def print_story(verdict: Verdict, console: Console, known: Known) -> None:
    """The whole story. Where no cause is named, what may have been it and what is missing come first."""
    named = verdict.cause is not None
    put(console, [headline(verdict), *(indented(line) for line in answer(verdict, known).values())])
    put(console, actions(verdict))
    links = evidence(verdict, min(console.width, WIDEST))
    others = [*tables.tested(verdict), *tables.candidates(verdict)]
    if named:
        put(console, [*links, *tables.not_ruled_out(verdict), *others, *tables.not_recorded(verdict)])
    else:
        put(console, [*tables.not_ruled_out(verdict), *tables.not_recorded(verdict), *links, *others])
    put(console, tables.notes(verdict))
