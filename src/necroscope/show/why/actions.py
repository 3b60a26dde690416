"""What to do now: the remedies in their order, with their commands, and what none of them ends at once."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from necroscope.quantity import count
from necroscope.show.plain import plain
from necroscope.show.why.answer import accumulated, link_of
from necroscope.show.why.layout import bulleted, head, indented, sentence
from necroscope.vocabulary.verdict import Remedy, Verdict

HEAD = "What to do now"


def actions(verdict: Verdict) -> list[RenderableType]:
    """The section; nothing where nothing can be done."""
    if not verdict.remedies:
        return []
    first, *others = [bulleted(f"{number}.", _remedy(one)) for number, one in enumerate(verdict.remedies, 1)]
    limit = what_goes_on(verdict)
    return [*head(HEAD), first, *([indented(Text(limit, style="bold"), 5)] if limit else []), *others]


def what_goes_on(verdict: Verdict) -> str:
    """What the first remedy does not end, where what was left behind outlives it; empty: nothing."""
    left_behind = link_of(verdict, "accumulation") or link_of(verdict, "leak-source")
    if left_behind is None or not verdict.remedies or verdict.remedies[0].purges_existing:
        return ""
    line = accumulated(verdict)
    number = f"{count(line.value)} " if line is not None and isinstance(line.value, int | float) else ""
    return (
        f"Step 1 alone does not end the symptom: the {number}cgroups left behind stay, "
        "and it goes on until they are freed or the node reboots."
    )


def _remedy(remedy: Remedy) -> Text:
    text = Text(sentence(remedy.text or remedy.action))
    if remedy.command:
        text.append("\n").append(plain(remedy.command), style="bold green")
    facts = [f"{name}: {plain(value)}" for name, value in (("risk", remedy.risk), ("cost", remedy.cost)) if value]
    facts += ["frees what has accumulated"] if remedy.purges_existing else []
    return text.append(f"\n{' · '.join(facts)}", style="dim") if facts else text
