"""Colours by how eyes see them: lightness, chroma and hue (OKLCH), turned into what screens and terminals take.

Equal steps of a scale look equally far apart, because its lightness rises evenly; so it also reads in grey.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal

Depth = Literal["none", "256", "true"]
"""How many colours a terminal has; with 16 or none, signs and shades say the same."""
Rgb = tuple[int, int, int]
Lab = tuple[float, float, float]
LEVELS = 64
# The nearest of the 256 colours would jump in lightness; these rise, step by step, through the same hues.
_HEAT_256 = (17, 54, 90, 126, 161, 197, 203, 209, 215, 222, 229)
_CUBE = (0, 95, 135, 175, 215, 255)


def depth_of(color_system: str | None) -> Depth:
    """The depth of a rich console's `color_system`."""
    return {"truecolor": "true", "256": "256"}.get(color_system or "", "none")  # type: ignore[return-value]


@cache
def oklch(lightness: float, chroma: float, hue: float) -> Rgb:
    """The colour of this lightness and hue, with as much of the chroma as screens can show."""
    low, high = 0.0, chroma
    if _shown(_linear(lightness, chroma, hue)):
        low = chroma
    else:
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if _shown(_linear(lightness, middle, hue)) else (low, middle)
    red, green, blue = (_encoded(part) for part in _linear(lightness, low, hue))
    return red, green, blue


def lab(colour: Rgb) -> Lab:
    """Where a colour lies among those that eyes can distinguish."""
    red, green, blue = (_decoded(part) for part in colour)
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    medium = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def hexed(colour: Rgb) -> str:
    """#rrggbb."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


@cache
def heat(level: int) -> Rgb:
    """The scale of heat maps, 0 to LEVELS - 1: from indigo through red to a light yellow."""
    part = level / (LEVELS - 1)
    return oklch(0.25 + 0.70 * part, 0.095 + 0.10 * math.sin(math.pi * part), 280 + 182 * part)


def level_of(part: float) -> int:
    """The level of a value from 0 to 1; what lies outside gets the nearest one."""
    return max(0, min(LEVELS - 1, int(part * LEVELS)))


@cache
def terminal(colour: Rgb, depth: Depth) -> str:
    """The colour as a terminal of this depth takes it, in rich's words; "default" where it has none."""
    if depth == "true":
        return hexed(colour)
    if depth == "none":
        return "default"
    wanted = lab(colour)
    return f"color({min(_xterm(), key=lambda entry: _apart(wanted, entry[1]))[0]})"


def heat_terminal(level: int, depth: Depth) -> str:
    """A colour of the heat scale in rich's words."""
    if depth == "256":
        return f"color({_HEAT_256[level * len(_HEAT_256) // LEVELS]})"
    return terminal(heat(level), depth)


def _apart(one: Lab, other: Lab) -> float:
    """How different two colours are. Hue counts more than lightness: a red that becomes orange says something else."""
    return (one[0] - other[0]) ** 2 + 2 * (one[1] - other[1]) ** 2 + 2 * (one[2] - other[2]) ** 2


@cache
def _xterm() -> tuple[tuple[int, Lab], ...]:
    """The fixed 240 of the 256 colours; users may have changed the first 16."""
    cube = [(_CUBE[n // 36], _CUBE[n // 6 % 6], _CUBE[n % 6]) for n in range(216)]
    greys = [(8 + 10 * n,) * 3 for n in range(24)]
    return tuple((16 + place, lab(colour)) for place, colour in enumerate(cube + greys))


def _linear(lightness: float, chroma: float, hue: float) -> Lab:
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _shown(parts: Lab) -> bool:
    return all(-1e-4 <= part <= 1 + 1e-4 for part in parts)


def _encoded(part: float) -> int:
    part = min(1.0, max(0.0, part))
    curved = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
    return round(255 * curved)


def _decoded(part: int) -> float:
    share = part / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
