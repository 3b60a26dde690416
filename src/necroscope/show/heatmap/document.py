"""A heat map as a document."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from necroscope.clock import NS, iso
from necroscope.query.cores.grid import Grid
from necroscope.query.cores.hottest import HotRow


def heatmap_document(grid: Grid, hottest: Iterable[HotRow]) -> dict[str, Any]:
    """The document of `heatmap --json`; what is not known is null."""
    values = [[None if math.isnan(cell) else round(cell, 4) for cell in row] for row in grid.values.tolist()]
    return {
        "schema": "necroscope.heatmap/1",
        "from": iso(grid.from_ns),
        "column_s": grid.column_ns / NS,
        "unit": grid.unit,
        "rows": [{"name": name, "values": row} for name, row in zip(grid.rows, values, strict=True)],
        "marks": [
            {"column": round(mark.column, 3), "kind": mark.kind, "text": mark.text, "event": str(mark.event_id)}
            for mark in grid.marks
        ],
        "hottest": [
            {"row": hot.row, "mean": round(hot.mean, 4), "most": round(hot.most, 4), "at": iso(hot.at_ns)}
            for hot in hottest
        ],
    }
