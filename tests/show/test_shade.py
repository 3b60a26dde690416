"""Colours: evenly spaced for the eye, and the same on fewer colours."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from necroscope.show.shade import LEVELS, depth_of, heat, heat_terminal, hexed, lab, level_of, oklch, terminal


def test_known_colours() -> None:
    assert oklch(0.0, 0.0, 0.0) == (0, 0, 0)
    assert oklch(1.0, 0.0, 0.0) == (255, 255, 255)
    assert oklch(0.628, 0.2577, 29.23) == (255, 0, 0)
    assert hexed((1, 171, 255)) == "#01abff"


def test_what_no_screen_can_show_loses_chroma_and_keeps_its_lightness() -> None:
    assert lab(oklch(0.7, 0.5, 150.0))[0] == pytest.approx(0.7, abs=0.01)


def test_the_scale_rises_evenly_in_lightness() -> None:
    lightness = [lab(heat(level))[0] for level in range(LEVELS)]
    steps = [after - before for before, after in pairwise(lightness)]
    assert lightness[0] < 0.3
    assert lightness[-1] > 0.9
    assert min(steps) > 0.005
    assert max(steps) < 0.018


def test_the_scale_rises_on_256_colours_too() -> None:
    cube = (0, 95, 135, 175, 215, 255)
    numbers = list(dict.fromkeys(int(heat_terminal(level, "256")[6:-1]) - 16 for level in range(LEVELS)))
    lightness = [lab((cube[n // 36], cube[n // 6 % 6], cube[n % 6]))[0] for n in numbers]
    assert len(numbers) >= 10
    assert lightness == sorted(lightness)


def test_neighbouring_levels_differ_less_than_the_ends() -> None:
    assert math.dist(lab(heat(0)), lab(heat(LEVELS - 1))) > 20 * math.dist(lab(heat(31)), lab(heat(32)))


def test_levels_of_values() -> None:
    assert (level_of(0.0), level_of(0.5), level_of(1.0)) == (0, LEVELS // 2, LEVELS - 1)
    assert (level_of(-3.0), level_of(7.0)) == (0, LEVELS - 1)


def test_depths() -> None:
    assert [depth_of(name) for name in ("truecolor", "256", "standard", "windows", None)] == [
        "true",
        "256",
        "none",
        "none",
        "none",
    ]
    assert terminal((255, 0, 0), "true") == "#ff0000"
    assert terminal((255, 0, 0), "256") == "color(196)"
    assert terminal((255, 0, 0), "none") == "default"
