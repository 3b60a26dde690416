"""`necroscope events`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from necroscope.cli.options import console, output_options
from necroscope.cli.sources import store_options
from necroscope.cli.times import Instant, refuse_backwards

_FOREVER_NS = (1 << 63) - 1
_FIELDS = ("id", "at", "at_ns", "kind", "source", "subject", "text", "uncertainty_ns")


@click.command()
@store_options
@click.option("--kind", "kinds", multiple=True, help="Only events of this kind; may be given several times.")
@click.option("--since", "since_ns", type=Instant(), help="Only events from this time on: -1h, 14:03:07, ISO 8601.")
@click.option("--until", "until_ns", type=Instant(), help="Only events up to this time.")
@output_options
def events(
    store: Path | None,
    kinds: tuple[str, ...],
    since_ns: int | None,
    until_ns: int | None,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> None:
    """What happened: symptoms in the kernel log, restarts, cgroups that came and went, marks, gaps of the recorder.

    The oldest first. Times are UTC; "~" marks one that is known only roughly.

    \b
    Examples:
      necroscope events --since -1h
      necroscope events --kind nic-reset --kind soft-lockup
      necroscope events --json | jq '.events[-1]'
    """
    from necroscope.query.engine import Engine
    from necroscope.store.place import to_read
    from necroscope.store.reader import Store

    refuse_backwards(since_ns, until_ns, "--since and --until")
    window = (since_ns or 0, _FOREVER_NS if until_ns is None else until_ns)
    with Engine(Store(to_read(store)), window) as engine:
        notes = engine.notes
        rows = engine.ask(f"select {', '.join(_FIELDS)} from events order by at_ns, id").rows()
    found = [row for row in rows if not kinds or row["kind"] in kinds]
    if quiet:
        return
    if as_json:
        _print_json(found, notes)
    else:
        _print_lines(found, notes, no_color)


def _print_json(found: list[dict[str, Any]], notes: tuple[str, ...]) -> None:
    import json

    click.echo(json.dumps({"schema": "necroscope.events/1", "events": found, "notes": list(notes)}, indent=2))


def _print_lines(found: list[dict[str, Any]], notes: tuple[str, ...], no_color: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from necroscope import clock
    from necroscope.show.plain import plain

    for note in notes:
        click.echo(f"necroscope: {note}; what came before it is shown", err=True)
    if not found:
        click.echo("no events")
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in found:
        about = "~" if row["uncertainty_ns"] >= clock.NS else " "
        cells = (about + clock.iso(row["at_ns"]), row["kind"], row["subject"], row["text"])
        table.add_row(*(Text(plain(str(cell))) for cell in cells))
    out = console(no_color)
    with out.capture() as captured:
        out.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())
