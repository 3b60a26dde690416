"""How a story is laid out: nothing is wider than a hundred cells, and what belongs below something is indented."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from necroscope.show.plain import plain

WIDEST = 100


def put(console: Console, things: Iterable[RenderableType]) -> None:
    """Print what is below each other."""
    for thing in things:
        console.print(thing, width=min(console.width, WIDEST))


def sentence(text: str) -> str:
    """Printable, and with a capital letter."""
    text = plain(text)
    return text[:1].upper() + text[1:]


def head(words: str) -> list[RenderableType]:
    """A blank line and the head of a section."""
    return [Text(), Text(words, style="bold cyan")]


def indented(thing: RenderableType, by: int = 2) -> Padding:
    """Moved to the right."""
    return Padding(thing, (0, 0, 0, by), expand=False)


def bulleted(sign: str, text: Text, by: int = 2) -> Padding:
    """A sign and its text; what does not fit in the line goes on below the text, not below the sign."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=len(sign))
    grid.add_column(overflow="fold")
    grid.add_row(Text(sign, style="dim"), text)
    return indented(grid, by)


def pairs(sign: str, rows: Iterable[tuple[str, str]]) -> Padding:
    """Names and what is said of them in two columns."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=len(sign))
    grid.add_column(max_width=20, overflow="fold")
    grid.add_column(overflow="fold")
    for name, said in rows:
        grid.add_row(Text(sign, style="dim"), Text(plain(name), style="bold"), Text(plain(said)))
    return indented(grid)
