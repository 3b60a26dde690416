"""Which colour a box of a flame graph has, on paper and in a terminal alike. Dark text reads well on all of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Literal

from necroscope.query.profile.flame import Box, Flame
from necroscope.sense.perf.modules import in_kernel
from necroscope.show.shade import Rgb, oklch

Kind = Literal["kernel", "library", "program", "thread"]
KINDS: tuple[Kind, ...] = ("thread", "program", "library", "kernel")
INK: Rgb = (20, 20, 24)
"""Text on a box."""
MERGED: Rgb = (168, 168, 174)
"""Several boxes that are too narrow to be distinguished."""
# Hues that stay different for the colour-blind; red and blue are kept for differences.
_HUES: dict[Kind, tuple[float, float]] = {
    "kernel": (0.115, 62.0),
    "library": (0.085, 180.0),
    "program": (0.085, 300.0),
    "thread": (0.012, 260.0),
}
_MORE, _LESS = 26.0, 255.0


def kind_of(box: Box) -> Kind:
    """Where the code of a box lies; `thread` is what has no code: the whole, and thread names."""
    module = box.module
    if not module or module == "[cut]":
        return "thread"
    if in_kernel(module):
        return "kernel"
    return "library" if ".so" in module or module in {"[vdso]", "[anon]"} else "program"


def kind_colour(kind: Kind, name: str = "") -> Rgb:
    """The colour of a kind; a little lighter or darker by name, so that neighbours differ, always the same way."""
    chroma, hue = _HUES[kind]
    off = (zlib.crc32(name.encode("utf-8", "replace")) % 7 - 3) * 0.012 if name else 0.0
    return oklch(0.82 + off, chroma, hue)


def change_colour(box: Box, largest: float) -> Rgb:
    """Red for more, blue for less, stronger with the size; grey for what may be chance.

    `largest` is the largest significant change of the picture, up or down.
    """
    if not box.significant or not box.change:
        return oklch(0.86 + (zlib.crc32(box.name.encode("utf-8", "replace")) % 5 - 2) * 0.012, 0.004, 260.0)
    size = round(12 * min(1.0, abs(box.change) / max(largest, 1e-12)) ** 0.5) / 12
    return oklch(0.84 - 0.20 * size, 0.07 + 0.12 * size, _MORE if box.change > 0 else _LESS)


def colours(flame: Flame) -> Callable[[Box], Rgb]:
    """The colour of each box of this graph."""
    if not flame.differential:
        return lambda box: kind_colour(kind_of(box), box.name)
    largest = largest_change(flame)
    return lambda box: change_colour(box, largest)


def largest_change(flame: Flame) -> float:
    """The largest significant change, up or down; 0 when there is none."""
    return max((abs(box.change) for box in flame.boxes if box.significant), default=0.0)


def sign_of(box: Box) -> str:
    """+ or - for a significant change, so that it is seen without colours; else nothing."""
    return "" if not box.significant or not box.change else "+" if box.change > 0 else "-"
