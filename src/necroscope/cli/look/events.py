"""`necroscope events`."""

from __future__ import annotations

from pathlib import Path

import click

from necroscope.cli.shared.abandonable_thread import abandonable
from necroscope.cli.shared.blindness import INCONCLUSIVE, refuse_blank, say_unrecorded
from necroscope.cli.shared.completion import complete_kinds
from necroscope.cli.shared.notes import heard, say
from necroscope.cli.shared.options import console, output_options
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import RULE, Instant, refuse_backwards

_FOREVER_NS = (1 << 63) - 1
_FOUND = 1


@click.command(epilog=RULE)
@store_options
@click.option(
    "--kind",
    "kinds",
    metavar="KIND",
    multiple=True,
    shell_complete=complete_kinds,
    help="Only events of this kind; may be given several times.",
)
@click.option("--since", "since_ns", type=Instant(), help="Only events from this time on: -1h, 14:03:07, ISO 8601.")
@click.option("--until", "until_ns", type=Instant(), help="Only events up to this time.")
@click.option("--all", "every", is_flag=True, help="Also cgroups that were made, removed and released: thousands.")
@click.option(
    "--patterns",
    "with_patterns",
    is_flag=True,
    help="Also load that nobody complained of: periodic bursts, pauses of all cores, one core at work or saturated.",
)
@output_options
def events(
    store: Path | None,
    kinds: tuple[str, ...],
    since_ns: int | None,
    until_ns: int | None,
    every: bool,
    with_patterns: bool,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """What happened: symptoms in logs, marks, restarts of units and containers, gaps of the recorder.

    The oldest first. "▲" marks symptoms, "~" a time that is known only roughly. Each event has a short id, which `why`,
    `top`, `flame`, `heatmap`, `export` and `bundle` take as --event ID. What cgroups did is counted, and listed with
    --all or --kind.

    Exit code 1: a symptom is among them. 3: that cannot be told, as the end of the recording, or most of it, is
    missing, or nothing of that time was recorded.

    \b
    Examples:
      necroscope events --since -1h
      necroscope events --kind nic-reset --kind soft-lockup
      necroscope events --patterns --since -1h     and what nobody complained of
      necroscope events --bundle node7.ncb --all | grep node-agent
      necroscope events --json | jq '.events[-1]'
    """
    from necroscope.query.events.event_list import event_list
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    refuse_backwards(since_ns, until_ns, "--since and --until")
    window = (since_ns or 0, _FOREVER_NS if until_ns is None else until_ns)
    opened = Store(to_read(store))
    refuse_blank(opened)
    found = abandonable(lambda: event_list(opened, window, kinds, every, with_patterns))
    if as_json and not quiet:
        import json

        from necroscope.show.events import events_document

        heard(found.notes)
        click.echo(json.dumps(events_document(found), indent=2))
    elif not quiet:
        from necroscope.show.events import event_lines, left_out

        say(f"{note}; what came before it is shown" for note in found.notes)
        out = console(no_color)
        lines = list(event_lines(found, out.width if out.is_terminal else None))
        click.echo("\n".join(lines) or "no events")
        say(filter(None, [left_out(found)]))
    blind = say_unrecorded(opened, quiet)
    return _FOUND if found.symptoms else INCONCLUSIVE if blind else 0
