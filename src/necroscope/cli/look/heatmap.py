"""`necroscope heatmap`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.blindness import refuse_blank
from necroscope.cli.shared.notes import say
from necroscope.cli.shared.options import console
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import RULE
from necroscope.cli.shared.window_query import write
from necroscope.cli.shared.windows import window_options
from necroscope.query.select import Wanted

if TYPE_CHECKING:
    from necroscope.query.cores.grid import Grid
    from necroscope.query.select import Select
    from necroscope.show.caption import Caption

_LOOKS = ("busy", "system", "user", "irq", "steal", "idle")
_SUFFIXES = (".svg", ".png")
_COLUMNS = 600
_HOTTEST = 5


@click.command(epilog=RULE)
@store_options
@click.option("--of", "what", type=click.Choice(_LOOKS), default="busy", show_default=True, help="What is shown.")
@click.option("--sub-second", is_flag=True, help="From the samples; rows: offset within a second; columns: seconds.")
@window_options
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="FILE.svg or FILE.png.")
@click.option("--rows", type=click.IntRange(4, 200), default=32, show_default=True, help="Lines in the terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the grid as one JSON document (docs/json.md).")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but what was asked for.")
@click.option("--no-color", is_flag=True, help="Neither colours nor bold (NO_COLOR is honoured too).")
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
    from necroscope.query.cores import heatmap as query
    from necroscope.query.window_choice import chosen
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    if output is not None and output.suffix not in _SUFFIXES:
        raise BadInput(f"{output} has no ending that can be drawn.", f"write FILE{' or FILE'.join(_SUFFIXES)}")
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
    grid = query.heatmap(opened, select, what, sub_second, columns, notes)
    say(notes)
    if not grid.values.size:
        raise query.no_heat(opened, select, words, sub_second, notes)
    if as_json:
        import json

        from necroscope.query.cores.hottest import hottest
        from necroscope.show.heatmap.document import heatmap_document

        click.echo(json.dumps(heatmap_document(grid, hottest(grid, _HOTTEST))))
    elif output is not None:
        _draw(grid, select, output, sub_second, quiet)
    elif not quiet:
        from necroscope.show.heatmap.text import heat_text
        from necroscope.show.shade import depth_of

        depth = "none" if out.no_color else depth_of(out.color_system)
        top = None if sub_second else 1.0
        out.print(heat_text(grid, out.width, depth, _caption(select), max_lines=rows, top=top))


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
