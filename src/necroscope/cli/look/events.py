"""`necroscope events`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from necroscope.cli.shared.abandonable_thread import apart
from necroscope.cli.shared.blindness import INCONCLUSIVE, refuse_blank, say_unrecorded
from necroscope.cli.shared.notes import heard, say
from necroscope.cli.shared.options import console, output_options
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import Instant, refuse_backwards

if TYPE_CHECKING:
    from necroscope.query.cores.patterns import Pattern
    from necroscope.store.read.reader import Store
    from necroscope.vocabulary.event import Window

_FOREVER_NS = (1 << 63) - 1
# Patterns are looked for second by second: at most so many core-seconds, the latest ones.
_MOST_CELLS = 10_000_000


@click.command()
@store_options
@click.option("--kind", "kinds", multiple=True, help="Only events of this kind; may be given several times.")
@click.option("--since", "since_ns", type=Instant(), help="Only events from this time on: -1h, 14:03:07, ISO 8601.")
@click.option("--until", "until_ns", type=Instant(), help="Only events up to this time.")
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
    with_patterns: bool,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """What happened: symptoms in the kernel log, restarts, cgroups that came and went, marks, gaps of the recorder.

    The oldest first. Times are UTC; "~" marks one that is known only roughly. Exit code 3: the end of the recording, or
    most of it, is missing.

    \b
    Examples:
      necroscope events --since -1h
      necroscope events --kind nic-reset --kind soft-lockup
      necroscope events --patterns --since -1h     and what nobody complained of
      necroscope events --json | jq '.events[-1]'
    """
    from necroscope.query.sql.engine import Engine
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    refuse_backwards(since_ns, until_ns, "--since and --until")
    window = (since_ns or 0, _FOREVER_NS if until_ns is None else until_ns)
    opened = Store(to_read(store))
    refuse_blank(opened)

    def asked() -> tuple[tuple[str, ...], list[dict[str, Any]]]:
        with Engine(opened, window) as engine:
            rows = engine.ask("select * from events order by at_ns, id").rows()
            return engine.notes, rows

    notes, rows = apart(asked)
    found = [_told(row) for row in rows if not kinds or row["kind"] in kinds]
    looked = _patterns(opened, window) if with_patterns else []
    seen = [one for one in looked if not kinds or one.kind in kinds]
    if as_json and not quiet:
        heard(notes)
        _print_json(found, notes, seen if with_patterns else None)
    elif not quiet:
        _print_lines(sorted([*found, *map(_row, seen)], key=lambda row: row["at_ns"]), notes, no_color)
    return INCONCLUSIVE if say_unrecorded(opened, quiet) else 0


def _patterns(store: Store, window: Window) -> list[Pattern]:
    """Patterns of the window's load; of a long one, of its latest part."""
    from necroscope.clock import NS
    from necroscope.query.cores.core_time import core_time
    from necroscope.query.cores.patterns import patterns
    from necroscope.query.extent import recorded
    from necroscope.query.sealed import again

    def read() -> list[Pattern]:
        snapshot = store.snapshot()
        whole = recorded(snapshot) or (0, 0)
        low, high = max(window[0], whole[0]), min(window[1], whole[1])
        cores = max(1, len(set(core_time(snapshot, [(high - 5 * NS, high)], []).cpu.tolist())))
        low = max(low, high - _MOST_CELLS // cores * NS)
        if low >= high:
            return []
        return patterns(core_time(snapshot, [(low, high)], []).within((low, high)))

    return again(read)


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what it leaves open; its text is the sentence that its fields make."""
    from necroscope.vocabulary.event import event_of
    from necroscope.vocabulary.event_sentence import sentence

    said = {name: value for name, value in row.items() if value is not None}
    return said | {"text": sentence(event_of({name: said[name] for name in said if name != "at"}))}


def _row(pattern: Pattern) -> dict[str, Any]:
    subject = "all cores" if pattern.cpu is None else f"cpu {pattern.cpu}"
    return {
        "at_ns": pattern.from_ns,
        "kind": pattern.kind,
        "subject": subject,
        "text": pattern.text,
        "uncertainty_ns": 0,
    }


def _print_json(found: list[dict[str, Any]], notes: tuple[str, ...], seen: list[Pattern] | None) -> None:
    import json

    from necroscope.clock import iso

    document: dict[str, Any] = {"schema": "necroscope.events/1", "events": found, "notes": list(notes)}
    if seen is not None:
        document["patterns"] = [
            {
                "kind": one.kind,
                "from": iso(one.from_ns),
                "to": iso(one.to_ns),
                "cpu": one.cpu,
                "text": one.text,
            }
            for one in seen
        ]
    click.echo(json.dumps(document, indent=2))


def _print_lines(found: list[dict[str, Any]], notes: tuple[str, ...], no_color: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from necroscope import clock
    from necroscope.show.plain import plain

    say(f"{note}; what came before it is shown" for note in notes)
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
