"""The scale of a heat map: its hottest value, and shares as percent."""

from __future__ import annotations

import numpy as np

from necroscope.query.cores.grid import Grid


def scale_of(grid: Grid, top: float | None) -> float:
    """The value with the hottest colour: `top`, or else the highest value there is."""
    if top is not None and top > 0:
        return top
    known = grid.values[np.isfinite(grid.values)]
    return max(float(known.max()), 1e-9) if known.size else 1.0


def percent(part: float) -> str:
    """98 %; with a decimal below ten."""
    return f"{100 * part:.0f} %" if part >= 0.0995 or part <= 0 else f"{100 * part:.1f} %"
