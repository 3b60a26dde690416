"""Who took the cores in a window: a table for people, and a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from necroscope.query.profile.looked import Looked
from necroscope.query.profile.tops import Top
from necroscope.show.caption import cores
from necroscope.show.cells import cut
from necroscope.show.plain import plain
from necroscope.show.window import headline, window_document

# Columns that figures take, and that names must leave to them.
_FIGURES, _FEW_FIGURES = 54, 30
_DETAIL = {"process": "pid", "thread": "tid", "function": "module", "self": "module"}


def print_top(looked: Looked, rows: Sequence[Top], most: int, by: str, out: Console) -> None:
    """The table, at most so many rows of it."""
    compared = looked.compared
    out.print(Text(headline(looked)))
    table = Table(box=None, pad_edge=False)
    table.add_column(by)
    table.add_column(_DETAIL.get(by, ""))
    timed = looked.profile.timed
    figures = ("cores", "of all", *(("before", "change", "chance") if compared else ()), "samples")
    for name in figures if timed else ("share", "samples"):
        table.add_column(name, justify="right", no_wrap=True)
    room = out.width - (_FIGURES if compared else _FEW_FIGURES)
    for row in rows[:most]:
        against = (cores(row.before or 0.0), _change(row), _chance(row.chance)) if compared else ()
        share = f"{100 * row.cores / looked.profile.cores:.1f} %"
        names = cut(plain(row.name), room * 3 // 5), cut(plain(row.detail), room * 2 // 5)
        cells = (*names, *((cores(row.cores),) if timed else ()), share, *against, f"{row.samples:,}")
        table.add_row(*(Text(cell, style="bold" if row.significant else "") for cell in cells))
    out.print(table)
    if len(rows) > most:
        out.print(Text(f"and {len(rows) - most:,} more (-n)", style="dim"))


def top_document(looked: Looked, rows: Sequence[Top], by: str) -> dict[str, Any]:
    """The document of `top --json`."""

    def row(one: Top) -> dict[str, Any]:
        lift = one.lift if one.lift is not None and one.lift != float("inf") else None
        return {**asdict(one), "lift": lift, "new": one.before == 0.0, "significant": one.significant}

    return {"schema": "necroscope.top/1", **window_document(looked), "by": by, "rows": [row(one) for one in rows]}


def _change(row: Top) -> str:
    if not row.before:
        return "new"
    change = f"{row.cores - row.before:+.3f}"
    return "0.000" if change[1:] == "0.000" else change


def _chance(chance: float) -> str:
    if chance >= 0.01:
        return "chance"
    return f"{chance:.0e}" if chance > 1e-99 else "0"
