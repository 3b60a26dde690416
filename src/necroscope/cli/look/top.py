"""`necroscope top`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from necroscope.cli.shared.options import console, output_options
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.window_query import baseline_options, look, window_json
from necroscope.cli.shared.windows import Wanted, window_options

if TYPE_CHECKING:
    from necroscope.cli.shared.window_query import Looked
    from necroscope.query.profile.tops import Top

# Columns that figures take, and that names must leave to them.
_FIGURES, _FEW_FIGURES = 54, 30
_TASKS = ("process", "thread", "cgroup")
_DIMENSIONS = ("process", "thread", "function", "self", "cgroup", "module")


@click.command()
@click.option("--by", type=click.Choice(_DIMENSIONS), default="process", show_default=True, help="What a row is.")
@click.option("-n", "--most", type=click.IntRange(1), default=20, show_default=True, help="How many rows.")
@store_options
@window_options
@baseline_options
@output_options
def top(
    by: str,
    most: int,
    store: Path | None,
    wanted: Wanted,
    against: str,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """Who took the cores in a window, and what of it is unusual.

    Shares are of core time as the cores counted it, not of samples. Rows that differ from the same node at other times
    by more than chance come first, the largest change first; the others follow by size. `function` counts a function
    with everything that it calls, `module` a file with everything that its functions call, `self` the function alone.

    Exit code 3: most of the window was not recorded.

    \b
    Examples:
      necroscope top --event nic-reset --before 5s --after 0s
      necroscope top --by function --cpu 33 --at 14:03:07
      necroscope top --by cgroup --from -5m --against none
      necroscope top --by function --against healthy-node.perf.data
    """
    from necroscope.query.profile.tops import tops

    looked = look(store, wanted, against, no_color, quiet or as_json, detail="tasks" if by in _TASKS else "stacks")
    made = looked.profile
    rows = tops(made.counts, by, made.seconds, made.core_seconds, made.per_weight)  # type: ignore[arg-type]
    if as_json and not quiet:
        _print_json(looked, rows[:most], by)
    elif not quiet:
        _print_table(looked, rows, most, by, no_color)
    return looked.exit_code


def _print_json(looked: Looked, rows: list[Top], by: str) -> None:
    import json

    def row(one: Top) -> dict[str, Any]:
        lift = one.lift if one.lift is not None and one.lift != float("inf") else None
        return {**asdict(one), "lift": lift, "new": one.before == 0.0, "significant": one.significant}

    document = {"schema": "necroscope.top/1", **window_json(looked), "by": by, "rows": [row(one) for one in rows]}
    click.echo(json.dumps(document, indent=2))


def _print_table(looked: Looked, rows: list[Top], most: int, by: str, no_color: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from necroscope.show.caption import cores
    from necroscope.show.cells import cut
    from necroscope.show.plain import plain

    compared = looked.compared
    out = console(no_color)
    out.print(Text(looked.headline()))
    table = Table(box=None, pad_edge=False)
    detail = {"process": "pid", "thread": "tid", "function": "module", "self": "module"}.get(by, "")
    table.add_column(by)
    table.add_column(detail)
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


def _change(row: Top) -> str:
    if not row.before:
        return "new"
    change = f"{row.cores - row.before:+.3f}"
    return "0.000" if change[1:] == "0.000" else change


def _chance(chance: float) -> str:
    if chance >= 0.01:
        return "chance"
    return f"{chance:.0e}" if chance > 1e-99 else "0"
