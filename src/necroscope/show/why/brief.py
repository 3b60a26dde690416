"""A verdict on one screen of 24 lines: the answer, what to do now, one line for each link.

Sentences are cut at the end of the line; a command is not, because half of one must not be run.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from necroscope.quantity import plural
from necroscope.show.cells import cut
from necroscope.show.plain import plain
from necroscope.show.why.actions import HEAD, what_goes_on
from necroscope.show.why.answer import HEADS, Known, answer, headline
from necroscope.show.why.layout import WIDEST, sentence
from necroscope.vocabulary.verdict import Remedy, Verdict

LINES = 24
_WHOLE_STORY = "the whole story: necroscope why without --brief"
_COMMAND_LINES_MOST = 5
_HEAD_WIDTH = 23


def print_brief(verdict: Verdict, console: Console, known: Known) -> None:
    """At most 24 lines."""
    width = min(console.width, WIDEST)
    lines = [headline(verdict), *_answer(verdict, known, width), *_actions(verdict, width)]
    rest = [*_links(verdict), *_missing(verdict, width)]
    room = LINES - 1 - len(lines)
    if len(rest) > room:
        more = len(rest) - room + 1
        rest = [*rest[: room - 1], Text(f"  and {plural(more, 'line')} more", style="dim")]
    end = [Text(_WHOLE_STORY, style="dim")] if verdict.symptom is not None else []
    for line in (*lines, *rest, *end):
        console.print(_cut(line, width), width=width, no_wrap=True, overflow="crop")


def _cut(line: Text, width: int) -> Text:
    return line if line.cell_len <= width else Text(cut(line.plain, width), line.style)


def _answer(verdict: Verdict, known: Known, width: int) -> Iterator[Text]:
    """Without the sentences that are in the links."""
    for about, line in answer(verdict, known).items():
        if about in ("on-core", "confidence"):
            yield from _wrapped(line.plain, width)
        elif about != "core":
            yield Text("  ").append_text(line)


def _actions(verdict: Verdict, width: int) -> Iterator[Text]:
    if not verdict.remedies:
        return
    yield Text(HEAD, style="bold cyan")
    first = verdict.remedies[0]
    yield Text(f"  1. {sentence(first.text or first.action)}")
    yield from _command(first, width)
    if text := what_goes_on(verdict):
        yield from _wrapped(text, width)


def _command(remedy: Remedy, width: int) -> Iterator[Text]:
    if not remedy.command:
        return
    lines = chop_cells(plain(remedy.command), width - 5)
    if len(lines) > _COMMAND_LINES_MOST:
        yield Text("     its command is too long for this screen", style="dim")
        return
    for line in lines:
        yield Text(f"     {line}", style="bold green")


def _wrapped(text: str, width: int) -> Iterator[Text]:
    """On two lines at most."""
    words = text.split(" ")
    first = next((n for n in range(len(words), 0, -1) if cell_len(" ".join(words[:n])) <= width - 2), 1)
    yield Text(f"  {' '.join(words[:first])}")
    if words[first:]:
        yield Text(f"  {' '.join(words[first:])}")


def _links(verdict: Verdict) -> Iterator[Text]:
    """What may have been it as well comes first where nobody is named."""
    shown = [one for one in verdict.links if one.kind not in ("symptom", "subject")]
    if shown:
        yield Text("Evidence", style="bold cyan")
    for link in sorted(shown, key=lambda one: verdict.cause is None and one.kind != "not-ruled-out"):
        strength = f"{link.strength:.2f}" if link.strength is not None else ""
        yield Text(f"  {cut(HEADS[link.kind], _HEAD_WIDTH):<{_HEAD_WIDTH}} {strength:<4} {plain(link.claim)}")


def _missing(verdict: Verdict, width: int) -> Iterator[Text]:
    if verdict.missing:
        more = f" and {len(verdict.missing) - 1} more" if len(verdict.missing) > 1 else ""
        yield Text(f"{cut(f'  Not recorded: {plain(verdict.missing[0].what)}', width - len(more))}{more}")
