"""`necroscope flame`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.against import Against, is_file
from necroscope.cli.shared.options import console
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import RULE
from necroscope.cli.shared.window_query import exit_code, look, write
from necroscope.cli.shared.windows import window_options
from necroscope.query.select import Wanted

if TYPE_CHECKING:
    from necroscope.query.profile.flame import Flame
    from necroscope.query.profile.looked import Looked
    from necroscope.show.caption import Caption

_NOTHING = "There is nothing to compare the window with."
_SUFFIXES = (".svg", ".png", ".folded", ".txt")


@click.command(epilog=RULE)
@store_options
@window_options
@click.option(
    "--diff", is_flag=True, help="Against the same node outside symptoms: what grew, what is new, what is gone."
)
@click.option(
    "--against",
    metavar="FILE",
    type=Against(),
    default="usual",
    help="With --diff: against this FILE, bundle or store.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="FILE.svg, .png or .folded.")
@click.option("--rows", "max_rows", type=click.IntRange(1), default=40, show_default=True, help="Rows in the terminal.")
@click.option("--idle", is_flag=True, help="With the stacks of idle cores, which are left out otherwise.")
@click.option("--json", "as_json", is_flag=True, help="Print the layout as one JSON document (docs/json.md).")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but what was asked for.")
@click.option("--no-color", is_flag=True, help="Neither colours nor bold (NO_COLOR is honoured too).")
def flame(
    store: Path | None,
    wanted: Wanted,
    diff: bool,
    against: str,
    output: Path | None,
    max_rows: int,
    idle: bool,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """A flame graph of a window: in the terminal, or as a file by its ending.

    Widths are core time. With --diff they are the mean of the window and of the baseline, so that new and vanished
    stacks are both there; only changes that are hardly chance are coloured, and the largest are listed.

    Exit code 3: most of the window was not recorded.

    \b
    Examples:
      necroscope flame --event nic-reset --before 5s --after 0s
      necroscope flame --diff --cpu 33 --at 14:03:07 -o core33.svg
      necroscope flame --diff --against last-week.perf.data -o since.svg
      necroscope flame --from -1m --process node-agent -o agent.folded
    """
    from necroscope.errors import BadInput, Unavailable
    from necroscope.query.profile.flame import NARROWEST
    from necroscope.query.profile.flame import flame as layout
    from necroscope.query.profile.tree import tree

    suffixes = tuple(suffix for suffix in _SUFFIXES if not (diff and suffix == ".folded"))
    if output is not None and output.suffix not in suffixes:
        what = "a difference can be written to" if diff else "can be drawn"
        raise BadInput(f"{output} has no ending that {what}.", f"write FILE{', FILE'.join(suffixes)}")
    diff = diff or is_file(against)
    looked = look(store, wanted, against if diff else "none", no_color, quiet or as_json, idle, detail="stacks")
    made = looked.profile
    if diff and not looked.compared:
        if not made.timed:
            raise BadInput(_NOTHING, "folded stacks tell no time; leave out --diff")
        raise Unavailable(_NOTHING, looked.uncompared)
    if output is not None and output.suffix == ".folded":
        from necroscope.show.export.folded import lines

        write(output, "".join(f"{line}\n" for line in lines(made.counts)).encode("utf-8", "backslashreplace"), quiet)
        return exit_code(looked)
    branches = tree(made.counts, narrowest=NARROWEST, by_task=made.timed)
    graph = layout(branches, made.seconds, made.core_seconds, made.per_weight)
    if as_json:
        import json

        from necroscope.query.profile.changes import changes
        from necroscope.show.flame.document import flame_document

        click.echo(json.dumps(flame_document(looked, graph, changes(graph)), indent=2))
    elif output is not None:
        _draw(looked, graph, output, quiet)
    elif not quiet:
        _show(looked, graph, max_rows, no_color)
    return exit_code(looked)


def _caption(looked: Looked) -> Caption:
    from necroscope.show.caption import Caption
    from necroscope.show.window import baseline

    made = looked.profile
    if not made.timed:
        return Caption("Folded stacks tell no time: 1.00 stands for all that they count")
    return Caption("", made.select.window, made.cores, baseline(looked) if looked.compared else "")


def _show(looked: Looked, graph: Flame, max_rows: int, no_color: bool) -> None:
    from necroscope.show.flame.text import flame_text
    from necroscope.show.shade import depth_of

    out = console(no_color)
    depth = "none" if out.no_color else depth_of(out.color_system)
    out.print(flame_text(graph, out.width, depth, _caption(looked), max_rows))


def _draw(looked: Looked, graph: Flame, output: Path, quiet: bool) -> None:
    if output.suffix == ".png":
        from necroscope.show.png import flame_png

        data = flame_png(graph, _caption(looked))
    elif output.suffix == ".svg":
        from necroscope.show.flame.svg import flame_svg

        data = flame_svg(graph, _caption(looked)).encode()
    else:
        from necroscope.show.flame.text import flame_text

        data = f"{flame_text(graph, 200, 'none', _caption(looked), 1000).plain}\n".encode()
    write(output, data, quiet)
