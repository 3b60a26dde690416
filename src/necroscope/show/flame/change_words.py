"""A change between two windows in words: how likely by chance, and where it happens."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from necroscope.query.profile.changes import Step
from necroscope.show.cells import cut
from necroscope.show.frame_label import frame_label
from necroscope.show.plain import plain

_NAME = 200


def chance_said(chance: float) -> str:
    """How likely the change is by chance."""
    return f"{100 * chance:.2f} %" if chance >= 0.0001 else "<0.01 %"


def tail_of(path: Sequence[Step], width: int) -> str:
    """As many inner functions as fit in the width, innermost last; the innermost itself is cut when it must be."""
    names = [_said(step) for step in path]
    text = cut(names[-1], width)
    for place in range(len(names) - 2, -1, -1):
        longer = f"{names[place]} › {text}"
        if cell_len(longer) + (4 if place else 0) > width:
            return f"… › {text}" if cell_len(text) + 4 <= width else text
        text = longer
    return text


def _said(step: Step) -> str:
    """A function; recursion as `name ×3`."""
    name = plain(frame_label(step.name, step.module)[:_NAME])
    return name if step.times == 1 else f"{name} ×{step.times}"
