"""Every symptom of a recording, those of one cause together: a line of time for each, and where to read on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from necroscope.quantity import plural, share
from necroscope.show.caption import utc
from necroscope.show.cells import cut
from necroscope.show.plain import plain
from necroscope.verdict import Complaint, Group

_WIDEST = 100


def print_groups(groups: Sequence[Group], console: Console, titles: dict[str, str], notes: Sequence[str] = ()) -> None:
    """The groups, oldest first, on one axis of time; then what of the recording could not be read."""
    width = min(console.width, _WIDEST)
    if groups:
        _print_all(groups, console, titles, width)
    elif notes:
        told = "No symptom is in what can be read of the recording: whether there was one cannot be told."
        console.print(Text(told, style="bold yellow"), width=width)
    else:
        console.print(Text("No symptom was recorded.", style="bold green"))
    for note in notes:
        console.print()
        console.print(Text(f"Note: {plain(note)}", style="dim"), width=width)


def _print_all(groups: Sequence[Group], console: Console, titles: dict[str, str], width: int) -> None:
    total = sum(len(group.symptoms) for group in groups)
    times = [one.at_ns for group in groups for one in group.symptoms]
    span = min(times), max(times)
    causes = len({_key(group) for group in groups if group.verdict.cause is not None})
    told = f"{plural(total, 'symptom')}, {plural(causes, 'cause') if causes else 'no cause found'}"
    console.print(Text.assemble((told, "bold"), (f" · {utc(span)}", "dim")), width=width)
    for group in groups:
        console.print()
        _print_group(group, console, titles, span, width)


def _key(group: Group) -> object:
    cause = group.verdict.cause
    return None if cause is None else (cause.kind, cause.subject)


def _print_group(group: Group, console: Console, titles: dict[str, str], span: tuple[int, int], width: int) -> None:
    cause = group.verdict.cause
    if cause is None:
        head = Text(f"? {plural(len(group.symptoms), 'symptom')} without a cause", style="bold yellow")
        body = "The evidence does not carry one."
    else:
        whom = f"{cause.subject.kind} {plain(cause.subject.name)}" if cause.subject else "nobody in particular"
        head = Text.assemble(
            ("✖ ", "bold red"), (whom, "bold"), f"  {cause.kind}", (f"  {share(cause.confidence)}", "dim")
        )
        body = f"{plural(len(group.symptoms), 'symptom')}: {plain(titles.get(cause.kind, ''))}"
    console.print(head, width=width)
    console.print(Padding(Text(body), (0, 0, 0, 2), expand=False), width=width)
    if span[1] > span[0]:
        console.print(Text(f"  {_timeline(group.symptoms, span, width - 4)}"), width=width, no_wrap=True)
    kinds = ", ".join(sorted({plain(one.kind) for one in group.symptoms}))
    console.print(Text(f"  {cut(kinds, width - 2)}", style="dim"), width=width)
    last = group.verdict.symptom or group.symptoms[-1]
    if last.id is not None:
        console.print(Text(f"  necroscope why --event {last.id}", style="green"), width=width)


def _timeline(symptoms: Sequence[Complaint], span: tuple[int, int], cells: int) -> str:
    marks = [0] * max(1, cells)
    for one in symptoms:
        marks[(one.at_ns - span[0]) * (len(marks) - 1) // (span[1] - span[0])] += 1
    return "".join("·" if not number else "▲" if number == 1 else str(min(9, number)) for number in marks)
