"""Every symptom of a recording, those of one cause together: a line of time for each, and where to read on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from necroscope.quantity import plural
from necroscope.show.caption import utc
from necroscope.show.cells import cut
from necroscope.show.plain import plain
from necroscope.show.why.answer import Known, root_cause
from necroscope.show.why.layout import WIDEST, indented, put, sentence
from necroscope.vocabulary.event import short_id
from necroscope.vocabulary.verdict import Complaint, Group


def print_groups(groups: Sequence[Group], console: Console, known: Known, notes: Sequence[str] = ()) -> None:
    """The groups, oldest first, on one axis of time; then what of the recording could not be read."""
    if groups:
        put(console, _all(groups, known, min(console.width, WIDEST)))
    elif notes:
        said = "The readable part of the recording holds no symptom: whether there was one cannot be told."
        put(console, [Text(said, style="bold yellow")])
    else:
        put(console, [Text("No symptom was recorded.", style="bold green")])
    for note in notes:
        put(console, [Text(), Text(f"Note: {plain(note)}", style="dim")])


def _all(groups: Sequence[Group], known: Known, width: int) -> Iterator[RenderableType]:
    total = sum(len(group.symptoms) for group in groups)
    times = [one.at_ns for group in groups for one in group.symptoms]
    span = min(times), max(times)
    causes = len({_key(group) for group in groups if group.verdict.cause is not None})
    found = f"{plural(total, 'symptom')}, {plural(causes, 'root cause') if causes else 'no cause found'}"
    yield Text.assemble((found, "bold"), (f" · {utc(span)}", "dim"))
    for group in groups:
        yield Text()
        yield from _group(group, known, span, width)


def _key(group: Group) -> object:
    cause = group.verdict.cause
    return None if cause is None else (cause.kind, cause.subject)


def _group(group: Group, known: Known, span: tuple[int, int], width: int) -> Iterator[RenderableType]:
    cause, number = group.verdict.cause, plural(len(group.symptoms), "symptom")
    if cause is None:
        yield Text(f"{number}: not enough evidence to name a cause", style="bold yellow")
    else:
        sure = f"confidence {cause.confidence:.2f}"
        yield root_cause(cause).append(f"  {plain(cause.kind)}  {sure}", style="not bold")
        title = known.titles.get(cause.kind, "")
        yield indented(Text(f"{number}. {sentence(title)}." if title else number))
    if span[1] > span[0]:
        yield Text(f"  {_timeline(group.symptoms, span, width - 4)}", no_wrap=True)
    kinds = ", ".join(sorted({plain(one.kind) for one in group.symptoms}))
    yield Text(f"  {cut(kinds, width - 2)}", style="dim")
    last = group.verdict.symptom or group.symptoms[-1]
    if last.id is not None:
        yield Text(f"  necroscope why --event {short_id(last.id)}", style="green")


def _timeline(symptoms: Sequence[Complaint], span: tuple[int, int], cells: int) -> str:
    marks = [0] * max(1, cells)
    for one in symptoms:
        marks[(one.at_ns - span[0]) * (len(marks) - 1) // (span[1] - span[0])] += 1
    return "".join("·" if not number else "▲" if number == 1 else str(min(9, number)) for number in marks)
