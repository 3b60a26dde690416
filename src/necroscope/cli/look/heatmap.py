"""`necroscope heatmap`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.blindness import refuse_blank, without_samples
from necroscope.cli.shared.notes import say
from necroscope.cli.shared.options import console
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.window_query import nothing, write
from necroscope.cli.shared.windows import Wanted, chosen, window_options

if TYPE_CHECKING:
    from necroscope.query.cores.grid import Grid, Mark
    from necroscope.query.select import Select
    from necroscope.show.caption import Caption
    from necroscope.store.read.reader import Snapshot, Store

_LOOKS = ("busy", "system", "user", "irq", "steal", "idle")
_SUFFIXES = (".svg", ".png")
_COLUMNS = 600
_MARKS = 200
_HOTTEST = 5


@click.command()
@store_options
@click.option("--of", "what", type=click.Choice(_LOOKS), default="busy", show_default=True, help="What is shown.")
@click.option("--sub-second", is_flag=True, help="Offset within the second by second, from the samples.")
@window_options
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="FILE.svg or FILE.png.")
@click.option("--rows", type=click.IntRange(4, 200), default=32, show_default=True, help="Lines in the terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the grid as one JSON document (docs/json.md).")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but what was asked for.")
@click.option("--no-color", is_flag=True, help="No colours (NO_COLOR is honoured too).")
def heatmap(
    store: Path | None,
    what: str,
    sub_second: bool,
    wanted: Wanted,
    output: Path | None,
    rows: int,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> None:
    """Each core over time: one starved core among many is seen at once, with the symptoms and marks beside it.

    A cell shows the worst second of its time, never a mean. `--sub-second` shows what the seconds look like inside
    (rows: offset within the second), for patterns that repeat faster than that.

    \b
    Examples:
      necroscope heatmap --from -10m
      necroscope heatmap --of system --event nic-reset --before 60s -o reset.svg
      necroscope heatmap --sub-second --cpu 33 --from -1m
    """
    from necroscope.errors import BadInput
    from necroscope.query.sealed import again
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    if output is not None and output.suffix not in _SUFFIXES:
        raise BadInput(f"{output} names no picture that can be drawn.", f"end it with {' or '.join(_SUFFIXES)}")
    if not sub_second and (wanted.processes or wanted.threads or wanted.cgroups or wanted.event_types):
        raise BadInput(
            "What a core counts does not tell who it worked for.", "add --sub-second, which shows samples, or use `top`"
        )
    opened = Store(to_read(store))
    refuse_blank(opened)
    select, words = chosen(opened, wanted, counters=not sub_second)
    out = console(no_color)
    columns = _COLUMNS if output is not None or as_json else max(20, out.width - 12)
    notes: list[str] = []
    grid = again(lambda: _grid(opened, select, what, sub_second, columns, notes))
    say(notes)
    if not grid.values.size and sub_second:
        raise nothing(opened, words, select, notes)
    if not grid.values.size:
        error = BadInput(
            f"Nobody looked at the counters of the cores in {words}.",
            "give a window of a recording; imported profiles have samples only, which --sub-second shows",
        )
        raise without_samples(opened, error)
    if as_json:
        _print_json(grid)
    elif output is not None:
        _draw(grid, select, output, sub_second, quiet)
    elif not quiet:
        from necroscope.show.heatmap.text import heat_text
        from necroscope.show.shade import depth_of

        depth = "none" if out.no_color else depth_of(out.color_system)
        top = None if sub_second else 1.0
        out.print(heat_text(grid, out.width, depth, _caption(select), max_lines=rows, top=top))


def _grid(store: Store, select: Select, what: str, sub_second: bool, columns: int, notes: list[str]) -> Grid:
    from necroscope.query.cores.core_heat import around, core_heat

    snapshot = store.snapshot(around(select.window))
    if sub_second:
        import numpy as np

        from necroscope.query.cores.core_time import core_time
        from necroscope.query.cores.sub_seconds import sub_seconds

        times = core_time(snapshot, [select.window], notes).of(select.cpus)
        grid = sub_seconds(snapshot, select, len(np.unique(times.cpu)), columns, notes)
    else:
        grid = core_heat(snapshot, select, what, columns, notes)
    return replace(grid, marks=_marks(snapshot, select, grid))


def _marks(snapshot: Snapshot, select: Select, grid: Grid) -> tuple[Mark, ...]:
    from necroscope.query.cores.grid import Mark
    from necroscope.query.landmarks import symptoms
    from necroscope.vocabulary.event_sentence import sentence

    found = symptoms(snapshot, select.window)[-_MARKS:]
    return tuple(
        Mark(
            (event.at_ns - grid.from_ns) / grid.column_ns,
            event.kind,
            f"{event.subject} {sentence(event)}".strip(),
            event.id,
        )
        for event in found
    )


def _caption(select: Select) -> Caption:
    from necroscope.show.caption import Caption

    return Caption("", select.window)


def _draw(grid: Grid, select: Select, output: Path, sub_second: bool, quiet: bool) -> None:
    top = None if sub_second else 1.0
    if output.suffix == ".png":
        from necroscope.show.png import heat_png

        data = heat_png(grid, _caption(select), top=top)
    else:
        from necroscope.show.heatmap.svg import heat_svg

        data = heat_svg(grid, _caption(select), top=top).encode()
    write(output, data, quiet)


def _print_json(grid: Grid) -> None:
    import json
    import math

    from necroscope import clock
    from necroscope.query.cores.hottest import hottest

    values = [[None if math.isnan(cell) else round(cell, 4) for cell in row] for row in grid.values.tolist()]
    document = {
        "schema": "necroscope.heatmap/1",
        "from": clock.iso(grid.from_ns),
        "column_s": grid.column_ns / clock.NS,
        "unit": grid.unit,
        "rows": [{"name": name, "values": row} for name, row in zip(grid.rows, values, strict=True)],
        "marks": [
            {"column": round(mark.column, 3), "kind": mark.kind, "text": mark.text, "event": str(mark.event_id)}
            for mark in grid.marks
        ],
        "hottest": [
            {"row": hot.row, "mean": round(hot.mean, 4), "most": round(hot.most, 4), "at": clock.iso(hot.at_ns)}
            for hot in hottest(grid, _HOTTEST)
        ],
    }
    click.echo(json.dumps(document))
