"""Text measured in the cells of a terminal: some characters take two, some none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    from rich.text import Text


def cut(text: str, width: int) -> str:
    """The text, or as much of it as fits, with a … at the end."""
    text = text[: 4 * max(0, width) + 4]
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1)}…" if width > 0 else ""


def padded(text: str, width: int) -> str:
    """Exactly `width` cells: cut, or filled with blanks."""
    text = cut(text, width)
    return text + " " * (width - cell_len(text))


def listed(parts: Iterable[str], width: int, between: str = " · ") -> list[str]:
    """The parts on as few lines as they fit in, never broken unless one is wider than a line."""
    lines: list[str] = []
    for part in parts:
        if not part:
            continue
        longer = f"{lines[-1]}{between}{part}" if lines else part
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(cut(part, width))
    return lines


def stacked(lines: Iterable[Text]) -> Text:
    """Lines as one text that is never wrapped."""
    from rich.text import Text

    whole = Text("\n", no_wrap=True, overflow="crop", end="").join(lines)
    whole.no_wrap, whole.overflow = True, "crop"
    return whole
