"""`necroscope sql`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.bounded import enter_bounded
from necroscope.cli.shared.notes import say
from necroscope.cli.shared.options import Span, console, output_options
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import RULE, Instant, refuse_backwards

if TYPE_CHECKING:
    from necroscope.query.sql.answer import Answer

MAX_ROWS = 1000
_ROWS_AT_ONCE = 1000
_FOREVER_NS = (1 << 63) - 1
MOST_BYTES = 3 << 29
"""Memory of the whole process; the engine's own limit is `query.engine.MEMORY`."""


@click.command(epilog=RULE)
@click.argument("query")
@store_options
@click.option("--from", "from_ns", type=Instant(), help="Only rows from this time on: -10m, 14:03:07, ISO 8601.")
@click.option("--to", "to_ns", type=Instant(), help="Only rows up to this time.")
@click.option("--timeout", "seconds", type=Span(), default="2m", show_default=True, help="Stop the query after this.")
@output_options
def sql(
    query: str,
    store: Path | None,
    from_ns: int | None,
    to_ns: int | None,
    seconds: float,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> None:
    """Ask the recording in SQL (DuckDB's). Reads only; what is not sealed yet is there too.

    The views are samples, stacks, seconds, cores, signals, events, zombies and units; docs/store-format.md describes
    them. --from and --to make a question about a moment fast. --json prints a list of rows; 64-bit ids are text. A
    query that takes longer than --timeout, or more than 1.5 GiB of memory, is stopped, with exit code 3.

    \b
    Examples:
      necroscope sql "select comm, count(*) from samples group by comm order by 2 desc limit 10"
      necroscope sql --from -5m "select at, cpu, system from cores where system > 0.9"
      necroscope sql --json "select * from events order by at_ns desc limit 3"
      necroscope sql "describe samples"
    """
    refuse_backwards(from_ns, to_ns, "--from and --to")
    window = None if from_ns is None and to_ns is None else (from_ns or 0, _FOREVER_NS if to_ns is None else to_ns)
    enter_bounded(seconds, MOST_BYTES)

    from necroscope.query.sql.engine import Engine
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    with Engine(Store(to_read(store)), window) as engine:
        answer = engine.ask(query)
        say(f"{note}; what came before it is shown" for note in engine.notes)
        _print(answer, as_json, no_color, quiet)


def _print(answer: Answer, as_json: bool, no_color: bool, quiet: bool) -> None:
    if quiet:
        for _ in answer.batches:
            pass
    elif as_json:
        _print_json(answer)
    else:
        _print_table(answer, no_color)


def _print_json(answer: Answer) -> None:
    """A list of objects, a row a line; written as it is computed, whatever its size."""
    from itertools import islice
    from json import JSONEncoder

    # Text comes from Arrow, where it is valid Unicode.
    encoded, columns, values = JSONEncoder(check_circular=False).encode, answer.columns, answer.values()
    before = "["
    while rows := list(islice(values, _ROWS_AT_ONCE)):
        lines = ",\n ".join([encoded(dict(zip(columns, row, strict=True))) for row in rows])
        click.echo(before + lines, nl=False)
        before = ",\n "
    click.echo("[]" if before == "[" else "]")


def _print_table(answer: Answer, no_color: bool) -> None:
    from itertools import islice

    from rich.table import Table
    from rich.text import Text

    from necroscope.show.plain import plain

    rows = answer.values()
    shown = list(islice(rows, MAX_ROWS))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(answer.columns):
        numeric = any(isinstance(row[number], int | float) for row in shown)
        table.add_column(Text(plain(name)), justify="right" if numeric else "left", overflow="fold")
    for row in shown:
        table.add_row(*(Text(plain(_text(value))) for value in row))
    out = console(no_color)
    with out.capture() as captured:
        out.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())
    if next(rows, None) is not None:
        click.echo(f"… and more than these {MAX_ROWS:,} rows; --json prints all", err=True)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return " ; ".join(map(_text, value))
    return str(value)
