"""`necroscope top`."""

from __future__ import annotations

from pathlib import Path

import click

from necroscope.cli.shared.options import console, output_options
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import RULE
from necroscope.cli.shared.window_query import baseline_options, exit_code, look
from necroscope.cli.shared.windows import window_options
from necroscope.query.select import Wanted

_TASKS = ("process", "thread", "cgroup")
_DIMENSIONS = ("process", "thread", "function", "self", "cgroup", "module")


@click.command(epilog=RULE)
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
    Where there are no other times to compare with, the heading says so.

    Exit code 0: it was looked at, whatever was found. 3: most of the window was not recorded.

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
        import json

        from necroscope.show.top import top_document

        click.echo(json.dumps(top_document(looked, rows[:most], by), indent=2))
    elif not quiet:
        from necroscope.show.top import print_top

        print_top(looked, rows, most, by, console(no_color))
    return exit_code(looked)
